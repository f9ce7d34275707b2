"""Request URLs as Go's ``net/url`` reads them, with its complaints. Called by the libraries url and format.

COMPAT: net/url ParseRequestURI and Parse
"""

from __future__ import annotations

import functools
import re
from typing import Final, NamedTuple
from urllib.parse import quote, unquote

from .declaring import EvaluationError
from .ip import quoted

_ESCAPE: Final = re.compile("%(?![0-9A-Fa-f]{2})")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*\Z")
_PORT: Final = re.compile(r"(:[0-9]*)?\Z")
_USERINFO: Final = re.compile(r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*\Z")
_PATH_SAFE: Final = "/$&+,:;=@!'()*~[]"
_HOST_BAD: Final = re.compile(r"[^A-Za-z0-9\-_.~!$&'()*+,;=:\[\]<>\"%\x80-\U0010ffff]")


class Url(NamedTuple):
    """The parts of a URL that CEL shows."""

    scheme: str = ""
    host: str = ""
    path: str = ""
    query: str = ""


def _refused(raw: str, why: str) -> EvaluationError:
    return EvaluationError(f"parse {quoted(raw)}: {why}")


def _check_escapes(raw: str, part: str) -> None:
    bad = _ESCAPE.search(part)
    if bad:
        raise _refused(raw, f"invalid URL escape {quoted(part[bad.start() : bad.start() + 3])}")


def _scheme(raw: str) -> tuple[str, str]:
    head, colon, rest = raw.partition(":")
    if not colon or "/" in head or "?" in head:
        return "", raw
    if not head:
        raise _refused(raw, "missing protocol scheme")
    if head[0].isdigit() or head[0] in "+-.":
        raise _refused(raw, "first path segment in URL cannot contain colon")
    return (head.lower(), rest) if _SCHEME.match(head) else ("", raw)


def _host(raw: str, authority: str) -> str:
    userinfo, at, host = authority.rpartition("@")
    if at and not _USERINFO.match(userinfo):
        raise _refused(raw, "net/url: invalid userinfo")
    if host.startswith("["):
        end = host.rfind("]")
        if end < 0:
            raise _refused(raw, "missing ']' in host")
        port = host[end + 1 :]
    else:
        colon = host.rfind(":")
        port = host[colon:] if colon >= 0 else ""
    if not _PORT.match(port):
        raise _refused(raw, f"invalid port {quoted(port)} after host")
    bad = _HOST_BAD.search(host)
    if bad:
        raise _refused(raw, f"invalid character {quoted(bad[0])} in host name")
    _check_escapes(raw, host)
    return unquote(host)


def _escaped_path(path: str) -> str:
    """COMPAT: URL.EscapedPath: the path as it was written if that is a valid encoding of it."""
    if re.fullmatch(r"[A-Za-z0-9\-_.~$&+,/:;=@%!'()*\[\]]*", path):
        return path
    return quote(unquote(path), safe=_PATH_SAFE)


@functools.lru_cache(maxsize=1024)
def parse_request_uri(raw: str) -> Url:
    """The parts of an absolute URL or path.

    :raises EvaluationError: it is neither, with Go's text.
    """
    if any(ord(c) < 0x20 or ord(c) == 0x7F for c in raw):
        raise _refused(raw, "net/url: invalid control character in URL")
    if not raw:
        raise _refused(raw, "empty url")
    if raw == "*":
        return Url(path="*")
    scheme, rest = _scheme(raw)
    rest, _, query = rest.partition("?")
    if not rest.startswith("/"):
        if scheme:
            return Url(scheme, query=query)
        raise _refused(raw, "invalid URI for request")
    host = ""
    if rest.startswith("//") and scheme:
        authority, slash, path = rest[2:].partition("/")
        host, rest = _host(raw, authority), slash + path
    _check_escapes(raw, rest)
    return Url(scheme, host, _escaped_path(rest), query)


def parse(raw: str) -> Url:
    """The parts of a URL, without its fragment.

    :raises EvaluationError: as :func:`parse_request_uri`.
    """
    parse_request_uri(raw)
    bare, _, _ = raw.partition("#")
    return parse_request_uri(bare) if bare else Url()


def query_values(query: str) -> dict[str, list[str]]:
    """The parameters of a query; what can't be read is left out. COMPAT: URL.Query"""
    values: dict[str, list[str]] = {}
    for pair in query.split("&"):
        if not pair or ";" in pair or _ESCAPE.search(pair):
            continue
        key, _, value = pair.partition("=")
        values.setdefault(unquote(key.replace("+", " ")), []).append(unquote(value.replace("+", " ")))
    return values
