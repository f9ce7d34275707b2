"""Let a plain WSGI app answer inside Falcon: for routes, connecting subresources and delegates of plugins."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import falcon

App = Callable[[dict[str, Any], Any], Iterable[bytes]]


def respond_with(app: App, req: falcon.Request, resp: falcon.Response) -> None:
    """Call ``app`` and make its status, headers and body the response's."""

    def start_response(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> None:  # noqa: ARG001
        resp.status = status
        for name, value in headers:
            lowered = name.lower()
            if lowered == "content-type":
                resp.content_type = value
            elif lowered == "content-length":
                resp.content_length = int(value)
            else:
                resp.append_header(name, value)

    body = app(req.env, start_response)
    if isinstance(body, list):
        resp.data = b"".join(body)
    else:
        resp.stream = body
