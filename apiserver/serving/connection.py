"""One client connection: its non-blocking socket, with or without TLS, and what is known of its conversation.

Made by the worker at accept. At any moment it belongs to one thread of the pool, or to the hub (parked or watched);
it is handed on, never shared.
"""

from __future__ import annotations

import contextlib
import enum
import select
import socket
import ssl
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from apiserver.serving.inbox import Inbox

if TYPE_CHECKING:
    from apiserver.serving.body import BodyScan
    from apiserver.serving.response import Response

RECORD = 16384
"""Most bytes of a TLS record. Reads of this size never leave anything in the TLS library's own buffer."""


_CLOSED = socket.socket()
_CLOSED.close()


class Disconnected(Exception):
    """The peer has gone, or takes or sends nothing for too long. The connection is of no use any more."""


class State(enum.Enum):
    """What a connection waits for when it is parked."""

    NEW = "new"
    IDLE = "idle"
    HEAD = "head"
    BODY = "body"
    BUSY = "busy"
    WRITE = "write"
    WATCH = "watch"
    CLOSING = "closing"

    @property
    def in_flight(self) -> bool:
        """A request has begun and its answer has not ended; open watches do not count."""
        return self in (State.BODY, State.BUSY, State.WRITE)


class Connection:
    """A client connection.

    ``peer`` and ``server`` are socket addresses, ``template`` the environ that every request of the connection starts
    from, ``tried`` how much of an incomplete head has been parsed. ``deadline`` (monotonic) is when the hub closes the
    connection if what ``state`` waits for has not come; ``timer`` is when the hub looks next.
    """

    __slots__ = (
        "armed",
        "began",
        "closed",
        "deadline",
        "fd",
        "inbox",
        "on_close",
        "peer",
        "poll",
        "request",
        "requests",
        "response",
        "scan",
        "server",
        "sock",
        "state",
        "template",
        "timer",
        "tried",
        "write_seconds",
    )

    def __init__(
        self, sock: socket.socket, peer: Any, server: Any, on_close: Callable[[Connection], None], write_seconds: float
    ) -> None:
        """
        :param sock: accepted and non-blocking.
        :param on_close: called once, when the socket has been closed.
        :param write_seconds: how long :meth:`send_all` waits for a reader that takes nothing.
        """
        self.sock, self.peer, self.server, self.on_close = sock, peer, server, on_close
        self.fd = sock.fileno()
        self.inbox = Inbox(self._receive_waiting)
        self.template: dict[str, Any] | None = None
        self.state = State.NEW
        self.request: Any = None
        self.response: Response | None = None
        self.scan: BodyScan | None = None
        self.tried = 0
        self.requests = 0
        self.began = time.monotonic()
        self.deadline = 0.0
        self.timer: float | None = None
        self.armed = False
        self.closed = False
        self.poll: Any = None
        self.write_seconds = write_seconds

    # -- reading -------------------------------------------------------------------------------------------------

    def receive(self, size: int = RECORD) -> bytes | None:
        """What has arrived, at most ``size`` bytes: None when nothing has, ``b""`` when nothing will any more."""
        try:
            return self.sock.recv(size)
        except (BlockingIOError, InterruptedError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return None
        except OSError:
            return b""

    def fill(self, patience: float, size: int = RECORD) -> bool:
        """Move what arrives into the inbox, waiting at most ``patience`` seconds. False: nothing came.

        :raises Disconnected: nothing will come any more.
        """
        data = self.receive(size)
        if data is None and self.wait(select.POLLIN, patience):
            data = self.receive(size)
        if data is None:
            return False
        if not data:
            raise Disconnected
        self.inbox.buffer += data
        return True

    def _receive_waiting(self, size: int) -> bytes:
        """For bodies that the application reads itself: wait, until the deadline."""
        size = min(max(size, RECORD), 1 << 18)
        while True:
            data = self.receive(size)
            if data is not None:
                return data
            left = self.deadline - time.monotonic()
            if left <= 0:
                raise Disconnected("the request's body took too long")
            self.wait(select.POLLIN, min(left, 1.0))

    # -- writing -------------------------------------------------------------------------------------------------

    def send(self, data: bytes | memoryview) -> int:
        """Send what the socket takes now; the number of bytes, 0 when it takes none.

        After 0, the next call must begin with the same bytes (TLS has encrypted them already).

        :raises Disconnected: the peer has gone.
        """
        try:
            return self.sock.send(data)
        except (BlockingIOError, InterruptedError, ssl.SSLWantWriteError, ssl.SSLWantReadError):
            return 0
        except OSError as ex:
            raise Disconnected from ex

    def send_all(self, data: bytes) -> None:
        """Send all, waiting for a slow reader. For small things only.

        :raises Disconnected: the peer has gone, or takes nothing.
        """
        sent = self.send(data)
        while sent < len(data):
            if not self.wait(select.POLLOUT, self.write_seconds):
                raise Disconnected("the reader takes nothing")
            sent += self.send(memoryview(data)[sent:])

    def sendall(self, data: bytes) -> None:
        """The name under which gunicorn's error pages write."""
        self.send_all(data)

    # -- waiting and ending --------------------------------------------------------------------------------------

    def wait(self, event: int, seconds: float) -> bool:
        """Wait until the socket is readable or writable (``select.POLLIN``, ``POLLOUT``), or the peer has gone."""
        if seconds <= 0:
            return False
        poll = select.poll()
        poll.register(self.fd, event)
        return bool(poll.poll(seconds * 1000))

    def gettimeout(self) -> float:
        """For gunicorn: the socket never blocks."""
        return 0.0

    def say_goodbye(self) -> None:
        """Tell the peer that nothing more will come, and still read: TLS close_notify, then FIN."""
        with contextlib.suppress(OSError, ValueError):
            if isinstance(self.sock, ssl.SSLSocket):
                self.sock.unwrap()
        with contextlib.suppress(OSError):
            socket.socket.shutdown(self.sock, socket.SHUT_WR)

    def close(self) -> None:
        """Close the socket. Safe to call twice."""
        if self.closed:
            return
        self.closed = True
        with contextlib.suppress(OSError):
            self.sock.close()
        self.sock = _CLOSED  # timers may still hold this object: let the TLS state go
        self.template = None
        self.on_close(self)
