"""Wrap the application in the filters.

Called once per worker by :mod:`apiserver.server`. The filter with the lowest number ends up outermost: it sees a
request first and the answer last.
"""

from __future__ import annotations

from collections.abc import Sequence

from apiserver.api.server import Server, WsgiApp
from apiserver.manager import Call


def wrap(app: WsgiApp, filters: Sequence[Call], server: Server) -> WsgiApp:
    """``app`` inside all filters that want to be there.

    :param filters: the implementations of ``apiserver_filter``, lowest number first.
    """
    wrappers = [made for _, call in filters if (made := call(server)) is not None]
    for wrapper in reversed(wrappers):
        app = wrapper(app)
    return app
