"""The delegate of the declared resources, of discovery and of the other routes.

It answers what resource plugins declare; without it the server has filters and nothing behind them.

COMPAT: the middle one of kube-apiserver's three chained servers
"""

from __future__ import annotations

from collections.abc import Callable

from apiserver import hookimpl
from apiserver.api.request import Request
from apiserver.api.server import DelegateMatch, Server


@hookimpl(priority=200)
def apiserver_delegate(server: Server) -> Callable[[Request], DelegateMatch | None]:
    """Claims requests for what is installed."""
    return server.resource_delegate
