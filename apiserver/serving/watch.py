"""One open watch: a stream's frames on their way to one socket. Used by :mod:`apiserver.serving.hub`.

A pool thread begins it (head, subscription, the first frames); from then on only the hub's thread touches it, except
:meth:`Watch.wake`, which any thread calls.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from apiserver.serving.connection import Connection, Disconnected
from apiserver.serving.poller import GONE, READ, WRITE

if TYPE_CHECKING:
    from apiserver.api.stream import WatchStream
    from apiserver.serving.limits import Limits

PIECE = 64 << 10
"""Frames are joined to chunks of about this size."""
TURN = 256 << 10
"""Most bytes that one watch sends before the others have their turn."""


class WatchOwner(Protocol):
    """What the hub does for a watch."""

    limits: Limits

    def enqueue(self, watch: Watch) -> None:
        """Call its :meth:`Watch.turn` soon, on the hub's thread. From any thread."""

    def adopt(self, watch: Watch) -> None:
        """From now on the hub's thread answers for the connection."""

    def listen(self, watch: Watch, interest: int) -> None:
        """Call its :meth:`Watch.ready` when the socket is ready for ``interest``."""

    def schedule(self, watch: Watch, when: float) -> None:
        """Call its :meth:`Watch.turn` at ``when`` (monotonic)."""

    def finished(self, watch: Watch) -> None:
        """The stream has ended and all has been sent: the connection is free."""

    def dropped(self, watch: Watch, reason: str) -> None:
        """The watch was cut: close the connection."""


class Watch:
    """An open watch.

    :param chunked: HTTP/1.1; otherwise frames go out bare and the connection's end is the stream's.
    :param keep_alive: whether the connection serves further requests when the stream has ended.
    """

    __slots__ = (
        "_adopted",
        "_closed",
        "_ended",
        "_hub",
        "_late",
        "_out",
        "_pending",
        "_stalled",
        "chunked",
        "conn",
        "keep_alive",
        "queued",
        "reading",
        "stream",
        "timer",
    )

    def __init__(
        self, hub: WatchOwner, conn: Connection, stream: WatchStream, *, chunked: bool, keep_alive: bool
    ) -> None:
        self._hub, self.conn, self.stream = hub, conn, stream
        self.chunked, self.keep_alive = chunked, keep_alive
        self.queued = True
        self.reading = True
        self.timer: float | None = None
        self._out: deque[bytes] = deque()
        self._pending: bytes | memoryview = b""
        self._late = 0
        self._stalled = math.inf
        self._closed = self._ended = self._adopted = False

    def wake(self, _stream: WatchStream | None = None) -> None:
        """Frames wait. From any thread, cheap, as often as one likes."""
        if not self.queued:
            self.queued = True
            self._hub.enqueue(self)

    def begin(self, head: bytes) -> None:
        """Subscribe, and send the head with the first frames; on a pool thread, before the hub knows the watch.

        :raises Disconnected: the client has gone.
        """
        self.stream.subscribe(self.wake)
        self._pending = head
        self._take(time.monotonic())
        self._send(math.inf)

    # -- on the hub's thread ---------------------------------------------------------------------------------------

    def turn(self, now: float, writable: bool = False) -> None:
        """Take what the stream has and send what the socket takes.

        :param writable: the socket has room again.
        """
        self.queued = False
        if not self._adopted:
            self._adopted = True
            self._hub.adopt(self)
            self.listen()
        try:
            if self._pending or self._out or self._ended:
                if not self._ended and not self.stream.on_demand:
                    self._take(now)
            elif self._pass_on(now):
                return
            if writable or self._stalled is math.inf:
                self._send(TURN)
            self._settle(now)
        except Disconnected:
            self._hub.dropped(self, "")
        except Exception as ex:
            self._hub.dropped(self, f"{type(ex).__name__}: {ex}")

    def _pass_on(self, now: float) -> bool:
        """The ordinary turn: nothing waits here, the stream has one frame or none, the socket takes all of it.

        Every watcher has it at every event; False when it was not ordinary and the rest of the turn must follow.
        """
        stream = self.stream
        frames = stream.take(now)
        if frames is None or len(frames) > 1:
            self._received(frames)
            return False
        if frames and frames[0]:
            frame = frames[0]
            data = b"%x\r\n%b\r\n" % (len(frame), frame) if self.chunked else frame
            sent = self.conn.send(data)
            if sent != len(data):
                self._pending = memoryview(data)[sent:]
                return False
        timer, when = self.timer, stream.next_timer()
        if when < (math.inf if timer is None else timer):
            self._hub.schedule(self, when)
        return True

    def _settle(self, now: float) -> None:
        """After sending: what to wait for."""
        if now - self._stalled > self._hub.limits.write_stall:
            self._hub.dropped(self, "the reader takes nothing")
        elif self._late > self._hub.limits.watch_backlog:
            self._hub.dropped(self, "the reader is too slow")
        elif self._ended and not self._pending and not self._out:
            self._hub.finished(self)
        else:
            self._set_timer()

    def _set_timer(self) -> None:
        when = math.inf if self._ended or self._has_enough() else self.stream.next_timer()
        when = min(when, self._stalled + self._hub.limits.write_stall + 0.1)
        if when < (math.inf if self.timer is None else self.timer):
            self._hub.schedule(self, when)

    def _has_enough(self) -> bool:
        """Whether the stream's next frames can stay there until these are sent."""
        return bool(self._pending or self._out) and self.stream.on_demand

    def ready(self, event: int, now: float) -> None:
        """The socket is ready: for more output, or because the client sent something or has gone."""
        if event & GONE or event & READ:
            self._hear(event)
        if event & WRITE and not self.conn.closed:
            self.turn(now, writable=True)

    def _hear(self, event: int) -> None:
        """Read what the client sends while it watches; the end of its input is the end of the watch."""
        data = self.conn.receive()
        if data == b"" or (data is None and event & GONE):
            self._hub.dropped(self, "")
        elif data:
            self.conn.inbox.buffer += data
            if len(self.conn.inbox) > self._hub.limits.pipelined:
                self.reading = False
                self.listen()

    def listen(self) -> None:
        """Tell the hub for what to watch the socket."""
        if not self._adopted:
            return
        interest = GONE | (READ if self.reading else 0) | (WRITE if self._stalled is not math.inf else 0)
        self._hub.listen(self, interest)

    def close(self) -> None:
        """Let the stream go, once."""
        if not self._closed:
            self._closed = self._ended = True
            with contextlib.suppress(Exception):
                self.stream.close()

    # -- bytes -----------------------------------------------------------------------------------------------------

    def _take(self, now: float) -> None:
        self._received(self.stream.take(now))

    def _received(self, frames: Sequence[bytes] | None) -> None:
        if frames is None:
            self.close()
            if self.chunked:
                self._out.append(b"")
        elif frames:
            if self._stalled is not math.inf:
                self._late += sum(map(len, frames))
            self._out.extend(filter(None, frames))

    def _send(self, most: float) -> None:
        """Send until nothing is left, the socket takes no more, or ``most`` bytes are out."""
        sent, was_stalled = 0, self._stalled is not math.inf
        while self._pending or self._out:
            if not self._pending:
                self._pending = self._next_piece()
            count = self.conn.send(self._pending)
            if not count:
                if not was_stalled or sent:
                    self._stalled = time.monotonic()
                if not was_stalled:
                    self.listen()
                return
            sent += count
            self._pending = b"" if count == len(self._pending) else memoryview(self._pending)[count:]
            if sent >= most:
                self.wake()
                return
        self._late = 0
        if was_stalled:
            self._stalled = math.inf
            self.listen()

    def _next_piece(self) -> bytes:
        """The next frames that fit in a chunk, framed; an empty frame stands for the end of the stream."""
        out = self._out
        first = out.popleft()
        if out and first:
            frames, size = [first], len(first)
            while out and out[0] and size + len(out[0]) <= PIECE:
                size += len(out[0])
                frames.append(out.popleft())
            first = b"".join(frames) if len(frames) > 1 else first
        return b"%x\r\n%b\r\n" % (len(first), first) if self.chunked else first
