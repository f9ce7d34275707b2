"""Says until when a request must be answered: ``?timeout=``, at most ``--request-timeout``, from its arrival.

Long-running requests have no deadline. COMPAT: endpoints/filters WithRequestDeadline
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from typing import Any

from apiserver import hookimpl
from apiserver.api import logs
from apiserver.api.errors import BadRequest
from apiserver.api.request import ENVIRON_KEY
from apiserver.api.server import Filter, Server, WsgiApp
from apiserver.api.settings import parse_duration

UNITS = ("ns", "us", "µs", "μs", "ms", "s", "m", "h")
LOG = logging.getLogger(__name__)
INVALID = "invalid timeout specified in the request URL"
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([^\d.]*)")


def _problem(text: str) -> str:
    """What Go says of a text that is no duration. COMPAT: time.ParseDuration"""
    rest, match = text, None
    while rest and (match := _NUMBER.match(rest)):
        rest = rest[match.end() :]
        if not match[2]:
            return f"time: missing unit in duration {logs.quote(text)}"
        if match[2] not in UNITS:
            return f"time: unknown unit {logs.quote(match[2])} in duration {logs.quote(text)}"
    return f"time: invalid duration {logs.quote(text)}"


@hookimpl(priority=1500, requires=["audit-init", "request-received", "request-info"])
def apiserver_filter(server: Server) -> Filter:
    """The filter."""
    most = server.config.seconds("request-timeout")

    def wrap(inner: WsgiApp) -> WsgiApp:
        def app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
            request = environ[ENVIRON_KEY]
            if not request.info.long_running:
                timeout = most
                if "timeout" in environ["QUERY_STRING"] and (text := request.query.get("timeout", ("",))[0]):
                    try:
                        wanted = parse_duration(text)
                    except ValueError as problem:
                        logs.error(LOG, INVALID, err=str(problem), URI=request.uri)
                        return BadRequest(f"{INVALID} - {_problem(text)}")(environ, start_response)
                    # COMPAT: nothing, and more than is allowed, mean what is allowed
                    if 0 < wanted < most:
                        timeout = wanted
                request.deadline = request.received + timeout
            return inner(environ, start_response)

        return app

    return wrap
