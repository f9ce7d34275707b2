"""Counts requests that are being answered, so that shutdown can wait for them; refuses new ones once it does.

Long-running requests are not waited for. COMPAT: server/filters WithWaitGroup
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from apiserver import hookimpl
from apiserver.api.errors import ServiceUnavailable
from apiserver.api.request import ENVIRON_KEY, Request
from apiserver.api.server import Filter, Server, WsgiApp

REFUSAL = ServiceUnavailable("apiserver is shutting down")
REFUSAL.headers = (("Retry-After", "1"),)


@hookimpl(priority=1400, after="watch-termination", requires=["audit-init", "request-info"])
def apiserver_filter(server: Server) -> Filter:
    """The filter."""
    started = server.lifecycle.request_started
    lifecycle_finished = server.lifecycle.request_finished

    def finished(_request: Request) -> None:
        lifecycle_finished()

    def wrap(inner: WsgiApp) -> WsgiApp:
        def app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
            request = environ[ENVIRON_KEY]
            if not request.info.long_running:
                if not started():
                    return REFUSAL(environ, start_response)
                request.on_end.append(finished)
            return inner(environ, start_response)

        return app

    return wrap
