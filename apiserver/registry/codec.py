"""Objects of one resource to and from the bytes in the store.

Values in the store are compact JSON in the storage version, without resourceVersion, as kube-apiserver writes them
with JSON as its storage media type. Used by the store (writes) and the watch cache (reads).
"""

from __future__ import annotations

from collections.abc import Mapping
from sys import intern
from typing import Any

import orjson

from apiserver.api.encoded import NO_LABELS, EncodedObject
from apiserver.api.resource import Resource

Object = dict[str, Any]


class Codec:
    """Encodes and decodes the objects of one storage prefix.

    :param resource: any of the resources that share the prefix.
    """

    def __init__(self, resource: Resource) -> None:
        self.gvk = resource.storage_gvk
        self._selectable = resource.strategy.selectable_fields if resource.selectable_fields else None
        self._namespaced = resource.namespaced
        self._head = {"kind": self.gvk.kind, "apiVersion": str(self.gvk.group_version)}
        self._labels: dict[tuple[tuple[str, str], ...], Mapping[str, str]] = {}

    @property
    def head(self) -> bytes:
        """What every ``EncodedObject.data`` of this resource begins with, up to the first other field."""
        return orjson.dumps(self._head)[:-1] + b","

    def encode(self, obj: Object) -> bytes:
        """The value to store for ``obj`` (whose resourceVersion, if any, is left out)."""
        metadata = obj["metadata"]
        rv = metadata.pop("resourceVersion", None)
        try:
            return orjson.dumps({**self._head, "metadata": metadata, **obj, **self._head})
        finally:
            if rv is not None:
                metadata["resourceVersion"] = rv

    def encoded(self, obj: Object, revision: int, key: str) -> EncodedObject:
        """``obj`` as readers see it, with ``revision`` as its resourceVersion (0: none, as after a dry run)."""
        metadata = obj["metadata"]
        if revision:
            metadata["resourceVersion"] = str(revision)
        data = orjson.dumps({**self._head, "metadata": metadata, **obj, **self._head})
        return EncodedObject(
            data,
            revision,
            key,
            self._shared_labels(metadata.get("labels")),
            self._selectable(obj) if self._selectable else NO_LABELS,
            intern(metadata.get("namespace") or "") if self._namespaced else "",
            metadata.get("name") or "",
        )

    def decode_stored(self, key: str, value: bytes, revision: int) -> EncodedObject:
        """What the watch cache keeps for a stored value.

        :raises ValueError: the value is not a JSON object with metadata.
        """
        obj = orjson.loads(value)
        if not isinstance(obj, dict) or not isinstance(obj.get("metadata"), dict):
            raise ValueError(f"{key}: the stored value is not an object")
        return self.encoded(obj, revision, key)

    @staticmethod
    def fields(obj: EncodedObject) -> Mapping[str, str]:
        """The values that field selectors look at."""
        return obj.fields

    def _shared_labels(self, labels: Mapping[str, str] | None) -> Mapping[str, str]:
        # Many objects carry the same labels: one dict for all of them saves more memory than anything else here.
        if not labels:
            return NO_LABELS
        items = tuple(labels.items())
        shared = self._labels.get(items)
        if shared is None:
            if len(self._labels) >= 4096:
                self._labels.clear()
            shared = self._labels[items] = {intern(k): intern(v) for k, v in items}
        return shared
