"""An answer that has not begun when the deadline has passed becomes 504.

The work itself is not interrupted: whatever blocks (the store, the watch cache, locks) looks at
``Request.remaining()`` and raises ``Timeout``; this filter answers what nobody answered in time.

COMPAT: server/filters WithTimeoutForNonLongRunningRequests
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from apiserver import hookimpl
from apiserver.api.errors import Timeout
from apiserver.api.request import ENVIRON_KEY
from apiserver.api.server import Filter, WsgiApp

TEXT = "request did not complete within the allotted timeout"


def _instead(error: Timeout, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """Answer with ``error``, whatever head was announced before: nothing of it is on its way yet."""
    replaced = (Timeout, error, None)

    def start(status: str, headers: list[tuple[str, str]]) -> Any:
        return start_response(status, headers, replaced)

    return error(environ, start)


def wrap(inner: WsgiApp) -> WsgiApp:
    """The filter."""
    now = time.monotonic

    def app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        deadline = environ[ENVIRON_KEY].deadline
        if deadline is None:
            return inner(environ, start_response)
        try:
            result = inner(environ, start_response)
        except Timeout as error:
            return _instead(error, environ, start_response)
        if now() <= deadline:
            return result
        if hasattr(result, "close"):
            result.close()
        return _instead(Timeout(TEXT), environ, start_response)

    return app


@hookimpl(priority=1600, requires=["audit-init", "request-deadline"])
def apiserver_filter() -> Filter:
    """The filter."""
    return wrap
