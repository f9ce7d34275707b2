"""``Strict-Transport-Security`` on every answer, when there are directives to send.

COMPAT: server/filters WithHSTS, server/options validateHSTSDirectives
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from apiserver import hookimpl
from apiserver.api.request import ENVIRON_KEY
from apiserver.api.server import Filter, Server, WsgiApp
from apiserver.api.settings import Setting

SETTING = "strict-transport-security-directives"
DIRECTIVE = re.compile(r"max-age=\d+|includeSubDomains|preload")


def check(directives: tuple[str, ...]) -> None:
    """:raises ValueError: one of them is none."""
    if not all(DIRECTIVE.fullmatch(directive) for directive in directives):
        raise ValueError("invalid, allowed values: max-age=expireTime, includeSubDomains, preload")


@hookimpl
def apiserver_settings() -> Iterator[Setting]:
    """The directives."""
    yield Setting(
        SETTING,
        "list",
        group="Serving",
        metavar="directive,...",
        check=check,
        help="Directives of HSTS, such as max-age=31536000,includeSubDomains,preload. None: the header is not sent.",
    )


@hookimpl(priority=1000, requires="audit-init")
def apiserver_filter(server: Server) -> Filter | None:
    """The filter; None without directives."""
    directives = server.config.strings(SETTING)
    if not directives:
        return None
    header = ("Strict-Transport-Security", "; ".join(directives))

    def wrap(inner: WsgiApp) -> WsgiApp:
        def app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
            environ[ENVIRON_KEY].response_headers.append(header)
            return inner(environ, start_response)

        return app

    return wrap
