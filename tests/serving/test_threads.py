"""Threads count the requests in work, not the clients."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable
from typing import Any

from tests.serving.conftest import Start
from tests.serving.running import Running

State = Callable[[Running], dict[str, Any]]


def test_two_hundred_clients_with_a_request_a_second_need_few_threads(start: Start, state: State) -> None:
    server = start(threads=64)
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(server.connect()) for _ in range(200)]
        most = 0
        for _ in range(3):
            for number, client in enumerate(clients):
                assert client.get("/echo").status == 200
                time.sleep(0.004)
                if number % 50 == 0:
                    most = max(most, state(server)["threads"])
    assert most < 40


def test_a_client_that_never_pauses_does_not_starve_others(start: Start) -> None:
    server = start(threads=1)
    done = threading.Event()

    def hammer() -> None:
        with server.connect() as client:
            while not done.is_set():
                assert client.get("/echo").status == 200

    threads = [threading.Thread(target=hammer) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(10):
            assert server.get("/echo").status == 200
    finally:
        done.set()
        for thread in threads:
            thread.join()


def test_pipelined_requests_do_not_starve_others(start: Start) -> None:
    server = start(threads=1)
    with server.connect() as greedy:
        greedy.send(b"GET /slow?seconds=0.1 HTTP/1.1\r\nHost: x\r\n\r\n" * 40)
        time.sleep(0.2)
        with server.connect() as client:
            assert client.get("/echo").status == 200
        answered = 0
        greedy.sock.settimeout(0.01)
        with contextlib.suppress(TimeoutError):
            while True:
                greedy.answer()
                answered += 1
        assert answered < 40


def test_requests_in_work_get_threads_up_to_the_most_and_the_rest_wait(start: Start, state: State) -> None:
    server = start("tests.serving.workers.Quick", threads=4)
    idle = state(server)["threads"]
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(server.connect()) for _ in range(12)]
        for client in clients:
            client.send(b"GET /slow?seconds=0.5 HTTP/1.1\r\nHost: x\r\n\r\n")
        assert all(client.answer().body == b"slept" for client in clients)
        assert state(server)["threads"] <= idle + 3
    server.wait_for(lambda: state(server)["threads"] <= idle)


def test_a_worker_is_pinned_to_one_core_and_its_master_is_not(start: Start, state: State) -> None:
    cores = os.sched_getaffinity(0)
    server = start(workers=min(len(cores), 2))
    server.wait_for(lambda: len(server.children()) == min(len(cores), 2))
    if len(cores) > 1:
        server.wait_for(lambda: all(len(os.sched_getaffinity(pid)) == 1 for pid in server.children()))
        workers = [os.sched_getaffinity(pid) for pid in server.children()]
        assert len(set().union(*workers)) == len(workers)
        assert len(state(server)["cores"]) == 1
    assert os.sched_getaffinity(server.process.pid) == cores
    assert state(start("tests.serving.workers.Unpinned"))["cores"] == sorted(cores)


def test_a_worker_takes_all_the_files_it_may_have(start: Start, state: State) -> None:
    soft, hard = state(start())["files"]
    assert soft == hard
