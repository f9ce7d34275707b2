"""The protobuf serializer, beside JSON and YAML.

Go clients ask for it by default. Importing this module makes it one of the formats of the process.
"""

from __future__ import annotations

from typing import Any

from apiserver.api.serializers import SERIALIZERS, Serializer

CONTENT_TYPE = "application/vnd.kubernetes.protobuf"


def _dump(value: Any, pretty: bool) -> bytes:  # noqa: ARG001 - every serializer is asked
    from apiserver.schema.protobuf.codec import codec  # the library is loaded for the first client that wants it

    return codec().encode({"apiVersion": "v1", **value})


def event(kind: str, obj: dict[str, Any]) -> bytes:
    """One event of a watch, framed."""
    from apiserver.schema.protobuf.codec import codec

    return codec().event(kind, {"apiVersion": "v1", **obj})


PROTOBUF = Serializer("protobuf", CONTENT_TYPE, _dump)
SERIALIZERS.setdefault(CONTENT_TYPE, PROTOBUF)
