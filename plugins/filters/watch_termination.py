"""Counts watches, so that shutdown can end them one after the other; refuses new ones once it does.

Only with ``--shutdown-watch-termination-grace-period`` above zero; else watches are cut.

COMPAT: server/filters WithWatchTerminationDuringShutdown
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


@hookimpl(priority=1300, requires=["audit-init", "request-info"])
def apiserver_filter(server: Server) -> Filter | None:
    """The filter; None when watches are cut anyway."""
    if server.config.seconds("shutdown-watch-termination-grace-period") <= 0:
        return None
    started = server.lifecycle.watch_started
    lifecycle_finished = server.lifecycle.watch_finished

    def finished(_request: Request) -> None:
        lifecycle_finished()

    def wrap(inner: WsgiApp) -> WsgiApp:
        def app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
            request = environ[ENVIRON_KEY]
            if request.info.verb == "watch":
                if not started():
                    return REFUSAL(environ, start_response)
                request.on_end.append(finished)
            return inner(environ, start_response)

        return app

    return wrap
