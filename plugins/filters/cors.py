"""Cross-origin requests from browsers, for origins that match one of the configured expressions.

COMPAT: server/filters WithCORS, server/options validateCorsAllowedOriginList
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from apiserver import hookimpl
from apiserver.api.request import ENVIRON_KEY
from apiserver.api.server import Filter, Server, WsgiApp
from apiserver.api.settings import Setting

SETTING = "cors-allowed-origins"
HEADERS = (
    ("Access-Control-Allow-Methods", "POST, GET, OPTIONS, PUT, DELETE, PATCH"),
    (
        "Access-Control-Allow-Headers",
        "Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, "
        "If-Modified-Since",
    ),
    ("Access-Control-Expose-Headers", "Date"),
    ("Access-Control-Allow-Credentials", "true"),
)


def check(expressions: tuple[str, ...]) -> None:
    """:raises ValueError: not a regular expression, or one that an attacker's host name could match in its middle."""
    for expression in expressions:
        try:
            re.compile(expression)
        except re.error as problem:
            raise ValueError(f"has an invalid regular expression: {problem}") from None
        if not ("^" in expression or "//" in expression) or not ("$" in expression or ":" in expression):
            raise ValueError(
                "has an invalid regular expression: regular expression does not pin to start/end of host in the "
                "origin header"
            )


@hookimpl
def apiserver_settings() -> Iterator[Setting]:
    """The origins."""
    yield Setting(
        SETTING,
        "list",
        group="Serving",
        metavar="regexp,...",
        check=check,
        help="Regular expressions for origins whose pages may ask; each must be pinned to the start (^ or //) and the "
        "end ($ or :) of the host. None: no CORS.",
    )


@hookimpl(priority=1800, before="authentication", requires="audit-init")
def apiserver_filter(server: Server) -> Filter | None:
    """The filter; None without origins."""
    expressions = [re.compile(expression) for expression in server.config.strings(SETTING)]
    if not expressions:
        return None

    def wrap(inner: WsgiApp) -> WsgiApp:
        def app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
            origin = environ.get("HTTP_ORIGIN")
            if not origin or not any(expression.search(origin) for expression in expressions):
                return inner(environ, start_response)
            environ[ENVIRON_KEY].response_headers += [("Access-Control-Allow-Origin", origin), *HEADERS]
            if environ["REQUEST_METHOD"] != "OPTIONS":
                return inner(environ, start_response)
            # A preflight carries no credentials: it is answered before anybody asks for them.
            start_response("204 No Content", [])
            return []

        return app

    return wrap
