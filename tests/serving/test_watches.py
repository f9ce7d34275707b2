"""Watches: through the hub, and through any WSGI server."""

from __future__ import annotations

import contextlib
import json
import resource
import socket
import ssl
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.serving.conftest import Start
from tests.serving.running import OURS, Client, Running

State = Callable[[Running], dict[str, Any]]
WORKERS = {"gthread": "gthread", "ours": OURS}
QUICK = "tests.serving.workers.Quick"


@pytest.fixture(scope="module", params=WORKERS)
def any_server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server of each worker class: what is tested with it holds for both."""
    with Running(tmp_path_factory.mktemp("any"), WORKERS[request.param]) as server:
        yield server


@pytest.fixture(autouse=True, scope="module")
def _many_files() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[1], before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def append(server: Running, text: bytes, times: int = 1) -> None:
    with server.connect() as client:
        client.send(
            b"POST /append?times=%d HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%b" % (times, len(text), text)
        )
        assert client.answer().body == b"appended"


def begin(client: Client, query: str) -> None:
    client.send(f"GET /watch?{query} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    answer = client.head()
    assert (answer.status, answer.headers["transfer-encoding"]) == (200, "chunked")


def events(client: Client, count: int) -> list[bytes]:
    """So many lines of a chunked stream."""
    lines: list[bytes] = []
    while len(lines) < count:
        lines += client.chunk().splitlines()
    return lines


def test_a_watch_sends_its_head_at_once_and_events_as_they_come(any_server: Running) -> None:
    with any_server.connect() as client:
        begin(client, "start=0&seconds=30")
        append(any_server, b"first")
        assert events(client, 1)[0].endswith(b" first")
        append(any_server, b"second")
        assert events(client, 1)[0].endswith(b" second")


def test_a_watch_that_ends_frees_the_connection(any_server: Running) -> None:
    with any_server.connect() as client:
        begin(client, "start=1000000&seconds=0.3&tick=0.1")
        lines = b""
        while chunk := client.chunk():
            lines += chunk
        assert lines.startswith(b"tick\n")
        assert client.get("/echo").status == 200


def test_http_1_0_gets_bare_frames_and_the_end_of_the_connection(any_server: Running) -> None:
    with any_server.connect() as client:
        client.send(b"GET /watch?start=1000000&seconds=0.3&tick=0.1 HTTP/1.0\r\n\r\n")
        answer = client.answer()
        assert answer.closed
        assert answer.body.startswith(b"tick\ntick\n")


def test_a_stream_is_closed_once_when_it_ends_and_when_the_client_goes(start: Start, state: State) -> None:
    server = start()
    with server.connect() as client:
        begin(client, "seconds=0.2")
        assert client.chunk() == b""
    with server.connect() as client:
        begin(client, "seconds=1000")
    server.wait_for(lambda: state(server)["closes"] == [[0, 1], [1, 1]])
    with server.connect() as client:
        begin(client, "seconds=1000")
        client.sock.shutdown(socket.SHUT_WR)
        assert client.closed()
    server.wait_for(lambda: state(server)["closes"] == [[0, 1], [1, 1], [2, 1]])


def test_head_of_a_watch_ends_at_once(start: Start, state: State) -> None:
    server = start()
    with server.connect() as client:
        client.send(b"HEAD /watch HTTP/1.1\r\nHost: x\r\n\r\n")
        assert client.answer("HEAD").status == 200
        assert client.get("/echo").status == 200
    assert state(server)["closes"] == [[0, 1]]


def test_a_request_sent_ahead_is_served_when_the_watch_ends(start: Start) -> None:
    server = start()
    with server.connect() as client:
        begin(client, "seconds=0.5")
        client.send(b"GET /echo/ahead HTTP/1.1\r\nHost: x\r\n\r\n")
        assert client.chunk() == b""
        assert json.loads(client.answer().body)["PATH_INFO"] == "/echo/ahead"


def test_two_thousand_watches_get_every_event_in_order_on_few_threads(start: Start, state: State) -> None:
    server = start(worker_connections=4000, threads=16)
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(server.connect()) for _ in range(2000)]
        for client in clients:
            client.send(b"GET /watch HTTP/1.1\r\nHost: x\r\n\r\n")
        for client in clients:
            assert client.head().status == 200
        server.wait_for(lambda: state(server)["streams"] == 2000)
        for number in range(100):
            append(server, b"update %d" % number)
        assert state(server)["threads"] < 30
        expected = [b"%d update %d" % (number, number) for number in range(100)]
        for client in clients:
            assert events(client, 100) == expected
        assert state(server)["threads"] < 30
    server.wait_for(lambda: state(server)["streams"] == 0)


def test_events_that_wait_together_come_in_one_chunk(start: Start) -> None:
    server = start()
    append(server, b"x" * 100, times=50)
    with server.connect() as client:
        begin(client, "start=0")
        assert len(client.chunk().splitlines()) == 50


def test_ten_thousand_events_to_one_watch_do_not_hold_up_another(start: Start) -> None:
    server = start()
    append(server, b"x" * 2000, times=10_000)
    with server.connect() as slow, server.connect() as quick:
        slow.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 17)
        begin(slow, "start=0")
        begin(quick, "start=10000")
        append(server, b"now")
        assert events(quick, 1) == [b"10000 now"]
        lines = events(slow, 10_001)
        assert lines[-1] == b"10000 now"
        assert [int(line.split()[0]) for line in lines] == list(range(10_001))


def test_a_reader_that_is_too_slow_is_cut_off(start: Start, state: State) -> None:
    server = start(QUICK)
    with server.connect() as slow, server.connect() as other:
        begin(slow, "start=0")
        begin(other, "start=0")
        other.sock.settimeout(20)
        for _ in range(120):
            append(server, b"x" * 100_000)
            events(other, 1)
        server.wait_for(lambda: state(server)["streams"] == 1)
        with contextlib.suppress(ConnectionError):
            assert len(slow.rest()) < 12_000_000


def test_a_reader_that_takes_nothing_is_cut_off_in_time(start: Start, state: State) -> None:
    server = start(QUICK)
    append(server, b"x" * 100_000, times=120)
    with server.connect() as stuck:
        stuck.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        begin(stuck, "start=0")
        server.wait_for(lambda: state(server)["closes"] == [[0, 1]])


def test_watches_work_over_tls(start: Start, tls: dict[str, Any], client_context: ssl.SSLContext) -> None:
    server = start(**tls)
    with server.connect_tls(client_context) as client, server.connect_tls(client_context) as writer:
        begin(client, "start=0&seconds=3")
        for number in range(20):
            writer.send(
                b"POST /append?times=50 HTTP/1.1\r\nHost: x\r\nContent-Length: 10000\r\n\r\n" + b"%d" % number * 1
            )
            writer.send(b"y" * (10000 - len(b"%d" % number)))
            assert writer.answer().status == 200
        lines = events(client, 1000)
        assert [int(line.split()[0]) for line in lines] == list(range(1000))
        assert client.chunk() == b""
        assert client.get("/echo").status == 200


def test_a_watch_whose_client_vanished_is_noticed_while_another_goes_on(start: Start, state: State) -> None:
    server = start()
    with server.connect() as stays:
        begin(stays, "start=0")
        for _ in range(5):
            with server.connect() as leaves:
                begin(leaves, "start=0")
                leaves.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # a reset, no FIN
        server.wait_for(lambda: state(server)["streams"] == 1)
        append(server, b"still here")
        assert events(stays, 1) == [b"0 still here"]
