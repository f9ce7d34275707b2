"""Objects of one resource to and from the bytes in the store.

Values in the store are compact JSON in the storage version, without resourceVersion, as kube-apiserver writes them
with JSON as its storage media type. Used by the store (writes) and the watch cache (reads).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from sys import intern
from typing import Any

import orjson

from apiserver.api.encoded import NO_LABELS, EncodedObject, head_of, rest_of
from apiserver.api.resource import Resource

Object = dict[str, Any]
_METADATA = b'"metadata":{'
REMEMBERED = 64
"""How many written objects are kept until the watch cache surely has them."""


class Codec:
    """Encodes and decodes the objects of one storage prefix.

    :param resource: any of the resources that share the prefix.
    :param older: turns an object of another version, by its ``apiVersion``, into one of the storage version, in
        place: what was written under another emulated minor, or by a kube-apiserver, may be in any version.
    :param complete: prunes a stored object and sets defaults in it, in place, by a schema that may have changed since.
    """

    def __init__(
        self,
        resource: Resource,
        older: Mapping[str, Callable[[Object], None]] | None = None,
        complete: Callable[[Object], None] | None = None,
    ) -> None:
        self.gvk = resource.storage_gvk
        self._complete = complete
        self._older = older or {}
        self._selectable = resource.strategy.selectable_fields if resource.selectable_fields else None
        self._namespaced = resource.namespaced
        self._head = {"kind": self.gvk.kind, "apiVersion": str(self.gvk.group_version)}
        self._encoded_head = head_of(self.gvk.kind, str(self.gvk.group_version))
        self._opening = self._encoded_head + _METADATA
        self._labels: dict[tuple[tuple[str, str], ...], Mapping[str, str]] = {}
        self._written: dict[str, EncodedObject] = {}
        self._lock = threading.Lock()

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
        return self._with(rest_of({"metadata": metadata, **obj}), obj, revision, key)

    def written(self, value: bytes, obj: Object, revision: int, key: str) -> EncodedObject:
        """What readers get for ``value``, the encoded ``obj``, now that it is stored. Sets its resourceVersion.

        It is remembered for a while, so that the watch cache need not decode what has just been encoded, and the next
        write of the same object need not wait for the watch cache.
        """
        if self._complete is not None:
            self._complete(obj)
            made = self.encoded(obj, revision, key)
        else:
            made = self._with(self._stamped(value, revision), obj, revision, key)
            obj["metadata"]["resourceVersion"] = str(revision)
        with self._lock:
            self._written.pop(key, None)
            self._written[key] = made
            if len(self._written) > REMEMBERED:
                del self._written[next(iter(self._written))]
        return made

    def last_written(self, key: str) -> EncodedObject | None:
        """What this process has last written to ``key``, if that was not long ago. Others may have written since."""
        return self._written.get(key)

    def forget(self, key: str) -> None:
        """It was deleted."""
        with self._lock:
            self._written.pop(key, None)

    def decode_stored(self, key: str, value: bytes, revision: int) -> EncodedObject:
        """What the watch cache keeps for a stored value.

        :raises ValueError: the value is not a JSON object with metadata.
        """
        made = self._written.get(key)
        if made is not None and made.revision == revision:
            return made
        obj = orjson.loads(value)
        if not isinstance(obj, dict) or not isinstance(obj.get("metadata"), dict):
            raise ValueError(f"{key}: the stored value is not an object")
        if self._complete is not None:
            self._complete(obj)
            return self.encoded(obj, revision, key)
        if self._stampable(value, obj["metadata"]):
            return self._with(self._stamped(value, revision), obj, revision, key)
        convert = self._older.get(obj.get("apiVersion", ""))
        if convert is not None:
            convert(obj)
        return self.encoded(obj, revision, key)

    def _stampable(self, value: bytes, metadata: Object) -> bool:
        """Whether a stored value has the form that :meth:`encode` gives it; another program's may not."""
        ours = value.startswith(self._opening) and value.endswith(b"}")
        return ours and bool(metadata) and "resourceVersion" not in metadata

    def _stamped(self, value: bytes, revision: int) -> bytes:
        """A stored value without its head, with the revision put in where metadata begins."""
        stamp = b'%b"resourceVersion":"%d",' % (_METADATA, revision)
        return b"".join((stamp, memoryview(value)[len(self._opening) :]))

    def _with(self, rest: bytes, obj: Object, revision: int, key: str) -> EncodedObject:
        metadata = obj["metadata"]
        return EncodedObject(
            self._encoded_head,
            rest,
            revision,
            key,
            self._shared_labels(metadata.get("labels")),
            self._selectable(obj) if self._selectable else NO_LABELS,
            intern(metadata.get("namespace") or "") if self._namespaced else "",
            metadata.get("name") or "",
        )

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
