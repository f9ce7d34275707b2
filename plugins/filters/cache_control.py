"""``Cache-Control: no-cache, private`` on every answer that does not say something else itself.

What is behind authentication must not be cached by proxies. COMPAT: endpoints/filters WithCacheControl
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from apiserver import hookimpl
from apiserver.api.request import ENVIRON_KEY
from apiserver.api.server import Filter, WsgiApp

HEADER = ("Cache-Control", "no-cache, private")


def wrap(inner: WsgiApp) -> WsgiApp:
    """The filter."""

    def app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        environ[ENVIRON_KEY].response_headers.append(HEADER)
        return inner(environ, start_response)

    return app


@hookimpl(priority=1100, requires="audit-init")
def apiserver_filter() -> Filter:
    """The filter."""
    return wrap
