"""While the server stops, sends clients away with 429 instead of letting them run into a closed port.

Only with ``--shutdown-send-retry-after``. Health checks, metrics and the server itself are still served.

COMPAT: server/filters WithRetryAfter
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from apiserver import hookimpl
from apiserver.api.errors import PlainError
from apiserver.api.server import Filter, Server, WsgiApp

SIGNAL = "NotAcceptingNewRequest"
EXEMPT_PATHS = ("/readyz", "/livez", "/healthz", "/metrics")
EXEMPT_AGENT = "kube-apiserver/"
REFUSAL = PlainError(
    429,
    "The apiserver is shutting down, please try again later.",
    [("Connection", "close"), ("Retry-After", "5")],
)


@hookimpl(priority=900, requires="audit-init")
def apiserver_filter(server: Server) -> Filter | None:
    """The filter; None unless it is asked for."""
    if not server.config.boolean("shutdown-send-retry-after"):
        return None
    is_set = server.lifecycle.is_set

    def wrap(inner: WsgiApp) -> WsgiApp:
        def app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
            if (
                is_set(SIGNAL)
                and not environ["PATH_INFO"].startswith(EXEMPT_PATHS)
                and not environ.get("HTTP_USER_AGENT", "").startswith(EXEMPT_AGENT)
            ):
                return REFUSAL(environ, start_response)
            return inner(environ, start_response)

        return app

    return wrap
