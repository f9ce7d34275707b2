"""One read for many who ask the same at the same time.

The driver asks etcd for the current revision through it. A call that starts after the question was asked answers it as
well as a call of one's own, so those who wait while a call is under way share the next one. Under load that saves most
of the round trips, each of which costs more than everything else in reading an object from the cache.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from apiserver.api.storage import StorageError, UnavailableError


class _Answer:
    """What the askers of one call wait for."""

    __slots__ = ("error", "given", "value")

    def __init__(self) -> None:
        self.given = threading.Event()
        self.value = 0
        self.error: Exception | None = None


class SharedRead:
    """Calls ``read``, one call at a time."""

    def __init__(self, read: Callable[[], int]) -> None:
        self._read = read
        self._joining = threading.Lock()
        self._reading = threading.Lock()
        self._next: _Answer | None = None

    def get(self) -> int:
        """The result of a call that started after this one.

        :raises UnavailableError: ``read`` raised a StorageError.
        """
        with self._joining:
            answer = self._next
            asks = answer is None
            if answer is None:
                answer = self._next = _Answer()
        if asks:
            self._ask(answer)
        else:
            answer.given.wait()
        if answer.error is not None:
            raise UnavailableError(str(answer.error)) from answer.error
        return answer.value

    def _ask(self, answer: _Answer) -> None:
        """Call, when the running call has ended, for all who have joined until then."""
        # Stands if a signal handler raises here: the exception is ours, the others get this.
        answer.error = UnavailableError("etcd: the request was interrupted")
        try:
            with self._reading:
                self._close(answer)
                answer.value = self._read()
            answer.error = None
        except StorageError as error:
            answer.error = error
        finally:
            self._close(answer)
            answer.given.set()

    def _close(self, answer: _Answer) -> None:
        """Let nobody join ``answer`` any more."""
        with self._joining:
            if self._next is answer:
                self._next = None
