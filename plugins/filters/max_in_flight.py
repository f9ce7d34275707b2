"""A limit on requests that are answered at the same time, one for reads and one for writes.

Long-running requests do not count, and ``system:masters`` always get an answer.

COMPAT: server/filters WithMaxInFlightLimit
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from typing import Any

from apiserver import hookimpl
from apiserver.api import metrics
from apiserver.api.auth import MASTERS
from apiserver.api.errors import PlainError
from apiserver.api.request import ENVIRON_KEY, Request
from apiserver.api.server import Filter, Server, WsgiApp
from apiserver.api.settings import Setting

READ_ONLY_VERBS = frozenset(("get", "list", "watch"))
REFUSAL = PlainError(429, "Too many requests, please try again later.", [("Retry-After", "1")])


class Gate:
    """Lets at most ``limit`` requests in at a time; 0 = any number."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.inside = 0
        self._lock = threading.Lock()

    def enter(self) -> bool:
        """Take a place. False = there is none."""
        with self._lock:
            if 0 < self.limit <= self.inside:
                return False
            self.inside += 1
            return True

    def leave(self, _request: Request) -> None:
        """Give the place back."""
        with self._lock:
            self.inside -= 1


@hookimpl
def apiserver_settings() -> Iterator[Setting]:
    """The two limits."""
    yield Setting(
        "max-requests-inflight",
        "int",
        400,
        group="Requests",
        help="Most requests that only read, watches and the like not counted, answered at the same time. 0 = no limit.",
    )
    yield Setting(
        "max-mutating-requests-inflight",
        "int",
        200,
        group="Requests",
        help="Most requests that change something answered at the same time. 0 = no limit.",
    )


@hookimpl(priority=2300, after="authentication", requires=["audit-init", "request-info"])
def apiserver_filter(server: Server) -> Filter:
    """The filter."""
    readers = Gate(server.config.integer("max-requests-inflight"))
    writers = Gate(server.config.integer("max-mutating-requests-inflight"))
    metrics.current_inflight_requests("readOnly", lambda: readers.inside)
    metrics.current_inflight_requests("mutating", lambda: writers.inside)

    def wrap(inner: WsgiApp) -> WsgiApp:
        def app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
            request = environ[ENVIRON_KEY]
            if request.info.long_running:
                return inner(environ, start_response)
            gate = readers if request.info.verb in READ_ONLY_VERBS else writers
            if gate.enter():
                request.on_end.append(gate.leave)
            elif request.user is None or MASTERS not in request.user.groups:
                return REFUSAL(environ, start_response)
            return inner(environ, start_response)

        return app

    return wrap
