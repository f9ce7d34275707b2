"""Asking the store for its revision, once for all requests that wait for the answer.

Called by each read without a resource version. With etcd the question is a round trip that costs more than the rest of
a GET; requests that come while one is under way share the next.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from apiserver.api.storage import UnavailableError


class _Turn:
    """One question for several requests."""

    __slots__ = ("answered", "error", "revision")

    def __init__(self) -> None:
        self.answered = threading.Lock()
        self.answered.acquire()
        self.revision = 0
        self.error: BaseException | None = None


class NewestRevision:
    """The store's newest revision: at least that of every write acknowledged before the call.

    :param ask: ``Storage.current_revision``.
    """

    def __init__(self, ask: Callable[[], int]) -> None:
        self._ask = ask
        self._asking = threading.Lock()
        self._lock = threading.Lock()
        self._next: _Turn | None = None

    def __call__(self) -> int:
        """:raises StorageError: the store can't say."""
        if self._asking.acquire(blocking=False):
            try:
                return self._ask()
            finally:
                self._asking.release()
        with self._lock:
            turn, first = self._next, self._next is None
            if turn is None:
                turn = self._next = _Turn()
        if first:
            return self._ask_for(turn)
        # An answer to a question asked before this request came could be too old; this turn's has not been asked yet.
        with turn.answered:
            if turn.error is not None:
                raise UnavailableError(str(turn.error)) from turn.error
            return turn.revision

    def _ask_for(self, turn: _Turn) -> int:
        try:
            with self._asking:
                with self._lock:
                    self._next = None
                turn.revision = self._ask()
                return turn.revision
        except BaseException as error:
            turn.error = error
            raise
        finally:
            turn.answered.release()
