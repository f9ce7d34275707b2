"""Signals: stop in phases, stop at once, reload, restart after so many requests."""

from __future__ import annotations

import contextlib
import signal
import socket
import time
from pathlib import Path

import pytest

from tests.serving.conftest import Start
from tests.serving.running import Running


def exit_status(server: Running) -> int:
    return server.process.wait(20)


def test_requests_in_flight_are_answered_and_their_connections_end(start: Start) -> None:
    server = start()
    with server.connect() as client, server.connect() as idle:
        assert idle.get("/echo").status == 200
        client.send(b"GET /slow?seconds=1.5 HTTP/1.1\r\nHost: x\r\n\r\n")
        server.get("/echo")
        server.process.send_signal(signal.SIGTERM)
        answer = client.answer()
        assert (answer.body, answer.headers["connection"]) == (b"slept", "close")
        assert client.closed()
        assert idle.closed()
    assert exit_status(server) == 0


def test_a_connection_that_is_new_may_still_send_its_first_request(start: Start) -> None:
    server = start()
    with server.connect() as new, server.connect() as idle:
        assert idle.get("/echo").status == 200
        time.sleep(0.2)  # until the worker has accepted the new one, which nothing shows
        server.process.send_signal(signal.SIGTERM)
        assert idle.closed()
        answer = new.get("/echo")
        assert (answer.status, answer.headers["connection"]) == (200, "close")
        assert new.closed()
    assert exit_status(server) == 0


def test_watches_end_with_the_last_chunk_after_requests_are_answered(start: Start) -> None:
    server = start()
    with server.connect() as request, contextlib.ExitStack() as stack:
        watches = [stack.enter_context(server.connect()) for _ in range(50)]
        for watch in watches:
            watch.send(b"GET /watch HTTP/1.1\r\nHost: x\r\n\r\n")
            assert watch.head().status == 200
        request.send(b"GET /slow?seconds=0.7 HTTP/1.1\r\nHost: x\r\n\r\n")
        server.get("/echo")
        server.process.send_signal(signal.SIGTERM)
        assert request.answer().body == b"slept"
        for watch in watches:
            assert watch.chunk() == b""
            assert watch.closed()
    assert exit_status(server) == 0


def test_the_application_is_told_in_order_and_serves_during_its_delay(start: Start, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    server = start(app="staged", environment={"NOTES": str(notes), "DELAY": "1.0"})
    with server.connect() as watch:
        watch.send(b"GET /watch HTTP/1.1\r\nHost: x\r\n\r\n")
        assert watch.head().status == 200
        server.process.send_signal(signal.SIGTERM)
        server.wait_for(lambda: "begin_shutdown\n" in notes.read_text())
        assert server.get("/echo/during").status == 200
        assert watch.chunk() == b""
    assert exit_status(server) == 0
    assert notes.read_text().splitlines() == [
        "request /watch",
        "begin_shutdown",
        "request /echo/during",
        "begin_shutdown returns",
        "close with 0 streams",
    ]


def test_a_request_that_never_ends_is_given_up_after_the_graceful_timeout(start: Start) -> None:
    server = start(graceful_timeout=2)
    with server.connect() as client:
        client.send(b"GET /slow?seconds=60 HTTP/1.1\r\nHost: x\r\n\r\n")
        server.get("/echo")
        server.process.send_signal(signal.SIGTERM)
        assert client.closed()
    assert exit_status(server) == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGQUIT])
def test_it_can_be_told_to_stop_at_once(start: Start, number: signal.Signals) -> None:
    server = start()
    with server.connect() as client:
        client.send(b"GET /slow?seconds=60 HTTP/1.1\r\nHost: x\r\n\r\n")
        server.get("/echo")
        server.process.send_signal(number)
        assert exit_status(server) == 0


def test_after_a_reload_another_process_serves_and_the_old_one_ends(start: Start) -> None:
    server = start()
    server.get("/echo")
    before = server.children()
    with server.connect() as watch, server.connect() as request:
        watch.send(b"GET /watch HTTP/1.1\r\nHost: x\r\n\r\n")
        assert watch.head().status == 200
        request.send(b"GET /slow?seconds=0.5 HTTP/1.1\r\nHost: x\r\n\r\n")
        server.get("/echo")
        server.process.send_signal(signal.SIGHUP)
        assert request.answer().body == b"slept"
        assert watch.chunk() == b""
    server.wait_for(lambda: not set(server.children()) & set(before))
    assert server.get("/echo").status == 200


def test_a_worker_ends_after_so_many_requests_and_another_takes_over(start: Start) -> None:
    server = start(max_requests=5)
    server.get("/echo")
    before = server.children()
    for _ in range(20):
        with contextlib.suppress(ConnectionError, EOFError):
            assert server.get("/echo").status == 200
    server.wait_for(lambda: server.children() and not set(server.children()) & set(before))
    assert server.get("/echo").status == 200


def test_a_worker_whose_hub_is_gone_is_replaced(start: Start) -> None:
    server = start("tests.serving.workers.Fragile", timeout=3)
    server.get("/echo")
    before = server.children()
    with contextlib.suppress(ConnectionError, EOFError, TimeoutError), server.connect() as client:
        client.sock.settimeout(1)
        client.send(b"GET /echo/break-the-hub HTTP/1.1\r\nHost: x\r\n\r\n")
        client.answer()
    server.wait_for(lambda: server.children() and not set(server.children()) & set(before), seconds=20)
    assert server.get("/echo").status == 200


def test_a_worker_ends_when_its_master_is_gone(start: Start) -> None:
    server = start()
    server.get("/echo")
    worker = server.children()[0]
    server.process.kill()
    server.process.wait()
    server.wait_for(lambda: not Path(f"/proc/{worker}").exists() or "Z" in Path(f"/proc/{worker}/stat").read_text())
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", server.port), timeout=1).close()
