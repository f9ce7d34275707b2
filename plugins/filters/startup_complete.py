"""Tags requests that came before all routes were installed; for those, "not found" becomes 503.

Who finds no route looks at ``Request.early``: what exists already answers as usual.

COMPAT: endpoints/filters WithMuxAndDiscoveryComplete
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from apiserver import hookimpl
from apiserver.api.request import ENVIRON_KEY
from apiserver.api.server import Filter, Server, WsgiApp

SIGNAL = "MuxAndDiscoveryComplete"


@hookimpl(priority=300, requires="audit-init")
def apiserver_filter(server: Server) -> Filter:
    """The filter."""

    def wrap(inner: WsgiApp) -> WsgiApp:
        is_set = server.lifecycle.is_set

        def app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
            if not is_set(SIGNAL):
                environ[ENVIRON_KEY].early = True
            return inner(environ, start_response)

        return app

    return wrap
