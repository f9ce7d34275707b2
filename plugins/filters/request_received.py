"""Notes when the request arrived. Latencies, deadlines and audit events count from here.

COMPAT: endpoints/filters WithRequestReceivedTimestamp
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from apiserver import hookimpl
from apiserver.api.request import ENVIRON_KEY
from apiserver.api.server import Filter, WsgiApp


def wrap(inner: WsgiApp) -> WsgiApp:
    """The filter."""
    monotonic, wall = time.monotonic, time.time

    def app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        request = environ[ENVIRON_KEY]
        request.received = monotonic()
        request.received_at = wall()
        return inner(environ, start_response)

    return app


@hookimpl(priority=400, requires="audit-init")
def apiserver_filter() -> Filter:
    """The filter."""
    return wrap
