"""Parts of the worker by themselves: the pool, the pollers, the choice of a core, the inbox."""

from __future__ import annotations

import logging
import os
import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from apiserver.serving import affinity
from apiserver.serving.inbox import Inbox, Starved
from apiserver.serving.poller import GONE, READ, WRITE, EpollPoller, Poller, SelectorPoller
from apiserver.serving.pool import Pool

POLLERS: dict[str, Callable[[], Poller]] = {
    "epoll": EpollPoller,
    "selectors": lambda: SelectorPoller(lambda: None),
}


def eventually(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 5
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.005)
    return condition()


@pytest.fixture(params=POLLERS)
def poller(request: pytest.FixtureRequest) -> Poller:
    """Each kind of poller."""
    if request.param == "epoll" and not hasattr(select, "epoll"):
        pytest.fail("tests need Linux")
    return POLLERS[request.param]()


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    one, other = socket.socketpair()
    with one, other:
        yield one, other


def test_a_poller_reports_once_or_as_long_as_it_holds(
    poller: Poller, pair: tuple[socket.socket, socket.socket]
) -> None:
    ours, theirs = pair
    fd = ours.fileno()
    poller.arm(fd, READ, once=True, known=False)
    assert poller.poll(0) == []
    theirs.send(b"x")
    assert poller.poll(1) == [(fd, READ)]
    assert poller.poll(0) == []
    poller.arm(fd, READ | WRITE, once=False, known=True)
    assert poller.poll(1) == poller.poll(1) == [(fd, READ | WRITE)]
    poller.arm(fd, WRITE, once=False, known=True)
    assert poller.poll(1) == [(fd, WRITE)]
    poller.forget(fd)


def test_a_poller_tells_that_the_peer_has_gone(poller: Poller, pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = pair
    poller.arm(ours.fileno(), READ | GONE, once=False, known=False)
    theirs.close()
    assert [event & READ for _, event in poller.poll(1)] == [READ]


def test_the_pool_grows_on_demand_and_shrinks_when_idle() -> None:
    release = threading.Event()

    def run(_: int) -> None:
        release.wait(5)

    pool: Pool[int] = Pool(run, 3, 0.1, logging.getLogger())
    for number in range(5):
        pool.submit(number)
    assert eventually(lambda: pool.busy == 5)
    assert (pool.size, len(pool.backlog)) == (3, 2)
    release.set()
    assert eventually(lambda: pool.busy == 0)
    assert eventually(lambda: pool.size == 0)
    pool.submit(6)
    assert eventually(lambda: pool.size == 0)


def test_one_thread_is_enough_for_one_job_at_a_time() -> None:
    done: list[int] = []
    pool: Pool[int] = Pool(done.append, 8, 5, logging.getLogger())
    for number in range(50):
        pool.submit(number)
        assert eventually(lambda number=number: len(done) == number + 1 and pool.busy == 0)  # type: ignore[misc]
    assert done == list(range(50))
    assert pool.peak == 1


def test_a_job_that_raises_leaves_its_thread_in_place(caplog: pytest.LogCaptureFixture) -> None:
    done = []

    def run(number: int) -> None:
        done.append(1 // number)

    pool: Pool[int] = Pool(run, 1, 5, logging.getLogger())
    pool.submit(0)
    pool.submit(1)
    assert eventually(lambda: done == [1])
    assert "ZeroDivisionError" in caplog.text


def test_many_jobs_from_many_threads_are_all_done() -> None:
    done: list[int] = []
    pool: Pool[int] = Pool(done.append, 4, 0.001, logging.getLogger())

    def submit(start: int) -> None:
        for number in range(start, start + 500):
            pool.submit(number)
            if number % 50 == 0:
                time.sleep(0.002)

    threads = [threading.Thread(target=submit, args=(start,)) for start in range(0, 4000, 500)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert eventually(lambda: len(done) == 4000)
    assert sorted(done) == list(range(4000))


def test_an_inbox_serves_what_has_arrived_and_asks_for_the_rest() -> None:
    source = iter([b"llo", b" world", b""])
    inbox = Inbox(lambda _: next(source))
    inbox.unread(b"he")
    assert inbox.read(5) == b"hello"
    inbox.sealed = True
    with pytest.raises(Starved):
        inbox.read(1)
    inbox.sealed = False
    assert inbox.read(3) == b" wo"
    assert inbox.read() == b"rld"
    assert inbox.read(10) == b""


def test_a_core_to_which_nothing_is_pinned_is_chosen() -> None:
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        assert affinity.choose_core([]) is None
        return
    chosen = affinity.choose_core([core for core in cores[1:] for _ in range(1000)])
    assert chosen == cores[0]
    code = f"import os, time; os.sched_setaffinity(0, {{{cores[0]}}}); print('pinned', flush=True); time.sleep(60)"
    spawn = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]])"
    with subprocess.Popen(
        [sys.executable, "-c", spawn, code], stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"pinned\n"
            assert cores[0] in affinity._pinned_strangers()
        finally:
            os.killpg(process.pid, 9)
