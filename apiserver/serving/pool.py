"""The threads that serve requests: they grow on demand, and shrink when idle.

The hub submits a connection when there is something to do on it. The thread that was idle last takes it, so that the
others time out and end. When all are busy the connection waits, and a thread that only lingers on its connection
for a next request is asked, through :attr:`Pool.steal_fd`, to let go.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class _Seat(Generic[T]):
    """Where an idle thread waits for its next job."""

    __slots__ = ("job", "wake")

    def __init__(self) -> None:
        self.job: T | None = None
        self.wake = threading.Lock()
        self.wake.acquire()


class Pool(Generic[T]):
    """At most ``maximum`` threads that call ``run(job)``.

    :param run: must not raise; what it raises is logged and the thread goes on.
    :param idle_seconds: after how long an idle thread ends.
    """

    def __init__(self, run: Callable[[T], None], maximum: int, idle_seconds: float, log: logging.Logger) -> None:
        self._run, self._maximum, self._idle_seconds, self._log = run, max(1, maximum), idle_seconds, log
        self._lock = threading.Lock()
        self._idle: list[_Seat[T]] = []
        self.backlog: deque[T] = deque()
        self.size = 0
        self.peak = 0
        self.steal_fd, self._steal_write = os.pipe()
        for fd in (self.steal_fd, self._steal_write):
            os.set_blocking(fd, False)

    @property
    def busy(self) -> int:
        """Threads that have a job, and jobs that wait for a thread."""
        return self.size - len(self._idle) + len(self.backlog)

    def submit(self, job: T) -> None:
        """Run ``job`` on a thread, now or as soon as one is free. From any thread; never blocks."""
        with self._lock:
            seat = self._idle.pop() if self._idle else None
            if seat is None and self.size >= self._maximum:
                self.backlog.append(job)
            elif seat is None:
                self._grow(job)
        if seat is not None:
            seat.job = job
            seat.wake.release()
        elif self.backlog:
            with contextlib.suppress(BlockingIOError):
                os.write(self._steal_write, b"x")

    def _grow(self, job: T) -> None:
        try:
            threading.Thread(target=self._work, args=(job,), daemon=True, name="serve").start()
        except RuntimeError:  # the system gives no more threads: those that are there must do
            self.backlog.append(job)
        else:
            self.size += 1
            self.peak = max(self.peak, self.size)

    def stolen(self) -> bool:
        """A lingering thread saw :attr:`steal_fd` readable: is it the one that must let go?"""
        try:
            return bool(os.read(self.steal_fd, 1)) and bool(self.backlog)
        except BlockingIOError:
            return False

    def _work(self, first: T) -> None:
        seat: _Seat[T] = _Seat()
        job: T | None = first
        while job is not None:
            try:
                self._run(job)
            except BaseException:
                self._log.exception("A serving thread got an unexpected exception")
            job = self._next(seat)

    def _next(self, seat: _Seat[T]) -> T | None:
        with self._lock:
            if self.backlog:
                return self.backlog.popleft()
            seat.job = None
            self._idle.append(seat)
        if not seat.wake.acquire(timeout=self._idle_seconds):
            with self._lock:
                if seat in self._idle:
                    self._idle.remove(seat)
                    self.size -= 1
                    return None
            seat.wake.acquire()
        return seat.job
