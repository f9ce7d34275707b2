"""Hostile and odd requests, sent over a socket to gunicorn's own threaded worker and to ours: the same answers."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import pytest

from tests.serving.running import OURS, Client, Running

HOST = b"Host: localhost\r\n"
POST = b"POST /echo HTTP/1.1\r\n" + HOST
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n"
MORE = b"GET /echo/more HTTP/1.1\r\n" + HOST + b"\r\n"
NEXT = b"GET /echo/next HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n"
QUIET = 0.5
"""Seconds of silence after which a server is taken to wait for more."""


class Case(NamedTuple):
    """What is sent; ``half_closed``: the client then closes its sending side."""

    data: bytes
    half_closed: bool = False


CASES = {
    # framing: one request must not be read as two, or two as one
    "length and chunked": Case(POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + NEXT),
    "chunked and length": Case(CHUNKED + b"Content-Length: 5\r\n\r\n0\r\n\r\n" + NEXT),
    "two lengths": Case(POST + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!" + NEXT),
    "the same length twice": Case(POST + b"Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello" + NEXT),
    "a list of lengths": Case(POST + b"Content-Length: 5, 5\r\n\r\nhello" + NEXT),
    "negative length": Case(POST + b"Content-Length: -1\r\n\r\nhello"),
    "signed length": Case(POST + b"Content-Length: +5\r\n\r\nhello"),
    "length in hex": Case(POST + b"Content-Length: 0x5\r\n\r\nhello"),
    "length with underscore": Case(POST + b"Content-Length: 1_0\r\n\r\nhellohello"),
    "length that is no number": Case(POST + b"Content-Length: five\r\n\r\nhello"),
    "empty length": Case(POST + b"Content-Length: \r\n\r\n" + NEXT),
    "length with a NUL": Case(POST + b"Content-Length: 5\x00\r\n\r\nhello"),
    "huge length": Case(POST + b"Content-Length: 99999999999999999999\r\n\r\nhello"),
    "length field with underscore": Case(POST + b"Content_Length: 5\r\n\r\n" + NEXT),
    "unknown coding": Case(POST + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"),
    "coding with a tab": Case(POST + b"Transfer-Encoding:\tchunked\r\n\r\n0\r\n\r\n" + NEXT),
    "coding with a vertical tab": Case(POST + b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n" + NEXT),
    "coding with a space in the name": Case(POST + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n" + NEXT),
    "chunked twice": Case(POST + b"Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n" + NEXT),
    "two coding fields": Case(CHUNKED + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + NEXT),
    "identity": Case(POST + b"Transfer-Encoding: identity\r\nContent-Length: 5\r\n\r\nhello"),
    "gzip, then chunked": Case(POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n" + NEXT),
    "chunked, then gzip": Case(POST + b"Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n"),
    "chunked in HTTP/1.0": Case(b"POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    # chunks
    "chunks": Case(CHUNKED + b"\r\n5\r\nhello\r\n6;name=value\r\n world\r\n0\r\n\r\n" + NEXT),
    "chunk size with leading zeros": Case(CHUNKED + b"\r\n005\r\nhello\r\n000\r\n\r\n" + NEXT),
    "chunk trailers": Case(CHUNKED + b"\r\n5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n" + NEXT),
    "forbidden trailer": Case(CHUNKED + b"\r\n5\r\nhello\r\n0\r\nContent-Length: 5\r\n\r\n" + NEXT),
    "chunk size that is none": Case(CHUNKED + b"\r\nxyz\r\nhello\r\n0\r\n\r\n" + NEXT),
    "negative chunk size": Case(CHUNKED + b"\r\n-5\r\nhello\r\n0\r\n\r\n" + NEXT),
    "chunk size with prefix": Case(CHUNKED + b"\r\n0x5\r\nhello\r\n0\r\n\r\n" + NEXT),
    "chunk size with underscore": Case(CHUNKED + b"\r\n1_0\r\nhello\r\n0\r\n\r\n" + NEXT),
    "chunk size with a space in front": Case(CHUNKED + b"\r\n 5\r\nhello\r\n0\r\n\r\n" + NEXT),
    "empty chunk size": Case(CHUNKED + b"\r\n\r\nhello\r\n0\r\n\r\n" + NEXT),
    "chunk that is longer than it says": Case(CHUNKED + b"\r\n4\r\nhello\r\n0\r\n\r\n" + NEXT),
    "chunk without its line end": Case(CHUNKED + b"\r\n5\r\nhello0\r\n\r\n" + NEXT),
    "chunk extension with bare CR": Case(CHUNKED + b"\r\n5;a=\rb\r\nhello\r\n0\r\n\r\n" + NEXT),
    "trailer with bare LF": Case(CHUNKED + b"\r\n5\r\nhello\r\n0\r\nX: y\n\r\n"),
    "endless chunk size line": Case(CHUNKED + b"\r\n" + b"5" * 10000),
    # request line
    "no version": Case(b"GET /echo\r\n\r\n"),
    "version 0.9": Case(b"GET /echo HTTP/0.9\r\n\r\n"),
    "version 2.0": Case(b"GET /echo HTTP/2.0\r\nHost: x\r\n\r\n"),
    "version 1.2": Case(b"GET /echo HTTP/1.2\r\nHost: x\r\n\r\n"),
    "version in lower case": Case(b"GET /echo http/1.1\r\nHost: x\r\n\r\n"),
    "HTTP/2 preface": Case(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    "method in lower case": Case(b"get /echo HTTP/1.1\r\n" + HOST + b"\r\n"),
    "method with odd characters": Case(b"GE(T /echo HTTP/1.1\r\n" + HOST + b"\r\n"),
    "short method": Case(b"GO /echo HTTP/1.1\r\n" + HOST + b"\r\n"),
    "unknown method": Case(b"BREW /echo HTTP/1.1\r\n" + HOST + b"\r\n" + NEXT),
    "CONNECT": Case(b"CONNECT localhost:443 HTTP/1.1\r\n" + HOST + b"\r\n" + NEXT),
    "no target": Case(b"GET  HTTP/1.1\r\n" + HOST + b"\r\n"),
    "target without a slash": Case(b"GET echo HTTP/1.1\r\n" + HOST + b"\r\n"),
    "asterisk": Case(b"OPTIONS * HTTP/1.1\r\n" + HOST + b"\r\n" + NEXT),
    "asterisk for GET": Case(b"GET * HTTP/1.1\r\n" + HOST + b"\r\n"),
    "absolute target": Case(b"GET http://elsewhere/echo/a?b=c HTTP/1.1\r\n" + HOST + b"\r\n" + NEXT),
    "absolute target without a path": Case(b"GET http://elsewhere HTTP/1.1\r\n" + HOST + b"\r\n" + NEXT),
    "two slashes": Case(b"GET //echo/x?y HTTP/1.1\r\n" + HOST + b"\r\n"),
    "fragment": Case(b"GET /echo/x?y#z HTTP/1.1\r\n" + HOST + b"\r\n" + NEXT),
    "colon in the path": Case(b"GET /echo/a:b HTTP/1.1\r\n" + HOST + b"\r\n" + NEXT),
    "percent encoding": Case(b"GET /echo/a%2Fb%20c%C3%A4?q=%20 HTTP/1.1\r\n" + HOST + b"\r\n" + NEXT),
    "encoded NUL": Case(b"GET /echo/a%00b HTTP/1.1\r\n" + HOST + b"\r\n" + NEXT),
    "dots": Case(b"GET /echo/../x HTTP/1.1\r\n" + HOST + b"\r\n" + NEXT),
    "control character in the target": Case(b"GET /echo/\x01 HTTP/1.1\r\n" + HOST + b"\r\n"),
    "NUL in the target": Case(b"GET /echo/\x00 HTTP/1.1\r\n" + HOST + b"\r\n"),
    "umlaut in the target": Case(b"GET /echo/\xe4 HTTP/1.1\r\n" + HOST + b"\r\n"),
    "tab between the words": Case(b"GET\t/echo\tHTTP/1.1\r\n" + HOST + b"\r\n"),
    "two blanks between the words": Case(b"GET  /echo HTTP/1.1\r\n" + HOST + b"\r\n"),
    "bare LF after the request line": Case(b"GET /echo HTTP/1.1\n" + HOST + b"\r\n"),
    "bare CR after the request line": Case(b"GET /echo HTTP/1.1\r" + HOST + b"\r\n"),
    "long request line": Case(b"GET /echo/" + b"a" * 5000 + b" HTTP/1.1\r\n" + HOST + b"\r\n"),
    "empty line first": Case(b"\r\n" + NEXT),
    "two empty lines first": Case(b"\r\n\r\n" + NEXT),
    "garbage": Case(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"),
    # header fields
    "folded field": Case(b"GET /echo HTTP/1.1\r\n" + HOST + b"X-Long: a\r\n b\r\n\r\n"),
    "fold before the first field": Case(b"GET /echo HTTP/1.1\r\n Host: x\r\n\r\n"),
    "blank before the colon": Case(b"GET /echo HTTP/1.1\r\n" + HOST + b"X-Blank : a\r\n\r\n"),
    "field without a colon": Case(b"GET /echo HTTP/1.1\r\n" + HOST + b"nonsense\r\n\r\n"),
    "field without a name": Case(b"GET /echo HTTP/1.1\r\n" + HOST + b": a\r\n\r\n"),
    "field name with a NUL": Case(b"GET /echo HTTP/1.1\r\n" + HOST + b"X\x00Y: a\r\n\r\n"),
    "field value with a NUL": Case(b"GET /echo HTTP/1.1\r\n" + HOST + b"X: a\x00b\r\n\r\n"),
    "field value with a bare CR": Case(b"GET /echo HTTP/1.1\r\n" + HOST + b"X: a\rb\r\n\r\n"),
    "field value with a bare LF": Case(b"GET /echo HTTP/1.1\r\n" + HOST + b"X: a\nY: b\r\n\r\n"),
    "field value with an umlaut": Case(b"GET /echo HTTP/1.1\r\n" + HOST + b"X: \xe4\r\n\r\n"),
    "repeated field": Case(b"GET /echo HTTP/1.1\r\n" + HOST + b"X: a\r\nX: b\r\nx: c\r\n\r\n"),
    "underscore in the name": Case(b"GET /echo HTTP/1.1\r\n" + HOST + b"X-A: 1\r\nX_A: 2\r\n\r\n"),
    "REMOTE_USER": Case(b"GET /echo HTTP/1.1\r\n" + HOST + b"Remote_User: admin\r\nSCRIPT_NAME: /echo\r\n\r\n"),
    "forwarded scheme": Case(b"GET /echo HTTP/1.1\r\n" + HOST + b"X-Forwarded-Proto: https\r\n\r\n"),
    "contradicting schemes": Case(
        b"GET /echo HTTP/1.1\r\n" + HOST + b"X-Forwarded-Proto: https\r\nX-Forwarded-Ssl: off\r\n\r\n"
    ),
    "two hosts": Case(b"GET /echo HTTP/1.1\r\n" + HOST + b"Host: elsewhere\r\n\r\n"),
    "no host": Case(b"GET /echo HTTP/1.1\r\n\r\n"),
    "two content types": Case(POST + b"Content-Type: a/b\r\nContent-Type: c/d\r\nContent-Length: 0\r\n\r\n"),
    "long field": Case(b"GET /echo HTTP/1.1\r\n" + HOST + b"X: " + b"a" * 9000 + b"\r\n\r\n"),
    "many fields": Case(b"GET /echo HTTP/1.1\r\n" + HOST + b"X: a\r\n" * 101 + b"\r\n"),
    "as many fields as allowed": Case(b"GET /echo HTTP/1.1\r\n" + HOST + b"X: a\r\n" * 99 + b"\r\n"),
    # expectations and connection fields
    "Expect": Case(POST + b"Expect: 100-continue\r\nContent-Length: 5\r\n\r\nhello"),
    "Expect in HTTP/1.0": Case(b"POST /echo HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello"),
    "other expectation": Case(POST + b"Expect: miracles\r\nContent-Length: 5\r\n\r\nhello"),
    "Connection: close": Case(b"GET /echo HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n" + NEXT),
    "HTTP/1.0": Case(b"GET /echo HTTP/1.0\r\n\r\n" + NEXT),
    "HTTP/1.0 keep-alive": Case(b"GET /echo HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + NEXT),
    "upgrade": Case(b"GET /echo HTTP/1.1\r\n" + HOST + b"Connection: upgrade\r\nUpgrade: websocket\r\n\r\n" + NEXT),
    # several requests at once, halves of connections
    "pipelined": Case(
        MORE + POST + b"Content-Length: 5\r\n\r\nhello" + MORE + CHUNKED + b"\r\n1\r\nx\r\n0\r\n\r\n" + NEXT
    ),
    "pipelined behind an unread body": Case(
        b"POST /ignores-body HTTP/1.1\r\n" + HOST + b"Content-Length: 5\r\n\r\nhello" + NEXT
    ),
    "pipelined behind unread chunks": Case(
        b"POST /ignores-body HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n" + NEXT
    ),
    "half-closed after a request": Case(MORE, half_closed=True),
    "half-closed after two": Case(MORE + MORE, half_closed=True),
    "half-closed in the head": Case(b"GET /echo HTTP/1.1\r\nHost: loc", half_closed=True),
    "half-closed at once": Case(b"", half_closed=True),
    "half-closed in a chunk": Case(CHUNKED + b"\r\n5\r\nhel", half_closed=True),
    "HEAD": Case(b"HEAD /echo HTTP/1.1\r\n" + HOST + b"\r\n" + b"HEAD /echo HTTP/1.1\r\n" + HOST + b"\r\n"),
    "body of a GET": Case(b"GET /echo HTTP/1.1\r\n" + HOST + b"Content-Length: 5\r\n\r\nhello" + NEXT),
}


@pytest.fixture(scope="module", params=["fast", "python"])
def servers(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Running]]:
    """gthread and ours, with the C parser and with the one in Python."""
    folder = tmp_path_factory.mktemp("hostile")
    settings = {"http_parser": request.param, "log_level": "critical"}
    with Running(folder, "gthread", **settings) as theirs, Running(folder, OURS, **settings) as ours:
        for server in (theirs, ours):
            assert server.get("/echo").status == 200
        yield [theirs, ours]


def spoken(client: Client, case: Case, method: str = "GET") -> tuple[list[tuple[int, bytes]], bool]:
    """The answers to a case, and whether the connection was closed after them."""
    try:
        client.send(case.data)
    except ConnectionError:
        pass  # refused before all of it was sent
    if case.half_closed:
        client.sock.shutdown(1)
    answers = []
    client.sock.settimeout(QUIET)
    try:
        while True:
            answer = client.answer(method)
            answers.append((answer.status, answer.body))
    except EOFError:
        return answers, True
    except TimeoutError:
        return answers, False


def asked(server: Running, case: Case) -> tuple[list[tuple[int, bytes]], bool]:
    with server.connect() as client:
        return spoken(client, case, method_of(case))


def method_of(case: Case) -> str:
    return "HEAD" if case.data.startswith(b"HEAD") else "GET"


@pytest.mark.parametrize("name", CASES)
def test_it_is_answered_as_gunicorn_answers_it(servers: list[Running], name: str) -> None:
    with ThreadPoolExecutor(2) as pool:
        theirs, ours = pool.map(lambda server: asked(server, CASES[name]), servers)
    assert ours == theirs


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if 1 < len(case.data) < 600])
def test_it_is_answered_the_same_when_it_comes_in_single_bytes(servers: list[Running], name: str) -> None:
    case = CASES[name]

    def slowly() -> tuple[list[tuple[int, bytes]], bool]:
        with servers[1].connect() as client:
            client.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            try:
                for byte in case.data[:-1]:
                    client.send(bytes([byte]))
            except ConnectionError:
                pass  # refused before all of it was sent
            return spoken(client, case._replace(data=case.data[-1:]), method_of(case))

    with ThreadPoolExecutor(2) as pool:
        whole, single = pool.submit(asked, servers[1], case), pool.submit(slowly)
    assert [status for status, _ in single.result()[0]] == [status for status, _ in whole.result()[0]]
    assert single.result()[1] == whole.result()[1]


@pytest.mark.parametrize(
    "data",
    [
        b"GET /echo/" + b"a" * 2_000_000,
        b"GET /echo HTTP/1.1\r\n" + HOST + b"X: " + b"a" * 2_000_000,
        b"GET /echo HTTP/1.1\r\n" + HOST + b"X: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n" * 50_000,
    ],
    ids=["request line", "field", "head"],
)
def test_what_never_ends_is_refused_early(servers: list[Running], data: bytes) -> None:
    with servers[1].connect() as client:
        with contextlib.suppress(ConnectionError):
            client.send(data)
        assert client.rest()[9:12] in (b"400", b"414", b"431", b"")


def test_a_body_that_is_cut_short_never_reaches_the_application(servers: list[Running]) -> None:
    with servers[1].connect() as client:
        client.send(POST + b"Content-Length: 10\r\n\r\nhello")
        client.sock.shutdown(1)
        assert client.closed()
