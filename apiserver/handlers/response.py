"""Write answers: objects, lists and statuses in the negotiated form, compressed where it pays.

COMPAT: k8s.io/apiserver/pkg/endpoints/handlers/responsewriters
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import falcon

from apiserver.api.encoded import EncodedObject
from apiserver.api.errors import status_line
from apiserver.api.request import Request
from apiserver.api.rest import ListResult
from apiserver.api.serializers import JSON, Serializer
from apiserver.handlers.forms import table_include
from apiserver.handlers.negotiation import Output
from apiserver.handlers.scope import Scope

GZIP_FROM = 128 * 1024
"""COMPAT: defaultGzipThresholdBytes: smaller bodies are sent as they are."""

GZIP_LEVEL = 1
_GZIP_WINDOW = 16 + 15


def write_object(
    scope: Scope, req: falcon.Request, resp: falcon.Response, obj: EncodedObject, output: Output, code: int = 200
) -> None:
    """Answer with one object."""
    value = scope.forms.one(obj, output, table_include(Request.of(req.env).query, output))
    if isinstance(value, bytes):
        write_bytes(req, resp, value + b"\n", JSON.content_type, code)
    else:
        write_value(req, resp, value, output, code)


def write_list(scope: Scope, req: falcon.Request, resp: falcon.Response, result: ListResult, output: Output) -> None:
    """Answer with a list; a plain JSON one is written in parts that exist already."""
    if output.plain_json:
        length, parts = scope.forms.parts(result)
        write_parts(req, resp, length, parts, JSON)
        return
    include = table_include(Request.of(req.env).query, output)
    write_value(req, resp, scope.forms.many(result, output, include), output)


def write_status(
    req: falcon.Request, resp: falcon.Response, status: dict[str, Any], output: Output, code: int = 200
) -> None:
    """Answer with a Status, whatever form of the object was asked for."""
    write_value(req, resp, status, output, code)


def write_value(req: falcon.Request, resp: falcon.Response, value: Any, output: Output, code: int = 200) -> None:
    """Answer with anything that can be serialised."""
    body = output.serializer.encode(value, output.pretty)
    write_bytes(req, resp, body, output.serializer.content_type, code)


def write_bytes(req: falcon.Request, resp: falcon.Response, body: bytes, content_type: str, code: int = 200) -> None:
    """Answer with a body that is encoded already."""
    if code != 200:
        resp.status = status_line(code)
    resp.content_type = content_type
    if len(body) > GZIP_FROM and accepts_gzip(req.env):
        body = b"".join(compressed((body,)))
        _mark_gzip(resp)
    resp.data = body


def write_parts(
    req: falcon.Request, resp: falcon.Response, length: int, parts: Iterator[bytes], serializer: Serializer
) -> None:
    """Answer with a body in parts."""
    resp.content_type = serializer.content_type
    if length > GZIP_FROM and accepts_gzip(req.env):
        _mark_gzip(resp)
        resp.stream = compressed(parts)
        return
    if length <= GZIP_FROM:
        resp.data = b"".join(parts)
        return
    resp.content_length = length
    resp.stream = parts


def accepts_gzip(environ: Mapping[str, Any]) -> bool:
    """Whether the client reads gzip."""
    accepted = environ.get("HTTP_ACCEPT_ENCODING", "")
    return "gzip" in accepted and any(
        part.partition(";")[0].strip() == "gzip" and not part.replace(" ", "").endswith(";q=0")
        for part in accepted.split(",")
    )


def _mark_gzip(resp: falcon.Response) -> None:
    resp.set_header("Content-Encoding", "gzip")
    resp.append_header("Vary", "Accept-Encoding")


def compressed(parts: Iterable[bytes]) -> Iterator[bytes]:
    """The parts as gzip."""
    from isal import isal_zlib

    compressor = isal_zlib.compressobj(GZIP_LEVEL, wbits=_GZIP_WINDOW)
    for part in parts:
        if chunk := compressor.compress(part):
            yield chunk
    yield compressor.flush()
