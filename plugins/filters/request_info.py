"""Parses method and URL once, for everybody after it: ``Request.info``.

COMPAT: endpoints/filters WithRequestInfo; the parser is :mod:`apiserver.api.requestinfo`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

from apiserver import hookimpl
from apiserver.api.errors import PlainError
from apiserver.api.request import ENVIRON_KEY
from apiserver.api.requestinfo import parse
from apiserver.api.server import Filter, WsgiApp

REMEMBERED = 512
"""URLs whose RequestInfo is kept: clients ask for the same ones over and over."""


def wrap(inner: WsgiApp) -> WsgiApp:
    """The filter."""
    remembered = functools.lru_cache(REMEMBERED)(parse)

    def app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        request = environ[ENVIRON_KEY]
        try:
            request.info = remembered(environ["REQUEST_METHOD"], environ["PATH_INFO"], environ["QUERY_STRING"])
        except ValueError as problem:
            error = PlainError.internal(request.uri, f"failed to create RequestInfo: {problem}")
            return error(environ, start_response)
        return inner(environ, start_response)

    return app


@hookimpl(priority=500, requires="audit-init")
def apiserver_filter() -> Filter:
    """The filter."""
    return wrap
