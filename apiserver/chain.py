"""Wrap the application in the filters.

Called once per worker by :mod:`apiserver.server`. The filter with the lowest number ends up outermost: it sees a
request first and the answer last. At ``-v=6`` each layer is timed; the latency filter logs the times.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Sequence
from typing import Any

from apiserver.api import logs
from apiserver.api.request import ENVIRON_KEY
from apiserver.api.server import Server, WsgiApp
from apiserver.manager import Call, Plugins

LOG = logging.getLogger(__name__)
TIMED = 6
"""The verbosity from which on layers are timed."""
APPLICATION = "handler"


def wrap(app: WsgiApp, filters: Sequence[Call], server: Server) -> WsgiApp:
    """``app`` inside all filters that want to be there.

    :param filters: the implementations of ``apiserver_filter``, lowest number first.
    :raises PluginError: one returned what cannot be called.
    """
    wrappers = [(plugin.name, made) for plugin, call in filters if (made := call(server)) is not None]
    text = "apiserver_filter returned {!r}, which cannot be called"
    Plugins.refuse(f"{name}: {text.format(made)}" for name, made in wrappers if not callable(made))
    timed = logs.enabled(LOG, TIMED)
    if timed:
        app = _timed(APPLICATION, "", app)
    inner = APPLICATION
    for name, wrapper in reversed(wrappers):
        app = wrapper(app)
        if timed:
            app = _timed(f"filter/{name}", inner, app)
        inner = f"filter/{name}"
    return app


def _timed(name: str, inner: str, app: WsgiApp) -> WsgiApp:
    """``app``, which notes the seconds it took without those of the layer further in."""
    total = f"{name} and further in"
    total_inner = f"{inner} and further in"

    def timed(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        begun = time.perf_counter()
        try:
            return app(environ, start_response)
        finally:
            request = environ.get(ENVIRON_KEY)
            if request is not None and request.times is not None:
                spent = time.perf_counter() - begun
                request.times[name] = spent - request.times.pop(total_inner, 0.0)
                request.times[total] = spent

    return timed
