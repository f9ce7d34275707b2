"""Answers to ordinary requests, under gunicorn's threaded worker and under ours."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.serving.running import OURS, Running

WORKERS = {"gthread": "gthread", "ours": OURS}


@pytest.fixture(scope="module", params=WORKERS)
def any_server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server of each worker class: what is tested with it holds for both."""
    with Running(tmp_path_factory.mktemp("any"), WORKERS[request.param], log_level="critical") as server:
        yield server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server of ours."""
    with Running(tmp_path_factory.mktemp("ours"), OURS) as server:
        yield server


def test_a_connection_serves_one_request_after_the_other(any_server: Running) -> None:
    with any_server.connect() as client:
        for number in range(20):
            answer = client.get(f"/echo/{number}?q={number}", "Accept: text/plain")
            shown = json.loads(answer.body)
            assert (shown["PATH_INFO"], shown["QUERY_STRING"]) == (f"/echo/{number}", f"q={number}")
            assert shown["HTTP_ACCEPT"] == "text/plain"
            assert (shown["REMOTE_ADDR"], shown["wsgi.url_scheme"]) == ("127.0.0.1", "http")


def test_a_large_body_arrives_whole(any_server: Running) -> None:
    body = bytes(range(256)) * 16384
    with any_server.connect() as client:
        client.send(b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))
        of_length = json.loads(client.answer().body)
        chunks = b"".join(b"%x\r\n%b\r\n" % (len(body) // 8, body[n::8]) for n in range(8))
        client.send(b"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n")
        of_chunks = json.loads(client.answer().body)
    assert len(of_length["body"]) == len(of_chunks["body"]) == 64
    assert of_length["CONTENT_LENGTH"] == str(len(body))


def test_a_body_above_the_prefetch_limit_is_read_by_the_application(any_server: Running) -> None:
    body = b"0123456789abcdef" * (6 << 16)
    with any_server.connect() as client:
        client.send(b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))
        assert client.answer().status == 200
        assert client.get("/echo").status == 200


def test_an_unread_large_body_ends_the_connection_after_the_answer(server: Running) -> None:
    with server.connect() as client:
        client.send(b"POST /ignores-body HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000\r\n\r\n" + b"x" * 5_000_000)
        assert client.answer().body == b"ignored"
        assert client.closed()


def test_pieces_become_chunks_and_the_body_is_closed_once(any_server: Running) -> None:
    with any_server.connect() as client:
        before = json.loads(client.get("/state").body)["bodies closed"]
        answer = client.get("/pieces")
        assert (answer.body, answer.headers["transfer-encoding"]) == (b"one two three", "chunked")
        assert json.loads(client.get("/state").body)["bodies closed"] == before + 1


def test_http_1_0_ends_a_body_without_length_with_the_connection(any_server: Running) -> None:
    with any_server.connect() as client:
        client.send(b"GET /pieces HTTP/1.0\r\n\r\n")
        answer = client.answer()
        assert (answer.body, answer.closed) == (b"one two three", True)
        assert "transfer-encoding" not in answer.headers


def test_http_1_0_keeps_alive_on_request(any_server: Running) -> None:
    with any_server.connect() as client:
        for _ in range(2):
            client.send(b"GET /echo HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            assert client.answer().headers["connection"] == "keep-alive"


@pytest.mark.parametrize(("path", "status"), [("/nobody", 204), ("/unchanged", 304)])
def test_some_statuses_have_no_body(any_server: Running, path: str, status: int) -> None:
    with any_server.connect() as client:
        answer = client.get(path)
        assert (answer.status, "content-length" in answer.headers) == (status, False)
        assert "transfer-encoding" not in answer.headers
        assert client.get("/echo").status == 200


def test_head_has_the_length_and_no_body(any_server: Running) -> None:
    with any_server.connect() as client:
        client.send(b"HEAD /big?size=655360&length=yes HTTP/1.1\r\nHost: x\r\n\r\n")
        assert client.answer("HEAD").headers["content-length"] == "655360"
        assert client.get("/echo").status == 200


@pytest.mark.parametrize("query", ["", "&length=yes"])
def test_a_large_answer_arrives_whole(any_server: Running, query: str) -> None:
    with any_server.connect() as client:
        answer = client.get(f"/big?size=13107200{query}")
        assert len(answer.body) == 13107200
        assert answer.body[-16:] == b"%015d\n" % 199
        assert client.get("/echo").status == 200


def test_more_than_the_promised_length_is_not_sent(any_server: Running) -> None:
    with any_server.connect() as client:
        assert client.get("/long").body == b"more"
        assert client.get("/echo").status == 200


def test_less_than_the_promised_length_ends_the_connection(server: Running) -> None:
    with server.connect() as client:
        client.send(b"GET /short HTTP/1.1\r\nHost: x\r\n\r\n")
        assert client.rest().endswith(b"less than that")


def test_write_sends_before_what_is_returned(any_server: Running) -> None:
    assert any_server.get("/write").body == b"written returned"


@pytest.mark.parametrize("path", ["/wrong/early", "/wrong/silent", "/wrong/header"])
def test_what_goes_wrong_before_the_answer_is_a_500(any_server: Running, path: str) -> None:
    with any_server.connect() as client:
        answer = client.get(path)
        assert answer.status == 500
        assert b"Injected" not in answer.body
        assert client.closed()


def test_what_goes_wrong_in_an_answer_cuts_it(any_server: Running) -> None:
    with any_server.connect() as client:
        client.send(b"GET /wrong/late HTTP/1.1\r\nHost: x\r\n\r\n")
        assert client.rest().endswith(b"5\r\nbegun\r\n")


def test_an_application_may_change_its_mind_before_the_head_is_sent(any_server: Running) -> None:
    answer = any_server.get("/exc-info")
    assert (answer.status, answer.body) == (500, b"sorry")


def test_the_application_can_end_the_connection(server: Running) -> None:
    with server.connect() as client:
        answer = client.get("/close")
        assert (answer.body, answer.headers["connection"]) == (b"bye", "close")
        assert client.closed()


def test_a_single_piece_gets_a_length(server: Running) -> None:
    answer = server.get("/slow?seconds=0")
    assert (answer.headers["content-length"], answer.body) == ("5", b"slept")
    assert "server" not in answer.headers
    assert answer.headers["date"].endswith(" GMT")


def test_a_client_that_asks_for_it_is_told_to_go_on(any_server: Running) -> None:
    with any_server.connect() as client:
        client.send(b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n")
        assert client.answer().status == 100
        client.send(b"body")
        assert json.loads(client.answer().body)["body"] == "body"


@pytest.mark.parametrize("worker", WORKERS.values(), ids=WORKERS)
def test_the_address_that_a_proxy_tells_of_is_the_clients(worker: str, tmp_path: Path) -> None:
    with Running(tmp_path, worker, proxy_protocol="v1") as server, server.connect() as client:
        client.send(b"PROXY TCP4 192.0.2.7 192.0.2.9 4711 443\r\nGET /echo HTTP/1.1\r\nHost: x\r\n\r\n")
        assert json.loads(client.answer().body)["REMOTE_ADDR"] == "192.0.2.7"


def test_the_address_that_a_proxy_tells_of_holds_for_the_whole_connection(tmp_path: Path) -> None:
    with Running(tmp_path, OURS, proxy_protocol="v1") as server, server.connect() as client:
        client.send(b"PROXY TCP4 192.0.2.7 192.0.2.9 4711 443\r\nGET /echo HTTP/1.1\r\nHost: x\r\n\r\n")
        client.answer()
        assert json.loads(client.get("/echo").body)["REMOTE_ADDR"] == "192.0.2.7"
