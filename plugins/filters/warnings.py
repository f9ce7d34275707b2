"""``Warning`` headers from what handlers and admission plugins warned of (``Request.warn``).

COMPAT: endpoints/filters WithWarningRecorder
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from apiserver import hookimpl
from apiserver.api.request import ENVIRON_KEY, Headers, Request
from apiserver.api.server import Filter, WsgiApp

MOST_IN_ALL = 4 * 1024
"""Characters of all warnings together; beyond that each is cut."""
MOST_EACH = 256
"""Characters of one warning once they are cut."""


def _header(text: str) -> tuple[str, str] | None:
    """COMPAT: util/net.NewWarningHeader: code 299, agent "-"; a text with control characters is not sent."""
    if any(char < " " or char == "\x7f" for char in text):
        return None
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    # Header values are bytes; WSGI wants one character for each.
    return "Warning", f'299 - "{quoted}"'.encode().decode("latin-1")


def headers_of(texts: Collection[str]) -> Headers:
    """The headers for these warnings, cut short when they are too much in all."""
    texts = [text for text in texts if text]
    if sum(map(len, texts)) > MOST_IN_ALL:
        texts, whole, written = [], texts, 0
        for text in whole:
            if written >= MOST_IN_ALL:
                break
            texts.append(text[:MOST_EACH])
            written += len(texts[-1])
    return [header for header in map(_header, texts) if header]


def _add(request: Request, headers: Headers) -> None:
    if request.warnings:
        headers += headers_of(request.warnings)


def wrap(inner: WsgiApp) -> WsgiApp:
    """The filter."""

    def app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        environ[ENVIRON_KEY].on_start.append(_add)
        return inner(environ, start_response)

    return app


@hookimpl(priority=1700, requires="audit-init")
def apiserver_filter() -> Filter:
    """The filter."""
    return wrap
