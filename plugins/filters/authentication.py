"""Who is it? Asks the authenticators; nobody known, or a bad credential, is 401.

After it, nobody further in sees credentials or a front proxy's headers.

COMPAT: endpoints/filters WithAuthentication
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from apiserver import hookimpl
from apiserver.api import logs
from apiserver.api.audit import STARTED, event
from apiserver.api.auth import authenticated
from apiserver.api.errors import Unauthorized
from apiserver.api.request import ENVIRON_KEY, Headers, Request
from apiserver.api.server import Filter, Server, WsgiApp
from apiserver.api.serving import peer_certificate

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


def attempted(request: Request) -> str:
    """What audit says of a request that was not authenticated. COMPAT: endpoints/filters getAuthMethods"""
    scheme, _, rest = request.environ.get("HTTP_AUTHORIZATION", "").strip().partition(" ")
    tried = [name for name in ("basic", "bearer") if rest and scheme.lower() == name]
    if peer_certificate(request.environ):
        tried.append("x509")
    if not tried:
        return "Authentication failed, no credentials provided"
    return f"Authentication failed, attempted: {', '.join(tried)}"


def _audited(server: Server) -> Callable[[Request, Headers], None]:
    """COMPAT: endpoints/filters WithFailedAuthenticationAudit"""
    return lambda request, _headers: server.audit(event(request, STARTED, {"message": attempted(request)}))


@hookimpl(priority=1900, after=["request-info", "cors"], requires="audit-init")
def apiserver_filter(server: Server) -> Filter:
    """The filter."""

    def wrap(inner: WsgiApp) -> WsgiApp:
        ask = server.authenticate
        credentials = ("HTTP_AUTHORIZATION", *_keys(server.config, FRONT_PROXY_NAMES, NAME_SETTINGS))
        prefixes = _keys(server.config, FRONT_PROXY_PREFIXES, PREFIX_SETTINGS)

        def app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
            request = environ[ENVIRON_KEY]
            try:
                user = ask(request)
            except Unauthorized as problem:
                logs.error(LOG, "Unable to authenticate the request", err=problem.message)
                user = None
            if user is None:
                if server.audited:
                    request.on_start.append(_audited(server))
                return REFUSAL(environ, start_response)
            request.user = authenticated(user)
            for name in credentials:
                environ.pop(name, None)
            # One search through all names costs a tenth of looking at each.
            names = "\n".join(environ)
            if any(prefix in names for prefix in prefixes):
                for name in [name for name in environ if name.startswith(prefixes)]:
                    del environ[name]
            return inner(environ, start_response)

        return app

    return wrap
