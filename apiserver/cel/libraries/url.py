"""URLs: ``url("https://example.com:80/").getHost()``.

COMPAT: k8s.io/apiserver/pkg/cel/library/urls.go
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from . import gourl
from .declaring import EvaluationError, Library, Overload, member, opaque

URL: Final = "kubernetes.URL"


def _url(text: str) -> dict[str, str]:
    try:
        gourl.parse_request_uri(text)
    except EvaluationError as wrong:
        raise EvaluationError(f"URL parse error during conversion from string: {wrong}") from None
    return opaque(URL, text)


def _is_url(text: str) -> bool:
    try:
        gourl.parse_request_uri(text)
    except EvaluationError:
        return False
    return True


def _hostname(url: gourl.Url) -> str:
    """COMPAT: URL.Hostname: without port and without brackets."""
    if url.host.startswith("["):
        return url.host[1 : url.host.rfind("]")]
    return url.host.rpartition(":")[0] if ":" in url.host else url.host


def _port(url: gourl.Url) -> str:
    head, colon, port = url.host.rpartition(":")
    return port if colon and not port.endswith("]") and (not head.startswith("[") or head.endswith("]")) else ""


def _getter(overload_id: str, result: str, part: Callable[[gourl.Url], Any]) -> tuple[Overload, ...]:
    def got(value: Mapping[str, str]) -> Any:
        return part(gourl.parse(value[URL]))

    return (member(overload_id, (URL,), result, got),)


LIBRARY: Final = Library(
    "kubernetes.urls",
    {
        "url": (Overload("string_to_url", ("string",), URL, _url),),
        "getScheme": _getter("url_get_scheme", "string", lambda url: url.scheme),
        "getHost": _getter("url_get_host", "string", lambda url: url.host),
        "getHostname": _getter("url_get_hostname", "string", _hostname),
        "getPort": _getter("url_get_port", "string", _port),
        "getEscapedPath": _getter("url_get_escaped_path", "string", lambda url: url.path),
        "getQuery": _getter("url_get_query", "map<string,list<string>>", lambda url: gourl.query_values(url.query)),
        "isURL": (Overload("is_url_string", ("string",), "bool", _is_url),),
    },
)
