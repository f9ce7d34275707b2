"""Questions that wait at the same time are answered by one call, but never by one that started before them."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from apiserver.api.storage import UnavailableError
from apiserver.storage.etcd.sharing import SharedRead


def test_who_waits_shares_the_next_call() -> None:
    started, go = threading.Semaphore(0), threading.Semaphore(0)
    calls: list[int] = []

    def read() -> int:
        calls.append(len(calls) + 1)
        started.release()
        go.acquire()
        return calls[-1]

    shared = SharedRead(read)
    with ThreadPoolExecutor(6) as pool:
        first = pool.submit(shared.get)
        started.acquire()
        later = [pool.submit(shared.get) for _ in range(5)]
        while shared._next is None:
            time.sleep(0.001)
        time.sleep(0.05)
        go.release(6)
        assert first.result() == 1
        assert {future.result() for future in later} == {2}
    assert calls == [1, 2]


def test_one_after_the_other_each_calls() -> None:
    numbers = iter(range(3))
    shared = SharedRead(lambda: next(numbers))
    assert [shared.get() for _ in range(3)] == [0, 1, 2]


def test_a_failure_reaches_who_waited_for_it_and_not_the_next() -> None:
    answers: list[Exception | int] = [UnavailableError("etcd: away"), 7]

    def read() -> int:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    shared = SharedRead(read)
    with pytest.raises(UnavailableError, match="etcd: away"):
        shared.get()
    assert shared.get() == 7


def test_an_interruption_leaves_nothing_locked() -> None:
    def read() -> int:
        if not answered:
            answered.append(1)
            raise KeyboardInterrupt
        return 1

    answered: list[int] = []
    shared = SharedRead(read)
    with pytest.raises(KeyboardInterrupt):
        shared.get()
    assert shared.get() == 1
