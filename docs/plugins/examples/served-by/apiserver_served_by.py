"""``X-Served-By`` on every answer, so that clients of several servers know which one they reached."""

from __future__ import annotations

import socket
from collections.abc import Iterable
from typing import Any

from apiserver import Filter, Request, Server, Setting, WsgiApp, hookimpl


@hookimpl
def apiserver_settings() -> Iterable[Setting]:
    yield Setting("served-by-name", help="What X-Served-By says; default: the name of this machine.")


# After audit-init, which makes the Request; before panic-recovery, so that answers to crashes have the header, too.
@hookimpl(priority=150, requires="audit-init", before="panic-recovery")
def apiserver_filter(server: Server) -> Filter:
    header = ("X-Served-By", server.config.text("served-by-name") or socket.gethostname())

    def wrap(inner: WsgiApp) -> WsgiApp:
        def app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
            Request.of(environ).response_headers.append(header)
            return inner(environ, start_response)

        return app

    return wrap
