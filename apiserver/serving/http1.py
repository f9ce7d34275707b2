"""HTTP/1.1 on a connection: read a request, call the application, send the answer, and so on.

:meth:`Http1.advance` is the job of the pool's threads. It goes on with a connection where it stopped and ends when the
connection is parked in the hub (nothing to read, no room to write, no next request), given to the hub as a watch, or
closed. A thread waits for a peer for moments only; everything longer is waited for in the hub.
"""

from __future__ import annotations

import contextlib
import io
import select
import socket
import ssl
import time
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Protocol

from gunicorn.http.body import ChunkedReader

from apiserver.api.stream import WatchStream
from apiserver.serving import environ
from apiserver.serving.body import BodyScan
from apiserver.serving.connection import RECORD, Connection, Disconnected, State
from apiserver.serving.request import Heads
from apiserver.serving.response import Response

if TYPE_CHECKING:
    from apiserver.serving.limits import Limits

_PLAIN_HTTP = b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"
_NEW, _IDLE, _HEAD, _BODY, _BUSY, _WRITE = State.NEW, State.IDLE, State.HEAD, State.BODY, State.BUSY, State.WRITE
_RETRY = 4096
"""An incomplete head is parsed again when a line has come, or this many bytes."""


class Parking(Protocol):
    """What the hub does for connections (:class:`apiserver.serving.hub.Hub`)."""

    def park(self, conn: Connection, deadline: float, *, write: bool = False) -> None:
        """Wait until it is readable (or writable), then submit it to the pool; close it at ``deadline``."""

    def watch(self, conn: Connection, stream: WatchStream, head: bytes, *, chunked: bool, keep_alive: bool) -> None:
        """Send ``head`` and then the stream, as it goes."""

    def requeue(self, conn: Connection) -> None:
        """Submit it to the pool again, behind the others."""

    def linger(self, conn: Connection) -> None:
        """Half-close it, and close it when the peer has, soon at the latest."""


class Owner(Protocol):
    """What the worker does for the conversation (:class:`apiserver.serving.worker.HubWorker`)."""

    draining: bool

    def crowded(self) -> bool:
        """Whether connections wait for a thread."""

    def await_next(self, conn: Connection) -> bool:
        """Wait a moment for the next request; whether something came."""

    def begin_request(self, request: Any) -> None:
        """Count it for max_requests, tell the pre_request hook."""

    def failed(self, conn: Connection, ex: BaseException) -> None:
        """Log an exception, and answer it with gunicorn's error page unless an answer has begun."""

    def log_failure(self, request: Any, ex: BaseException) -> None:
        """Log an exception that nobody can be told of."""


class Http1:
    """The conversation on all connections of a worker.

    :param app: the WSGI application.
    :param heads: parses request heads.
    :param context: None without TLS.
    :param template: see :func:`apiserver.serving.environ.worker_template`.
    :param keep_alive: seconds an idle connection is kept; 0 = every answer ends its connection.
    :param observe: called with request, response, environ and the time it took after each request, or None.
    """

    def __init__(
        self,
        app: Callable[..., Any],
        heads: Heads,
        context: ssl.SSLContext | None,
        template: dict[str, Any],
        limits: Limits,
        keep_alive: float,
        parking: Parking,
        owner: Owner,
        observe: Callable[[Any, Response, dict[str, Any], timedelta], None] | None = None,
    ) -> None:
        self._app, self._heads, self._context, self._template = app, heads, context, template
        self._limits, self._keep_alive = limits, keep_alive
        self._parking, self._owner, self._observe = parking, owner, observe

    def _patience(self) -> float:
        """How long this thread may wait for a peer: not at all when connections wait for a thread."""
        return 0.0 if self._owner.crowded() else self._limits.patience

    def advance(self, conn: Connection) -> None:
        """Go on with a connection that the hub saw readable or writable. Never raises."""
        try:
            if conn.state is _NEW and not self._open(conn):
                return
            if conn.response is not None and not self._answer(conn, conn.response):
                return
            while self._serve_one(conn):
                pass
        except Disconnected:
            self._abandon(conn)
        except BaseException as ex:
            self._owner.failed(conn, ex)
            self._end_response(conn)
            self._parking.linger(conn)

    # -- the beginning of a connection -----------------------------------------------------------------------------

    def _open(self, conn: Connection) -> bool:
        if self._context is not None and not self._handshake(conn, self._context):
            return False
        conn.template = environ.connection_template(self._template, conn)
        conn.state = _HEAD
        conn.deadline = time.monotonic() + self._limits.head
        return True

    def _handshake(self, conn: Connection, context: ssl.SSLContext) -> bool:
        """Go on with the TLS handshake; True when it is done. It never holds a thread longer than a moment."""
        try:
            if not isinstance(conn.sock, ssl.SSLSocket):
                conn.sock = context.wrap_socket(conn.sock, server_side=True, do_handshake_on_connect=False)
            while True:
                try:
                    conn.sock.do_handshake()
                    return True
                except ssl.SSLWantReadError:
                    event = select.POLLIN
                except ssl.SSLWantWriteError:
                    event = select.POLLOUT
                if not conn.wait(event, self._patience()):
                    self._parking.park(conn, conn.began + self._limits.handshake, write=event == select.POLLOUT)
                    return False
        except (OSError, ValueError) as ex:
            if getattr(ex, "reason", "") == "HTTP_REQUEST":
                with contextlib.suppress(OSError):
                    socket.socket.send(conn.sock, _PLAIN_HTTP)
            conn.close()
            return False

    # -- one request -----------------------------------------------------------------------------------------------

    def _serve_one(self, conn: Connection) -> bool:
        """Serve a request; True when the next one may follow on this thread."""
        request = conn.request
        if request is None:
            request = self._read_head(conn)
            if request is None:
                return False
        body = self._read_body(conn, request)
        if body is None:
            return False
        conn.state = _BUSY
        self._owner.begin_request(request)
        response = conn.response = Response(request, conn.send_all)
        if not self._keep_alive or self._owner.draining:
            response.close = True
        if request.proxy_protocol_info and conn.template is not None:
            conn.template.update(environ.proxy_environ(request.proxy_protocol_info))
        env = environ.request_environ(conn.template or {}, request, body)
        if self._observe is not None:
            response.observed = env, time.monotonic()
        result = self._app(env, response.start_response)
        response.body = result
        if type(result) is list and len(result) == 1:
            pending: list[bytes | memoryview] = [*response.whole(result[0], self._owner.draining)]
            if len(pending) == 1:  # the ordinary answer, in one send
                sent = conn.send(pending[0])
                if sent == len(pending[0]):
                    return self._answered(conn, response)
                pending[0] = memoryview(pending[0])[sent:]
            response.pending = pending
        elif isinstance(result, WatchStream):
            return self._hand_over(conn, response, result)
        else:
            response.pieces = iter(result)
        return self._answer(conn, response)

    def _hand_over(self, conn: Connection, response: Response, stream: WatchStream) -> bool:
        """Give a watch to the hub; the thread is free. Its ``close`` is the hub's from here on."""
        if response.bodiless:
            response.pieces = iter(())
            return self._answer(conn, response)
        response.close = response.close or not _consumed(conn.request)
        head = response.head(self._owner.draining)
        response.body = None
        self._end_response(conn)
        self._parking.watch(conn, stream, head, chunked=response.chunked, keep_alive=not response.close)
        return False

    def _read_head(self, conn: Connection) -> Any:
        """The next request; None when its head is not there yet and the connection has been parked."""
        buffer, tried, until = conn.inbox.buffer, conn.tried, 0.0
        while True:
            size = len(buffer)
            if size > tried and (not tried or size - tried > _RETRY or buffer.find(b"\n", tried) >= 0):
                request = self._heads.read(conn)
                if request is not None:
                    conn.tried = 0
                    return self._begun(conn, request)
                tried = size
            now = time.monotonic()
            if size and conn.state is not _HEAD:
                conn.state, conn.deadline = _HEAD, now + self._limits.head
            if size and not until:
                until = now + self._patience()
            if not conn.fill(until - now if size else 0.0):
                break
        conn.tried = tried
        self._parking.park(conn, conn.deadline)
        return None

    def _begun(self, conn: Connection, request: Any) -> Any:
        conn.requests += 1
        conn.request = request
        if request.body is not None:
            conn.scan = BodyScan(request.body.reader)
            conn.deadline = time.monotonic() + self._limits.body
        if request._expected_100_continue:
            conn.send_all(b"HTTP/1.1 100 Continue\r\n\r\n")
        return request

    def _read_body(self, conn: Connection, request: Any) -> Any:
        """The ``wsgi.input``; None when the body is not there yet and the connection has been parked."""
        scan, buffer = conn.scan, conn.inbox.buffer
        if scan is None:
            return io.BytesIO()
        until, most = 0.0, self._limits.prefetch
        # A body that says it is too large is not waited for: the application can refuse it by what it says.
        while not scan.complete(buffer) and len(buffer) < most and not scan.exceeds(most):
            now = time.monotonic()
            until = until or now + self._patience()
            conn.state = _BODY
            if not conn.fill(until - now, min(max(scan.missing(buffer), RECORD), 1 << 18)):
                self._parking.park(conn, conn.deadline)
                return None
        conn.scan = None
        if not scan.done:
            return request.body
        conn.inbox.sealed = True
        try:
            return io.BytesIO(request.body.read())
        finally:
            conn.inbox.sealed = False

    # -- the answer --------------------------------------------------------------------------------------------------

    def _answer(self, conn: Connection, response: Response) -> bool:
        """Send what is left of an answer; True when the next request may follow on this thread."""
        draining = self._owner.draining
        pieces = response.pieces
        if response.pending and not self._flush(conn, response):
            return False
        while pieces is not None:
            piece = next(pieces, None)
            if piece is None:
                break
            response.pending = [*response.framed(piece, draining)] if piece else None
            if response.pending and not self._flush(conn, response):
                return False
            if response.bodiless and response.head_sent:
                break
        if pieces is not None:
            response.pieces = None
            head = b"" if response.head_sent else response.head(draining)
            last = head + response.end()
            if last:
                response.pending = [last]
                if not self._flush(conn, response):
                    return False
        return self._answered(conn, response)

    def _flush(self, conn: Connection, response: Response) -> bool:
        """Send the pending bytes; False when the reader is slow and the connection has been parked."""
        pending = response.pending
        while pending:
            data = pending[0]
            sent = conn.send(data)
            if sent == len(data):
                del pending[0]
            elif sent:
                pending[0] = memoryview(data)[sent:]
            elif not conn.wait(select.POLLOUT, self._patience()):
                conn.state = _WRITE
                self._parking.park(conn, time.monotonic() + self._limits.write_stall, write=True)
                return False
        return True

    def _answered(self, conn: Connection, response: Response) -> bool:
        consumed = _consumed(conn.request)
        self._end_response(conn)
        if response.close or not response.complete or not consumed:
            self._parking.linger(conn)
            return False
        conn.state = _IDLE
        if conn.inbox.buffer:
            if self._owner.crowded():
                self._parking.requeue(conn)
                return False
            return True
        if self._owner.await_next(conn):
            return True
        self._parking.park(conn, time.monotonic() + self._keep_alive)
        return False

    def _end_response(self, conn: Connection) -> None:
        """Close the application's iterable, once, and forget the request."""
        response, request = conn.response, conn.request
        conn.response = conn.request = conn.scan = None
        if response is None:
            return
        close = getattr(response.body, "close", None)
        if close is not None:
            try:
                close()
            except Exception as ex:
                self._owner.log_failure(request, ex)
        if self._observe is not None and response.observed is not None:
            env, began = response.observed
            self._observe(request, response, env, timedelta(seconds=time.monotonic() - began))

    def _abandon(self, conn: Connection) -> None:
        """The peer has gone."""
        self._end_response(conn)
        conn.close()


def _consumed(request: Any) -> bool:
    """Whether nothing of the request's body is left on the connection, so that the next request begins there."""
    body = request.body
    if body is None:
        return True
    if body.failed:
        return False
    return body.reader.parser is None if isinstance(body.reader, ChunkedReader) else body.reader.length == 0
