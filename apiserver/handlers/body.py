"""Read request bodies, bounded, and decode them to the kind that is expected.

COMPAT: k8s.io/apiserver/pkg/endpoints/handlers limitedReadBody, decodeGVK
"""

from __future__ import annotations

from typing import Any

from apiserver.api.errors import BadRequest, RequestEntityTooLarge
from apiserver.api.request import Request
from apiserver.api.serving import LINGERS
from apiserver.handlers.negotiation import negotiate_input
from apiserver.handlers.scope import Scope
from apiserver.schema import body as bodies
from apiserver.schema.decode import Decoded, DecodeError

LIMIT = 3 * 1024 * 1024
DISCARDED = 4 * LIMIT
"""How much of a body that is too large is read before it is refused, under servers that need it."""
Object = dict[str, Any]


def read(request: Request) -> bytes:
    """The whole body.

    :raises RequestEntityTooLarge: it is larger than 3 MiB.
    """
    environ = request.environ
    length = environ.get("CONTENT_LENGTH")
    stream = environ["wsgi.input"]
    data: bytes = b""
    if not length or int(length) <= LIMIT:
        data = stream.read(int(length)) if length else stream.read(LIMIT + 1)
    if len(data) > LIMIT or (length and int(length) > LIMIT):
        if not environ.get(LINGERS):
            _discard(stream)
        raise RequestEntityTooLarge.for_body(LIMIT)
    request.remaining()
    return data


def _discard(stream: Any) -> None:
    """Read on, so that a client that sends before it reads gets as far as the answer."""
    left = DISCARDED
    while left > 0 and (part := stream.read(min(left, 1 << 16))):
        left -= len(part)


def decode(request: Request, scope: Scope, validation: str) -> Object:
    """The object in the body, normalised, with the kind's defaults.

    :param validation: what to do about unknown and duplicate fields: Ignore, Warn or Strict.
    :raises BadRequest: it is malformed, of another kind, or (Strict) has fields that are not known.
    """
    media_type = negotiate_input(request.environ, scope.formats)
    data = read(request)
    kind = scope.kind
    try:
        decoded = bodies.decode_object(
            data,
            media_type,
            scope.type,
            group=kind.group,
            version=kind.version,
            kind=kind.kind,
            registered=scope.kinds.registered,
            versions=scope.kinds.version if scope.resource.unstructured and not scope.subresource_kind else None,
        )
    except bodies.OtherVersionError as ex:
        report(request, scope, ex.decoded, validation)
        raise BadRequest(ex.message) from None
    except DecodeError as ex:
        raise BadRequest(ex.message) from None
    return finish(request, scope, decoded, validation)


def finish(request: Request, scope: Scope, decoded: Decoded, validation: str) -> Object:
    """Report unknown and duplicate fields as asked, and set defaults."""
    report(request, scope, decoded, validation)
    obj: Object = decoded.object
    if not isinstance(obj.get("metadata"), dict):
        obj["metadata"] = {}
    scope.to_storage(obj)
    scope.strategy.default(obj)
    return obj


def report(request: Request, scope: Scope, decoded: Decoded, validation: str) -> None:
    """Warn of unknown and duplicate fields, or refuse them, as asked. :raises BadRequest:"""
    if decoded.strict and validation == "Strict":
        kind = scope.kind
        head = f'{kind.kind} in version "{kind.version}" cannot be handled as a {kind.kind}: '
        raise BadRequest(head + bodies.strict_error(decoded.strict))
    if decoded.strict and validation == "Warn":
        for text in bodies.warnings(decoded.strict):
            request.warn(text)
