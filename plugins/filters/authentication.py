"""Who is it? Asks the authenticators; nobody known, or a bad credential, is 401.

After it, nobody further in sees credentials or a front proxy's headers.

COMPAT: endpoints/filters WithAuthentication
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Any

from apiserver import hookimpl
from apiserver.api import logs
from apiserver.api.auth import authenticated
from apiserver.api.errors import Unauthorized
from apiserver.api.request import ENVIRON_KEY
from apiserver.api.server import Filter, Server, WsgiApp

LOG = logging.getLogger(__name__)
REFUSAL = Unauthorized()

# Headers in which a front proxy says who the user is, and prefixes of such: the usual ones, and those configured.
FRONT_PROXY_NAMES = ("X-Remote-User", "X-Remote-Uid", "X-Remote-Group")
FRONT_PROXY_PREFIXES = ("X-Remote-Extra-",)
NAME_SETTINGS = ("requestheader-username-headers", "requestheader-uid-headers", "requestheader-group-headers")
PREFIX_SETTINGS = ("requestheader-extra-headers-prefix",)


def _keys(config: Mapping[str, Any], headers: Iterable[str], settings: Iterable[str]) -> tuple[str, ...]:
    """Keys of the WSGI environ for these headers and those that settings name."""
    named = [name for setting in settings for name in config.get(setting, ())]
    return tuple({"HTTP_" + name.upper().replace("-", "_") for name in (*headers, *named)})


@hookimpl(priority=1900, after=["request-info", "cors"], requires="audit-init")
def apiserver_filter(server: Server) -> Filter:
    """The filter."""

    def wrap(inner: WsgiApp) -> WsgiApp:
        ask = server.authenticate
        credentials = frozenset(("HTTP_AUTHORIZATION", *_keys(server.config, FRONT_PROXY_NAMES, NAME_SETTINGS)))
        prefixes = _keys(server.config, FRONT_PROXY_PREFIXES, PREFIX_SETTINGS)

        def app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
            request = environ[ENVIRON_KEY]
            try:
                user = ask(request)
            except Unauthorized as problem:
                logs.error(LOG, "Unable to authenticate the request", err=problem.message)
                user = None
            if user is None:
                return REFUSAL(environ, start_response)
            request.user = authenticated(user)
            for name in [name for name in environ if name in credentials or name.startswith(prefixes)]:
                del environ[name]
            return inner(environ, start_response)

        return app

    return wrap
