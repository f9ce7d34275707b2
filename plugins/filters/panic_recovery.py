"""An exception that nobody caught becomes a 500, and a log line with the stack.

When a body fails halfway the server can only cut the connection; that is its own doing.

COMPAT: server/filters WithPanicRecovery
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable
from typing import Any

from apiserver import hookimpl
from apiserver.api import logs
from apiserver.api.errors import PlainError
from apiserver.api.request import ENVIRON_KEY
from apiserver.api.server import Filter, WsgiApp

LOG = logging.getLogger(__name__)
PANICKED = PlainError(500, "This request caused apiserver to panic. Look in the logs for details.")


def wrap(inner: WsgiApp) -> WsgiApp:
    """The filter."""

    def app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        try:
            return inner(environ, start_response)
        except Exception:
            problem = sys.exc_info()
            request = environ[ENVIRON_KEY]
            logs.error(
                LOG, "apiserver panic'd", exc_info=problem, method=request.method, URI=request.uri,
                auditID=request.audit_id,
            )  # fmt: skip

            # The answer may have been begun, but nothing of it is on its way yet: exc_info says to forget it. A server
            # that did send the head raises here, and the connection is cut.
            def start(status: str, headers: list[tuple[str, str]]) -> Any:
                return start_response(status, headers, problem)

            return PANICKED(environ, start)

    return app


@hookimpl(priority=200, requires="audit-init")
def apiserver_filter() -> Filter:
    """The filter."""
    return wrap
