"""The access log: one line for each request when it is over, from ``-v=3`` on.

COMPAT: server/httplog; a healthy check of health is not special.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from typing import Any

from apiserver import hookimpl
from apiserver.api import logs
from apiserver.api.request import ENVIRON_KEY, Request
from apiserver.api.requestinfo import reported_verb
from apiserver.api.server import Filter, WsgiApp
from apiserver.api.settings import format_duration

LOG = logging.getLogger(__name__)
VERBOSITY = 3
LONGEST_AUDIT_ID = 64


def write(request: Request) -> None:
    """Write the line."""
    environ = request.environ
    content_type = environ.get("CONTENT_TYPE", "")
    logs.info(
        LOG,
        "HTTP",
        v=VERBOSITY,
        **{
            "verb": reported_verb(request.info, request.method, content_type),
            "URI": request.uri,
            "latency": format_duration(time.monotonic() - request.received),
            "userAgent": environ.get("HTTP_USER_AGENT", ""),
            "contentType": content_type,
            "audit-ID": request.audit_id[:LONGEST_AUDIT_ID],
            "srcIP": f"{environ.get('REMOTE_ADDR', '')}:{environ.get('REMOTE_PORT', '')}",
            "resp": request.status_code,
        },
    )


def wrap(inner: WsgiApp) -> WsgiApp:
    """The filter."""

    def app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        # Asked for each request: the verbosity may be changed while the server runs.
        if LOG.isEnabledFor(_LEVEL):
            environ[ENVIRON_KEY].on_end.append(write)
        return inner(environ, start_response)

    return app


_LEVEL = logs.level(VERBOSITY)


@hookimpl(priority=800, after="request-info", requires=["audit-init", "request-received"])
def apiserver_filter() -> Filter:
    """The filter."""
    return wrap
