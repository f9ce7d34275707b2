"""Waiting until the cache has seen a revision.

The feed calls :meth:`Freshness.advance` after each batch; requests call :meth:`Freshness.wait`. A request waits on a
lock of its own, so that a batch wakes those whose turn it is and nobody else.
"""

from __future__ import annotations

import heapq
import itertools
import threading
import time
from collections.abc import Callable

from apiserver.api.errors import Timeout

FRESH_TIMEOUT = 3.0
"""Seconds to wait. COMPAT: blockTimeout of the watch cache."""

_ASK_AGAIN = 0.1


class Freshness:
    """The newest revision that all caches have seen, and who waits for a newer one.

    :param ask: asks the store to report its revision soon (``Storage.request_progress``).
    """

    def __init__(self, ask: Callable[[], None]) -> None:
        self.revision = 0
        self._ask = ask
        self._lock = threading.Lock()
        self._order = itertools.count()
        self._waiting: list[tuple[int, int, threading.Lock]] = []

    def advance(self, revision: int) -> None:
        """Every cache has seen ``revision``."""
        self.revision = max(self.revision, revision)
        if not self._waiting:
            # A request that comes in now looks at the revision again after it has queued.
            return
        with self._lock:
            while self._waiting and self._waiting[0][0] <= revision:
                heapq.heappop(self._waiting)[2].release()

    def reset(self, revision: int) -> None:
        """The store has begun anew, at ``revision``, which may be a lower one."""
        self.revision = revision
        self.advance(revision)

    def wait(self, revision: int, timeout: float = FRESH_TIMEOUT) -> None:
        """Return when ``revision`` has been seen.

        :raises Timeout: it has not been within ``timeout`` seconds; with upstream's text and causes.
        """
        if self.revision >= revision:
            return
        gate = threading.Lock()
        gate.acquire()
        entry = (revision, next(self._order), gate)
        with self._lock:
            heapq.heappush(self._waiting, entry)
        deadline = time.monotonic() + timeout
        while self.revision < revision:
            left = deadline - time.monotonic()
            if left <= 0:
                self._forget(entry)
                raise Timeout.future_version(revision, self.revision)
            self._ask()
            if gate.acquire(timeout=min(left, _ASK_AGAIN)):
                return
        self._forget(entry)

    def _forget(self, entry: tuple[int, int, threading.Lock]) -> None:
        with self._lock:
            if entry in self._waiting:
                self._waiting.remove(entry)
                heapq.heapify(self._waiting)
