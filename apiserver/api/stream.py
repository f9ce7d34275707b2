"""The stream of a watch: an iterable that any WSGI server can serve and that the watch hub serves without a thread.

Handlers return a :class:`WatchStream`. A plain WSGI server iterates it, one thread per watch. The worker class in
``apiserver.serving`` recognises it, as servers recognise ``wsgi.file_wrapper``, writes the head and hands the
connection and the stream to its hub, which calls :meth:`WatchStream.take` when the stream wakes it or a timer is due.
"""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence


class WatchStream(ABC):
    """Frames (complete encoded events, each ending in a newline or self-delimiting) that arrive over time.

    The consumer calls :meth:`subscribe` once, then :meth:`take` whenever woken or at :meth:`next_timer`, and
    :meth:`close` at the end. Only one consumer at a time.
    """

    # For on_close: functions that wait for the end, and whether it has come.
    _closing: deque[Callable[[], None]] | None = None
    _closed = False

    @abstractmethod
    def subscribe(self, wake: Callable[[WatchStream], None]) -> None:
        """Begin. ``wake(self)`` is called, from any thread and possibly more often than needed, when frames wait.

        ``wake`` must be cheap and must not call back into the stream.
        """

    @abstractmethod
    def take(self, now: float) -> Sequence[bytes] | None:
        """All frames that wait, without blocking; empty when there are none; None when the stream has ended.

        :param now: ``time.monotonic()``, with which timers (bookmarks, deadline) are compared.
        """

    @abstractmethod
    def next_timer(self) -> float:
        """The ``time.monotonic()`` at which :meth:`take` must be called even if nobody wakes (``math.inf`` = never)."""

    @property
    def on_demand(self) -> bool:
        """Whether the next :meth:`take` gives what was there before, such as a part of the initial state.

        It can wait until what was taken has been sent: a consumer that takes it earlier only fills its memory.
        """
        return False

    @abstractmethod
    def close(self) -> None:
        """Let go of everything. Safe to call twice and from any thread; :meth:`take` then returns None.

        Implementations end with ``super().close()``, which calls what :meth:`on_close` registered.
        """
        self._closed = True
        self._run_closing()

    def on_close(self, function: Callable[[], None]) -> None:
        """Have ``function`` called once when the stream is closed; at once when it is closed already.

        For what filters do at the end of a request. It runs in the thread that closes and must not raise.
        """
        if self._closing is None:
            self._closing = deque()
        self._closing.append(function)
        if self._closed:
            self._run_closing()

    def _run_closing(self) -> None:
        # Popping is what makes "once" hold when two threads close at the same time.
        while self._closing:
            try:
                function = self._closing.popleft()
            except IndexError:
                return
            function()

    def terminate(self) -> None:
        """The server shuts down: end soon. By default the stream is closed at once."""
        self.close()

    def __iter__(self) -> Iterator[bytes]:
        woken = threading.Event()
        self.subscribe(lambda _stream: woken.set())
        try:
            yield b""  # gunicorn's workers send the head with the first piece, and clients wait for the head
            while True:
                woken.clear()
                frames = self.take(time.monotonic())
                if frames is None:
                    return
                if frames:
                    yield b"".join(frames)
                    continue
                woken.wait(min(max(self.next_timer() - time.monotonic(), 0.0), 3600.0))
        finally:
            self.close()
