"""Objects to protobuf bytes and back, for one Kubernetes minor.

Handlers decode bodies and encode answers with it. An object is a dict in its JSON form, with apiVersion and kind.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from google.protobuf.message import DecodeError as WireError

from apiserver.schema import builtin, types
from apiserver.schema.builtin import META, definition_name
from apiserver.schema.failures import DecodeError
from apiserver.schema.protobuf import envelope
from apiserver.schema.protobuf.messages import definitions, messages
from apiserver.schema.protobuf.plans import Plan, plan

CONTENT_TYPE = "application/vnd.kubernetes.protobuf"
_META = "k8s.io.apimachinery.pkg.apis.meta.v1."
WATCH_EVENT = f"{_META}WatchEvent"
TypeOf = Callable[[str, str, str], types.Struct | None]


class ProtobufCodec:
    """Encodes and decodes built-in kinds and the meta kinds.

    :param type_of: (group, version, kind) -> type, None if there is none.
    """

    def __init__(self, type_of: TypeOf) -> None:
        self._type_of = type_of

    def message_of(self, api_version: str, kind: str) -> str:
        """The message of a kind, "" if it has none."""
        group, _, version = api_version.rpartition("/")
        published = definition_name(group, version, kind)
        name = "k8s.io." + published.removeprefix("io.k8s.").replace("-", "_")
        if name in definitions():
            return name
        meta = _META + kind
        return meta if meta in definitions() else ""

    def _plan(self, api_version: str, kind: str) -> tuple[str, Plan]:
        name = self.message_of(api_version, kind)
        group, _, version = api_version.rpartition("/")
        found = self._type_of(group, version, kind) if name else None
        if found is None:
            raise DecodeError(f'no kind "{kind}" is registered for version "{api_version}"')
        return name, plan(name, found)

    def raw(self, obj: dict[str, Any]) -> bytes:
        """The message of ``obj``, without an envelope. :raises DecodeError: its kind has no message."""
        name, how = self._plan(obj["apiVersion"], obj["kind"])
        message = messages().get(name)()
        how.write(obj, message)
        data: bytes = message.SerializeToString()
        return data

    def encode(self, obj: dict[str, Any]) -> bytes:
        """``obj`` as a body. :raises DecodeError: its kind has no message."""
        return envelope.wrap(obj["apiVersion"], obj["kind"], self.raw(obj))

    def decode(self, data: bytes, default: tuple[str, str]) -> dict[str, Any]:
        """The object in a body.

        :param default: apiVersion and kind for an envelope that doesn't say.
        :raises DecodeError: the body is malformed or of an unknown kind.
        """
        found = envelope.unwrap(data)
        api_version, kind = found.api_version or default[0], found.kind or default[1]
        name, how = self._plan(api_version, kind)
        message = messages().get(name)()
        try:
            message.ParseFromString(found.raw)
        except WireError as ex:
            raise DecodeError(f"proto: {ex}") from None
        return {"apiVersion": api_version, "kind": kind, **how.read(message)}

    def event(self, kind: str, obj: dict[str, Any]) -> bytes:
        """One event of a watch, framed."""
        message = messages().get(WATCH_EVENT)()
        message.type = kind
        message.object.raw = self.encode(obj)
        data: bytes = message.SerializeToString()
        return envelope.frame(data)


def _partial_object_metadata() -> types.Struct:
    meta = builtin.types().definition(f"{META}ObjectMeta")
    return types.Struct("PartialObjectMetadata", lambda: {"metadata": types.Field("metadata", meta)})


def _partial_object_metadata_list() -> types.Struct:
    items = types.List("", _partial_object_metadata())
    meta = builtin.types().definition(f"{META}ListMeta")
    fields = {"metadata": types.Field("metadata", meta), "items": types.Field("items", items)}
    return types.Struct("PartialObjectMetadataList", lambda: fields)


@cache
def _unpublished(kind: str) -> types.Struct | None:
    """Kinds that have a message but no published definition."""
    make = {
        "PartialObjectMetadata": _partial_object_metadata,
        "PartialObjectMetadataList": _partial_object_metadata_list,
    }.get(kind)
    return make() if make is not None else None


@cache
def codec() -> ProtobufCodec:
    """The codec of this process: the types of all minors at once."""
    known = builtin.types_of_every_minor()
    return ProtobufCodec(lambda group, version, kind: known.kind(group, version, kind) or _unpublished(kind))
