"""``GET /``: the paths there are. COMPAT: k8s.io/apiserver/pkg/server/routes Index"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import orjson


def app(paths: Callable[[], Iterable[str]]) -> Callable[[dict[str, Any], Any], Iterable[bytes]]:
    """The WSGI app.

    :param paths: every path to be listed, in any order; asked for each request.
    """

    def index(_environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        body = orjson.dumps({"paths": sorted(set(paths()))}, option=orjson.OPT_INDENT_2)
        start_response("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
        return [body]

    return index
