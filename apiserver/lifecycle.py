"""The life of a server in one process: what runs after it listens, what happens in which order when it stops.

:mod:`apiserver.server` makes one, starts it after the fork and stops it in two steps: :meth:`Lifecycle.begin_shutdown`
while everything is still served, :meth:`Lifecycle.close` when nothing is left. Filters ask it whether requests may
still come. Signals are set once and stay set, in this order:

    MuxAndDiscoveryComplete, HasBeenReady | ShutdownInitiated, AfterShutdownDelayDuration, PreShutdownHooksStopped,
    NotAcceptingNewRequest, InFlightRequestsDrained, HTTPServerStoppedListening

COMPAT: k8s.io/apiserver/pkg/server lifecycleSignals, GenericAPIServer.RunWithContext, hooks.go
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NoReturn

from apiserver.api import logs
from apiserver.api.health import HealthCheck

if TYPE_CHECKING:
    from apiserver.server import Server

LOG = logging.getLogger(__name__)
SIGNALS = (
    "MuxAndDiscoveryComplete",
    "HasBeenReady",
    "ShutdownInitiated",
    "AfterShutdownDelayDuration",
    "PreShutdownHooksStopped",
    "NotAcceptingNewRequest",
    "InFlightRequestsDrained",
    "HTTPServerStoppedListening",
)
STARTING = "start-plugins"
"""The post-start hook that calls the plugins' ``apiserver_started``."""
READY_ONLY = frozenset(("readyz",))
FATAL_STATUS = 3
"""Exit status of a worker that can't do its work: gunicorn's master stops instead of trying again."""
PAUSE, LONGEST_PAUSE = 1.0, 30.0
"""Seconds before a failed background loop is called again, doubled each time."""
JOIN = 5.0
"""Seconds that stopping waits for background loops."""
LOG_STUCK = 1.0
"""Seconds after which a log handler that nobody can use counts as stuck."""


def end_process(text: str) -> NoReturn:
    """Log ``text`` and end this process at once, as klog.Fatal does."""
    LOG.critical("%s", text)
    logging.shutdown()
    os._exit(FATAL_STATUS)


class Lifecycle:
    """See the module. All methods may be called from any thread."""

    def __init__(self, server: Server, fatal: Callable[[str], object] = end_process) -> None:
        """:param fatal: called with a text when the process has to end."""
        self._server = server
        self._fatal = fatal
        self._signals: frozenset[str] = frozenset()
        self._lock = threading.Condition()
        self._started = False
        self._hooks: dict[str, str] = {STARTING: "not finished"}
        self._waiting: list[tuple[str, Callable[[], None]]] = []
        self._loops: list[threading.Thread] = []
        self._stop = threading.Event()
        self._requests = 0
        self._watches = 0
        self._draining = False

    # -- signals ----------------------------------------------------------------------------------------------------

    def is_set(self, signal: str) -> bool:
        """Whether a signal has been given."""
        return signal in self._signals

    def _signal(self, name: str) -> None:
        with self._lock:
            if name in self._signals:
                return
            self._signals |= {name}
        kind = "startup" if name in SIGNALS[:2] else "shutdown"
        text = "[graceful-termination] shutdown event" if kind == "shutdown" else "[startup] event"
        logs.info(LOG, text, name=name)

    def been_ready(self) -> None:
        """``/readyz`` has passed."""
        if not self.is_set("HasBeenReady"):
            self._signal("HasBeenReady")

    # -- start ------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Run post-start hooks and background loops, each in a thread of its own; returns at once."""
        with self._lock:
            self._started = True
            waiting, self._waiting = self._waiting, []
            loops = tuple(self._loops)
        self._run_hook(STARTING, self._start_plugins)
        for name, run in waiting:
            self._run_hook(name, run)
        for loop in loops:
            loop.start()

    def _start_plugins(self) -> None:
        for _ in self._server.plugins.call_each("apiserver_started", self._server):
            pass
        self._signal("MuxAndDiscoveryComplete")

    def post_start_hook(self, name: str, run: Callable[[], None]) -> None:
        """See :meth:`apiserver.api.server.Server.post_start_hook`. :raises ValueError: the name is taken."""
        with self._lock:
            if name in self._hooks:
                raise ValueError(f"unable to add {name!r} because it was already registered")
            self._hooks = {**self._hooks, name: "not finished"}
            if not self._started:
                self._waiting.append((name, run))
                return
        self._run_hook(name, run)

    def _run_hook(self, name: str, run: Callable[[], None]) -> None:
        def hook() -> None:
            try:
                run()
            except Exception as problem:
                if self._stop.is_set():
                    return
                LOG.exception("PostStartHook %r", name)
                self._fatal(f'PostStartHook "{name}" failed: {problem}')
                return
            with self._lock:
                self._hooks = {**self._hooks, name: ""}

        threading.Thread(target=hook, name=f"poststarthook/{name}", daemon=True).start()

    def background(self, name: str, run: Callable[[Callable[[float], bool]], None]) -> None:
        """See :meth:`apiserver.api.server.Server.background`."""

        def wait(seconds: float) -> bool:
            return not self._stop.wait(seconds)

        def loop() -> None:
            pause = PAUSE
            while not self._stop.is_set():
                try:
                    run(wait)
                    return
                except Exception:
                    if not self._stop.is_set():
                        LOG.exception("Background loop %r failed and will be called again", name)
                wait(pause)
                pause = min(pause * 2, LONGEST_PAUSE)

        thread = threading.Thread(target=loop, name=name, daemon=True)
        with self._lock:
            self._loops.append(thread)
            started = self._started
        if started:
            thread.start()

    # -- requests ---------------------------------------------------------------------------------------------------

    def request_started(self) -> bool:
        """Count a request; False when it must be refused."""
        with self._lock:
            if self._draining:
                return False
            self._requests += 1
            return True

    def request_finished(self) -> None:
        """The counterpart of :meth:`request_started`."""
        with self._lock:
            self._requests -= 1
            if self._draining:
                self._lock.notify_all()

    def watch_started(self) -> bool:
        """Count a watch; False when it must be refused."""
        with self._lock:
            if "NotAcceptingNewRequest" in self._signals:
                return False
            self._watches += 1
            return True

    def watch_finished(self) -> None:
        """The counterpart of :meth:`watch_started`."""
        with self._lock:
            self._watches -= 1

    # -- stop -------------------------------------------------------------------------------------------------------

    def begin_shutdown(self) -> None:
        """From the signal to stop to the moment when listening may end. See :class:`apiserver.api.serving`.

        Upstream refuses from here on what still comes on open connections. We answer it, and the worker ends each
        connection with the answer: so a reload, in which other processes take over the port, refuses nobody.
        """
        self._signal("ShutdownInitiated")
        hooks = threading.Thread(target=self._stop_plugins, name="pre-shutdown hooks", daemon=True)
        hooks.start()
        time.sleep(self._server.config.seconds("shutdown-delay-duration"))
        self._signal("AfterShutdownDelayDuration")
        hooks.join()
        self._signal("NotAcceptingNewRequest")
        if self._server.config.boolean("shutdown-send-retry-after"):
            # Listening goes on while the last requests are answered, so that new ones hear to come back later.
            self._drain(self._server.config.seconds("request-timeout"))

    def _stop_plugins(self) -> None:
        for plugin, stopping in self._server.plugins.calls("apiserver_stopping"):
            try:
                stopping(self._server)
            except Exception:
                LOG.exception("PreShutdownHook %r failed", plugin.name)
        self._signal("PreShutdownHooksStopped")

    def _drain(self, seconds: float) -> None:
        """Refuse new requests and wait for those that are being answered."""
        with self._lock:
            self._draining = True
            self._lock.wait_for(lambda: not self._requests, seconds)
        self._signal("InFlightRequestsDrained")

    def close(self) -> None:
        """No request is left, and none is taken any more: end background loops. See :class:`apiserver.api.serving`."""
        with self._lock:
            self._draining = True
        self._signal("InFlightRequestsDrained")
        self._signal("HTTPServerStoppedListening")
        self._stop.set()
        ends = time.monotonic() + JOIN
        for loop in self._loops:
            if loop.is_alive():
                loop.join(max(ends - time.monotonic(), 0))

    # -- health -----------------------------------------------------------------------------------------------------

    def health_checks(self) -> Sequence[HealthCheck]:
        """The checks of the core that every server has."""
        server = self._server
        return (
            HealthCheck("ping", lambda: None),
            HealthCheck("log", _check_log),
            HealthCheck("etcd", server.storage.check),
            HealthCheck("etcd-readiness", server.storage.check, READY_ONLY),
            HealthCheck("informer-sync", self._check_feed, READY_ONLY),
            HealthCheck("shutdown", self._check_shutdown, READY_ONLY),
        )

    def hook_checks(self) -> Sequence[HealthCheck]:
        """The checks of the post-start hooks that are known by now."""
        return [HealthCheck(f"poststarthook/{name}", partial(self._check_hook, name)) for name in self._hooks]

    def _check_hook(self, name: str) -> None:
        if problem := self._hooks[name]:
            raise RuntimeError(problem)

    def _check_feed(self) -> None:
        if not self._server.feed.wait_started(0):
            raise RuntimeError("the watch on the store has not begun")

    def _check_shutdown(self) -> None:
        if self.is_set("ShutdownInitiated"):
            raise RuntimeError("process is shutting down")


def _check_log() -> None:
    """COMPAT: healthz.LogHealthz: fails when log lines can't be written for long."""
    for handler in logging.getLogger().handlers:
        lock = handler.lock
        if lock is not None:
            if not lock.acquire(timeout=LOG_STUCK):
                raise RuntimeError("logging blocked")
            lock.release()
