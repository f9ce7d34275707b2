"""The hub: one thread per process that waits for all connections on which nobody works.

Idle and slow connections are *parked*: when they become readable (or writable) they go to the thread pool, and when
their time is up they are closed. Open watches live here wholly: the hub takes frames from their streams when they
wake it and writes them to non-blocking sockets, so a watch costs no thread, and events that arrive together go out
together. See :mod:`apiserver.serving.watch` for one watch.
"""

from __future__ import annotations

import contextlib
import heapq
import itertools
import logging
import os
import socket
import threading
import time
from collections import deque
from collections.abc import Callable

from apiserver.api.stream import WatchStream
from apiserver.serving.connection import Connection, Disconnected, State
from apiserver.serving.limits import Limits
from apiserver.serving.poller import READ, WRITE, make_poller
from apiserver.serving.watch import Watch

SLICE = 64
"""Watches that have their turn before the hub looks again for connections that became ready."""


class Hub:
    """See the module. Methods without a remark may be called from any thread.

    :param submit: gives a connection to the thread pool.
    :param keep_alive: seconds after which an idle connection is closed.
    """

    def __init__(
        self, submit: Callable[[Connection], None], limits: Limits, keep_alive: float, log: logging.Logger
    ) -> None:
        self._submit, self.limits, self._keep_alive, self._log = submit, limits, keep_alive, log
        self._read_fd, self._write_fd = os.pipe()
        for fd in (self._read_fd, self._write_fd):
            os.set_blocking(fd, False)
        self._signalled = False
        self._poller = make_poller(self._signal)
        self._poller.arm(self._read_fd, READ, once=False, known=False)
        self._parked: dict[int, Connection] = {}
        self._watches: dict[int, Watch] = {}
        self._ready: deque[Watch] = deque()
        self._calls: deque[Callable[[], None]] = deque()
        self._new_timers: deque[Connection] = deque()
        self._timers: list[tuple[float, int, Connection | Watch]] = []
        self._count = itertools.count()
        self._stale = 0
        self._ending: deque[Watch] = deque()
        self._ending_rate, self._ended_at = 0.0, 0.0
        self._stopping = False
        self._draining = False
        self.beat = time.monotonic()
        self._thread = threading.Thread(target=self._run, name="watch-hub", daemon=True)

    # -- for the pool's threads and the worker ---------------------------------------------------------------------

    def start(self) -> None:
        """Start the hub's thread, once."""
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether the hub's thread runs."""
        return self._thread.is_alive()

    @property
    def watching(self) -> int:
        """How many watches are open."""
        return len(self._watches)

    def park(self, conn: Connection, deadline: float, *, write: bool = False) -> None:
        """Wait until ``conn`` is readable (or writable) and give it to the pool; close it at ``deadline``.

        The caller must not touch the connection any more.
        """
        conn.deadline = deadline
        if deadline <= time.monotonic():
            self._expire(conn)
            return
        self._parked[conn.fd] = conn
        if conn.timer is None or conn.timer > deadline:
            self._new_timers.append(conn)
        known, conn.armed = conn.armed, True
        try:
            self._poller.arm(conn.fd, WRITE if write else READ, once=True, known=known)
        except (OSError, ValueError):
            self._parked.pop(conn.fd, None)
            self._close(conn)

    def requeue(self, conn: Connection) -> None:
        """Give it to the pool again, behind the others."""
        self._submit(conn)

    def linger(self, conn: Connection) -> None:
        """End our side of the connection, and close it when the peer has ended its own, soon at the latest."""
        conn.say_goodbye()
        conn.state = State.CLOSING
        self.park(conn, time.monotonic() + self.limits.closing)

    def watch(self, conn: Connection, stream: WatchStream, head: bytes, *, chunked: bool, keep_alive: bool) -> None:
        """Send ``head`` and the frames that are there, then leave the stream to the hub's thread.

        The caller must not touch the connection or the stream any more.
        """
        conn.state = State.WATCH
        watch = Watch(self, conn, stream, chunked=chunked, keep_alive=keep_alive)
        try:
            watch.begin(head)
        except Exception as ex:
            if not isinstance(ex, Disconnected):
                self._log.exception("A watch could not begin")
            watch.close()
            self._close(conn)
            return
        self.enqueue(watch)

    def enqueue(self, watch: Watch) -> None:
        """A watch wants its turn."""
        self._ready.append(watch)
        if not self._signalled:
            self._signal()

    def terminate(self, per_second: float) -> None:
        """End all open watches, at most so many a second, and every new one at once."""
        self._draining = True
        self._call(lambda: self._begin_ending(per_second))

    def close_idle(self) -> None:
        """Close the parked connections on which no request has begun.

        New ones are given a few seconds to send their first. COMPAT: net/http.Server.closeIdleConns
        """
        self._call(self._close_idle)

    def stop(self, timeout: float) -> None:
        """End the hub's thread; watches are cut, connections closed. Waits at most ``timeout`` seconds."""
        self._stopping = True
        self._signal()
        self._thread.join(timeout)

    def _call(self, function: Callable[[], None]) -> None:
        self._calls.append(function)
        self._signal()

    def _signal(self) -> None:
        self._signalled = True
        with contextlib.suppress(BlockingIOError):
            os.write(self._write_fd, b"x")

    # -- the hub's thread ------------------------------------------------------------------------------------------

    def _run(self) -> None:
        while not self._stopping:
            try:
                self._round()
            except Exception:
                self._log.exception("The watch hub got an unexpected exception")
        self._cut()

    def _round(self) -> None:
        self.beat = time.monotonic()
        self._add_timers()
        for fd, event in self._poller.poll(self._timeout()):
            self._dispatch(fd, event)
        now = time.monotonic()
        if self._timers and self._timers[0][0] <= now:
            self._run_timers(now)
        for _ in range(min(len(self._ready), SLICE)):
            self._ready.popleft().turn(now)
        while self._calls:
            self._calls.popleft()()
        if self._ending:
            self._end_some(now)

    def _timeout(self) -> float:
        if self._ready or self._calls:
            return 0.0
        most = 0.02 if self._ending else 1.0
        return min(max(self._timers[0][0] - time.monotonic(), 0.0), most) if self._timers else most

    def _dispatch(self, fd: int, event: int) -> None:
        watch = self._watches.get(fd)
        if watch is not None:
            watch.ready(event, time.monotonic())
            return
        if fd == self._read_fd:
            with contextlib.suppress(BlockingIOError):
                os.read(fd, 4096)
            self._signalled = False
            return
        conn = self._parked.pop(fd, None)
        if conn is None:
            return
        if conn.state is State.CLOSING:
            self._discard(conn)
        else:
            self._submit(conn)

    def _discard(self, conn: Connection) -> None:
        """Our side is closed: read what still comes (unread bytes would reset what we sent), until the end."""
        if conn.receive(1 << 16) == b"":
            self._close(conn)
        else:
            self.park(conn, conn.deadline)

    # -- time --------------------------------------------------------------------------------------------------------

    def schedule(self, watch: Watch, when: float) -> None:
        """Give the watch its turn at ``when``. The hub's thread only."""
        watch.timer = when
        heapq.heappush(self._timers, (when, next(self._count), watch))

    def _unschedule(self, watch: Watch) -> None:
        """Forget a watch's timer; timers of streams that have ended may lie an hour ahead, so sweep now and then."""
        watch.timer = None
        self._stale += 1
        if self._stale > 64 and self._stale * 2 > len(self._timers):
            self._timers = [entry for entry in self._timers if entry[2].timer == entry[0] and not _over(entry[2])]
            heapq.heapify(self._timers)
            self._stale = 0

    def _add_timers(self) -> None:
        while self._new_timers:
            conn = self._new_timers.popleft()
            if conn.timer is not None and conn.timer <= conn.deadline:
                continue
            conn.timer = conn.deadline
            heapq.heappush(self._timers, (conn.deadline, next(self._count), conn))

    def _run_timers(self, now: float) -> None:
        while self._timers and self._timers[0][0] <= now:
            when, _, item = heapq.heappop(self._timers)
            if item.timer != when:
                continue
            item.timer = None
            if isinstance(item, Watch):
                if not item.conn.closed:
                    item.wake()
            elif self._parked.get(item.fd) is item:
                if item.deadline <= now:
                    del self._parked[item.fd]
                    self._expire(item)
                else:
                    self._new_timers.append(item)

    def _expire(self, conn: Connection) -> None:
        """What the connection waited for did not come in time. COMPAT: net/http closes it without a word."""
        if conn.response is None:
            self._close(conn)
            return
        with contextlib.suppress(OSError):  # the application's iterable is closed on a thread of the pool
            socket.socket.shutdown(conn.sock, socket.SHUT_RDWR)
        self._submit(conn)

    # -- watches -----------------------------------------------------------------------------------------------------

    def adopt(self, watch: Watch) -> None:
        """A watch's first turn. The hub's thread only, as all that follows."""
        self._watches[watch.conn.fd] = watch
        if self._draining:
            self._end(watch)

    def listen(self, watch: Watch, interest: int) -> None:
        """Call ``watch.ready`` when the socket is ready for ``interest``."""
        conn = watch.conn
        known, conn.armed = conn.armed, True
        with contextlib.suppress(OSError, ValueError):
            self._poller.arm(conn.fd, interest, once=False, known=known)

    def finished(self, watch: Watch) -> None:
        """The stream has ended and all of it is sent."""
        conn = watch.conn
        self._watches.pop(conn.fd, None)
        self._unschedule(watch)
        watch.close()
        conn.state = State.IDLE
        if not watch.keep_alive or self._draining:
            self.linger(conn)
        elif conn.inbox.buffer:
            self._submit(conn)
        else:
            self.park(conn, time.monotonic() + self._keep_alive)

    def dropped(self, watch: Watch, reason: str) -> None:
        """The client has gone, or must go."""
        self._watches.pop(watch.conn.fd, None)
        if reason:
            self._log.warning("Closing the watch of %s: %s", watch.conn.peer, reason)
        self._unschedule(watch)
        watch.close()
        self._close(watch.conn)

    def _begin_ending(self, per_second: float) -> None:
        self._ending.extend(self._watches.values())
        self._ending_rate, self._ended_at = per_second, time.monotonic()

    def _end_some(self, now: float) -> None:
        count = int((now - self._ended_at) * self._ending_rate)
        if count:
            self._ended_at = now
        for _ in range(min(count, len(self._ending))):
            self._end(self._ending.popleft())

    def _end(self, watch: Watch) -> None:
        try:
            watch.stream.terminate()
        except Exception:
            self._log.exception("A watch stream failed to end")
        watch.wake()

    def _close_idle(self) -> None:
        young = time.monotonic() - self.limits.first_request
        for fd, conn in list(self._parked.items()):
            if not conn.requests and conn.began > young:
                continue
            if conn.state in (State.NEW, State.IDLE) or (conn.state is State.HEAD and not conn.inbox.buffer):
                del self._parked[fd]
                self.linger(conn)

    def _cut(self) -> None:
        for watch in {*self._watches.values(), *self._ready}:
            self.dropped(watch, "")
        for conn in list(self._parked.values()):
            self._close(conn)

    def _close(self, conn: Connection) -> None:
        self._poller.forget(conn.fd)
        conn.close()


def _over(item: Connection | Watch) -> bool:
    return (item.conn if isinstance(item, Watch) else item).closed
