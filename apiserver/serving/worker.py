"""``HubWorker``: the gunicorn worker class. gunicorn's master forks it; it serves with threads, a pool and the hub.

The main thread accepts connections, tells the master that the worker lives, and conducts the shutdown. Everything
else happens in :mod:`apiserver.serving.http1` (pool threads) and :mod:`apiserver.serving.hub`. Any WSGI application
runs under it; ``gunicorn -k apiserver.serving.worker.HubWorker module:app`` is enough.
"""

from __future__ import annotations

import contextlib
import os
import resource
import select
import socket
import threading
import time
import weakref
from datetime import timedelta
from typing import Any, ClassVar

from gunicorn.config import PostRequest, PreRequest
from gunicorn.sock import ssl_context
from gunicorn.workers.base import Worker

from apiserver.serving import affinity, environ
from apiserver.serving.connection import Connection, Disconnected
from apiserver.serving.http1 import Http1
from apiserver.serving.hub import Hub
from apiserver.serving.limits import Limits
from apiserver.serving.pool import Pool
from apiserver.serving.request import Heads
from apiserver.serving.response import Response

ACCEPTS = 64
"""Connections accepted in one round before the worker looks after itself again."""
TERMINATIONS = 200.0
"""Watches ended a second during shutdown, at least. COMPAT: rate limit of ShutdownWatchTerminationGracePeriod."""


class HubWorker(Worker):  # type: ignore[misc]  # gunicorn has no types
    """A worker process.

    Settings that gunicorn has no name for are class attributes; :func:`configured` makes a subclass with others.
    """

    limits = Limits()
    pinned = True

    _in_master: ClassVar[weakref.WeakSet[HubWorker]] = weakref.WeakSet()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.core: int | None = None
        if self.pinned:
            self.core = affinity.choose_core(worker.core for worker in self._in_master if worker.core is not None)
        self._in_master.add(self)
        self.draining = False
        self.connections: set[Connection] = set()

    # -- start -----------------------------------------------------------------------------------------------------

    def init_process(self) -> None:
        """In the new process: claim a core and file descriptors, then gunicorn's own part, which calls :meth:`run`."""
        if self.core is not None:
            try:
                affinity.pin(self.core)
            except OSError as ex:
                self.log.warning("Not pinned to core %d: %s", self.core, ex)
        _raise_file_limit()
        super().init_process()

    def _prepare(self) -> None:
        log = self.log.error_log
        self.pool: Pool[Connection] = Pool(self._advance, self.cfg.threads, self.limits.thread_idle, log)
        self.hub = Hub(self.pool.submit, self.limits, self.cfg.keepalive, log)
        self._http = Http1(
            self.wsgi,
            Heads(self.cfg),
            ssl_context(self.cfg) if self.cfg.is_ssl else None,
            environ.worker_template(self.cfg, os.environ.get("SCRIPT_NAME", "")),
            self.limits,
            self.cfg.keepalive,
            self.hub,
            self,
            self._observe if self._observed() else None,
        )
        self._hooked = self.cfg.pre_request is not PreRequest.default
        self.hub.start()

    def _observed(self) -> bool:
        logs = self.cfg.accesslog or self.cfg.logconfig or self.cfg.logconfig_dict or self.cfg.logconfig_json
        return bool(logs or self.cfg.syslog or self.cfg.statsd_host or self.cfg.post_request is not PostRequest.default)

    # -- the main thread ---------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Serve until told to stop, then stop gracefully. Called by gunicorn on the main thread."""
        self._prepare()
        self._poll = select.poll()
        self._poll.register(self.PIPE[0], select.POLLIN)
        self._listening = False
        self._listeners = {listener.fileno(): listener for listener in self.sockets}
        for listener in self.sockets:
            listener.setblocking(False)
            _keep_alive_probes(listener)
        while self.alive:
            self._round(accepting=True)
            if self.ppid != os.getppid():
                self.log.info("Parent changed, shutting down: %s", self)
                break
        self._shut_down()

    def _round(self, *, accepting: bool, seconds: float = 1.0) -> None:
        """Tell the master that we live, accept what there is, wait at most ``seconds``."""
        if self.hub.alive and time.monotonic() - self.hub.beat < max(self.timeout, 2.0):
            self.notify()
        self._listen(accepting and len(self.connections) < self.cfg.worker_connections)
        for fd, _ in self._poll.poll(seconds * 1000):
            if fd == self.PIPE[0]:
                with contextlib.suppress(BlockingIOError):
                    os.read(fd, 4096)
            elif fd in self._listeners:
                self._accept(self._listeners[fd])

    def _listen(self, wanted: bool) -> None:
        if wanted == self._listening:
            return
        self._listening = wanted
        for fd in self._listeners:
            if wanted:
                self._poll.register(fd, select.POLLIN)
            else:
                self._poll.unregister(fd)

    def _accept(self, listener: Any) -> None:
        for _ in range(min(ACCEPTS, self.cfg.worker_connections - len(self.connections))):
            try:
                sock, peer = listener.accept()
            except (BlockingIOError, ConnectionAbortedError, InterruptedError):
                return
            except OSError as ex:
                self.log.error("Cannot accept: %s", ex)
                time.sleep(0.05)
                return
            sock.setblocking(False)
            conn = Connection(sock, peer, listener.getsockname(), self.connections.discard, self.limits.write_stall)
            self.connections.add(conn)
            self.hub.park(conn, conn.began + self.limits.handshake)

    def handle_exit(self, sig: int, frame: Any) -> None:
        """SIGTERM: stop gracefully. The signal's byte in the wake-up pipe ends the wait of the main thread."""
        self.alive = False

    # -- shutdown ------------------------------------------------------------------------------------------------------

    def _shut_down(self) -> None:
        """Stop in phases, see :mod:`apiserver.api.serving`. gunicorn's master kills us after graceful_timeout."""
        deadline = time.monotonic() + max(self.cfg.graceful_timeout - 1.0, 0.5)
        self._begin_shutdown(deadline)
        self._listen(False)
        for listener in self.sockets:
            listener.close()
        self.draining = True
        self._wait_until(deadline - 1.0, lambda: not self._requests_in_flight())
        self.hub.close_idle()
        left = max(deadline - time.monotonic() - 1.0, 0.5)
        self.hub.terminate(max(TERMINATIONS, self.hub.watching / left * 2))
        self._wait_until(deadline, self._deserted)
        close = getattr(self.wsgi, "close", None)
        if close is not None:
            self._guarded(close)
        self.hub.stop(0.5)

    def _begin_shutdown(self, deadline: float) -> None:
        begin = getattr(self.wsgi, "begin_shutdown", None)
        if begin is None:
            return
        thread = threading.Thread(target=self._guarded, args=(begin,), name="begin-shutdown", daemon=True)
        thread.start()
        while thread.is_alive() and time.monotonic() < deadline:
            self._round(accepting=True, seconds=0.02)

    def _wait_until(self, deadline: float, done: Any) -> None:
        while not done() and time.monotonic() < deadline:
            self._round(accepting=False, seconds=0.02)

    def _deserted(self) -> bool:
        """Whether the last connection is closed; those that are idle by now are."""
        self.hub.close_idle()
        return not self.connections

    def _requests_in_flight(self) -> bool:
        return any(conn.state.in_flight for conn in list(self.connections))

    def _guarded(self, function: Any) -> None:
        try:
            function()
        except Exception:
            self.log.exception("The application's %s failed", getattr(function, "__name__", function))

    # -- for the conversation, on pool threads ----------------------------------------------------------------------

    def _advance(self, conn: Connection) -> None:
        self._http.advance(conn)

    def crowded(self) -> bool:
        """Whether connections wait for a thread."""
        return bool(self.pool.backlog)

    def await_next(self, conn: Connection) -> bool:
        """Keep this thread for the connection's next request a moment, unless another connection needs it."""
        if self.pool.backlog or self.draining:
            return False
        poll = conn.poll
        if poll is None:
            poll = conn.poll = select.poll()
            poll.register(conn.fd, select.POLLIN)
            poll.register(self.pool.steal_fd, select.POLLIN)
        until = 0.0
        while True:
            events = poll.poll(self.limits.linger * 1000)
            if not events:
                return False
            if any(fd == conn.fd for fd, _ in events):
                return True
            now = time.monotonic()
            until = until or now + self.limits.linger
            if self.pool.stolen() or now >= until:
                return False

    def begin_request(self, request: Any) -> None:
        """gunicorn's pre_request hook and max_requests: the worker ends after so many, the master starts a new one."""
        if self._hooked:
            self.cfg.pre_request(self, request)
        self.nr += 1
        if self.nr >= self.max_requests and self.alive:
            self.log.info("Autorestarting worker after current request.")
            self.alive = False
            os.write(self.PIPE[1], b"x")

    def failed(self, conn: Connection, ex: BaseException) -> None:
        """Log what went wrong with a request; answer it with gunicorn's page for it, if no answer has begun."""
        if conn.response is not None and conn.response.head_sent:
            self.log_failure(conn.request, ex)
            return
        conn.write_seconds = min(conn.write_seconds, self.limits.closing)
        with contextlib.suppress(Disconnected):
            self.handle_error(conn.request, conn, conn.peer, ex)

    def log_failure(self, request: Any, ex: BaseException) -> None:
        """Log an exception that nobody can be told of."""
        self.log.error("Error handling request %s", getattr(request, "uri", ""), exc_info=ex)

    def _observe(self, request: Any, response: Response, env: dict[str, Any], took: timedelta) -> None:
        self.log.access(response, request, env, took)
        try:
            self.cfg.post_request(self, request, env, response)
        except Exception:
            self.log.exception("Exception in post_request hook")


def configured(*, pinned: bool, limits: Limits) -> type[HubWorker]:
    """The worker class with other settings.

    :param pinned: whether each worker process stays on one core.
    """
    return type("HubWorker", (HubWorker,), {"pinned": pinned, "limits": limits, "__module__": __name__})


def _keep_alive_probes(listener: Any) -> None:
    """Accepted sockets inherit it: find out when a client is gone without a word. COMPAT: tcpKeepAliveListener"""
    with contextlib.suppress(OSError, AttributeError):
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 180)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 180)


def _raise_file_limit() -> None:
    """One descriptor per connection: take all that the system allows, as Go's runtime does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
