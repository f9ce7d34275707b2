"""Slow clients: none of them holds a thread, and each is given up in time. The workers here have 2 threads."""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.serving.conftest import Start
from tests.serving.running import Running

State = Callable[[Running], dict[str, Any]]
QUICK = "tests.serving.workers.Quick"
UNPINNED = "tests.serving.workers.Unpinned"
BEGUN = {
    "nothing": b"",
    "half a head": b"GET /echo HTTP/1.1\r\nHo",
    "a head without its end": b"GET /echo HTTP/1.1\r\nHost: x\r\n",
    "half a body": b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhello",
    "half a chunk": b"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe",
    "half a large body": b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n" + b"x" * 1000000,
}


@pytest.mark.parametrize("name", BEGUN)
def test_many_slow_clients_do_not_keep_others_from_being_served(start: Start, name: str) -> None:
    server = start(UNPINNED, threads=2)
    with contextlib.ExitStack() as stack:
        for _ in range(20):
            stack.enter_context(server.connect()).send(BEGUN[name])
        for _ in range(5):
            assert server.get("/echo").status == 200


@pytest.mark.parametrize("name", BEGUN)
def test_a_request_that_does_not_go_on_is_given_up(start: Start, name: str) -> None:
    with start(QUICK, threads=2).connect() as client:
        client.send(BEGUN[name])
        assert client.closed()


@pytest.mark.parametrize("name", ["half a head", "half a large body"])
def test_a_request_that_trickles_is_given_up(start: Start, name: str) -> None:
    with start(QUICK, threads=2).connect() as client:
        client.send(BEGUN[name])
        client.sock.settimeout(0.03)
        for _ in range(300):
            with contextlib.suppress(ConnectionError):
                client.send(b"x")
            with contextlib.suppress(TimeoutError):
                if not client.more():
                    break
        else:
            pytest.fail("the server waits for ever")


def test_a_request_that_pauses_is_served(start: Start) -> None:
    with start(UNPINNED, threads=2).connect() as client:
        for part in (
            "POST /ec",
            "ho HTTP/1.1\r\nTransfer-Enc",
            "oding: chunked\r\n\r\n",
            "5\r\nhel",
            "lo\r\n0\r\n",
            "\r\n",
        ):
            client.send(part.encode())
            time.sleep(0.2)
        client.send(b"\r\n")
        assert json.loads(client.answer().body)["body"] == "hello"


def test_idle_connections_are_closed_after_the_keep_alive_time(start: Start) -> None:
    with start(keep_alive=1).connect() as client:
        assert client.get("/echo").status == 200
        assert client.closed()


def test_a_reader_that_takes_nothing_holds_no_thread_and_is_given_up(start: Start, state: State) -> None:
    server = start(QUICK, threads=2)
    with contextlib.ExitStack() as stack:
        readers = [stack.enter_context(server.connect()) for _ in range(6)]
        for reader in readers:
            reader.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            reader.send(b"GET /big?size=65536000 HTTP/1.1\r\nHost: x\r\n\r\n")
        assert server.get("/echo").status == 200
        server.wait_for(lambda: state(server)["bodies closed"] == 6, seconds=20)


def test_a_slow_reader_gets_a_large_answer_whole(start: Start) -> None:
    with start(UNPINNED, threads=2).connect() as client:
        client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
        client.send(b"GET /big?size=26214400 HTTP/1.1\r\nHost: x\r\n\r\n")
        time.sleep(0.5)
        answer = client.answer()
        assert (len(answer.body), answer.body[-16:]) == (26214400, b"%015d\n" % 399)


def test_stalled_handshakes_do_not_keep_others_from_being_served(
    start: Start, tls: dict[str, Any], client_context: ssl.SSLContext
) -> None:
    server = start(QUICK, threads=2, **tls)
    with contextlib.ExitStack() as stack:
        stalled = [stack.enter_context(server.connect()) for _ in range(20)]
        for client in stalled[:10]:
            client.send(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
        with server.connect_tls(client_context) as client:
            assert client.get("/echo").status == 200
        assert all(client.closed() for client in stalled)


def test_beyond_the_most_connections_clients_wait(start: Start) -> None:
    server = start(worker_connections=3)
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(server.connect()) for _ in range(3)]
        for client in clients:
            assert client.get("/echo").status == 200
        with server.connect() as waiting:
            waiting.send(b"GET /echo HTTP/1.1\r\nHost: x\r\n\r\n")
            waiting.sock.settimeout(1.5)
            with pytest.raises(TimeoutError):
                waiting.answer()
            clients[0].sock.close()
            waiting.sock.settimeout(10)
            assert waiting.answer().status == 200
