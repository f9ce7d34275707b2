"""How stored bytes become what the cache keeps: the protocol that each resource implements, and a plain one.

Called by :mod:`.loading` and :mod:`.resource` once for each stored version of an object; nothing else here decodes,
except :func:`restamped` for the last state of an object that leaves a watch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import orjson

from apiserver.api.encoded import NO_LABELS, EncodedObject


class Codec(Protocol):
    """What the cache needs to know of a resource. Called from many threads."""

    def decode_stored(self, key: str, value: bytes, revision: int) -> EncodedObject:
        """The object of one stored value.

        It is compact JSON with ``metadata.resourceVersion`` = ``revision``, ``key`` is ``key``, labels, name,
        namespace and extra fields are filled. Equal labels should be one mapping: that is most of what an object with
        labels costs in memory. An exception means that the value can't be read: it is logged, and the object is left
        out.
        """


class JSONCodec:
    """A codec for objects that are served as they are stored.

    :param selectable: makes the selectable fields beyond name and namespace from the decoded object.
    """

    def __init__(self, selectable: Callable[[dict[str, Any]], Mapping[str, str]] | None = None) -> None:
        self._selectable = selectable

    def decode_stored(self, key: str, value: bytes, revision: int) -> EncodedObject:
        obj = orjson.loads(value)
        metadata = obj["metadata"]
        metadata["resourceVersion"] = str(revision)
        return EncodedObject(
            b"{",
            orjson.dumps(obj)[1:],
            revision,
            key,
            metadata.get("labels") or NO_LABELS,
            self._selectable(obj) if self._selectable else NO_LABELS,
            metadata.get("namespace") or "",
            metadata.get("name") or "",
        )


def restamped(obj: EncodedObject, revision: int) -> EncodedObject:
    """``obj`` with another ``metadata.resourceVersion``: what a DELETED event carries.

    COMPAT: updateResourceVersion in cacheWatcher.convertToWatchEvent.
    """
    content = orjson.loads(b"{" + obj.rest)
    content["metadata"]["resourceVersion"] = str(revision)
    rest = orjson.dumps(content)[1:]
    return EncodedObject(obj.head, rest, revision, obj.key, obj.labels, obj.extra_fields, obj.namespace, obj.name)
