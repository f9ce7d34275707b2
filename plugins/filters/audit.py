"""Tells the plugins that keep an audit trail of each stage of a request. Without such a plugin it is not there.

COMPAT: endpoints/filters WithAudit, without policy: every request, at level Metadata
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from apiserver import hookimpl
from apiserver.api.audit import COMPLETE, PANIC, RECEIVED, STARTED, event
from apiserver.api.request import ENVIRON_KEY, Headers, Request
from apiserver.api.server import Filter, Server, WsgiApp


@hookimpl(priority=2100, after=["request-received", "authentication"], requires=["audit-init", "request-info"])
def apiserver_filter(server: Server) -> Filter | None:
    """The filter; None when no plugin implements ``apiserver_audit``."""
    if not server.audited:
        return None
    tell = server.audit

    def started(request: Request, _headers: Headers) -> None:
        tell(event(request, STARTED))

    def complete(request: Request) -> None:
        tell(event(request, COMPLETE))

    def wrap(inner: WsgiApp) -> WsgiApp:
        def app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
            request = environ[ENVIRON_KEY]
            tell(event(request, RECEIVED))
            if request.info.long_running:
                request.on_start.append(started)
            request.on_end.append(complete)
            try:
                return inner(environ, start_response)
            except Exception as problem:
                if complete in request.on_end:
                    request.on_end.remove(complete)
                status = {"status": "Failure", "reason": "InternalError", "code": 500}
                tell(event(request, PANIC, {**status, "message": f"APIServer panic'd: {problem}"}))
                raise

        return app

    return wrap
