"""The envelope around a message: ``k8s\\0`` and ``runtime.Unknown``, and the frames of a watch.

COMPAT: k8s.io/apimachinery/pkg/runtime/serializer/protobuf Serializer; .../util/framer LengthDelimitedFramer
"""

from __future__ import annotations

from typing import NamedTuple

from google.protobuf.message import DecodeError as WireError

from apiserver.schema.failures import DecodeError
from apiserver.schema.protobuf.messages import messages
from apiserver.schema.protobuf.plans import text

PREFIX = b"k8s\x00"
UNKNOWN = "k8s.io.apimachinery.pkg.runtime.Unknown"


class Envelope(NamedTuple):
    """What was in the envelope."""

    api_version: str
    kind: str
    raw: bytes


def wrap(api_version: str, kind: str, raw: bytes) -> bytes:
    """``raw`` in an envelope."""
    unknown = messages().get(UNKNOWN)()
    unknown.typeMeta.apiVersion, unknown.typeMeta.kind = api_version, kind
    unknown.raw = raw
    unknown.contentEncoding = unknown.contentType = ""
    data: bytes = unknown.SerializeToString()
    return PREFIX + data


def unwrap(data: bytes) -> Envelope:
    """:raises DecodeError: it is no envelope; upstream's text."""
    if not data.startswith(PREFIX):
        raise DecodeError("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")
    unknown = messages().get(UNKNOWN)()
    try:
        unknown.ParseFromString(data[len(PREFIX) :])
    except WireError as ex:
        raise DecodeError(f"proto: {ex}") from None
    return Envelope(text(unknown.typeMeta.apiVersion), text(unknown.typeMeta.kind), unknown.raw)


def frame(data: bytes) -> bytes:
    """A message of a stream: its length in four bytes, then itself."""
    return len(data).to_bytes(4, "big") + data
