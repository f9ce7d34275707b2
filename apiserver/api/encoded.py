"""An object as encoded bytes, decoded only when somebody needs it.

The watch cache holds these, handlers write them out, watch events carry them. Immutable and shared between threads.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

NO_LABELS: Mapping[str, str] = {}


class EncodedObject:
    """One object in its storage version.

    ``data`` is compact JSON with ``metadata.resourceVersion`` in it, without a newline; it begins with kind and
    apiVersion, so that list items can leave them out. ``revision`` is the same number as resourceVersion (0 for an
    object that was never stored). ``labels`` and ``fields`` are what selectors look at; ``extra_fields`` are the
    values of the kind's own selectable fields. ``key`` is the storage key.
    """

    __slots__ = ("data", "extra_fields", "key", "labels", "name", "namespace", "revision")

    def __init__(
        self,
        data: bytes,
        revision: int = 0,
        key: str = "",
        labels: Mapping[str, str] = NO_LABELS,
        extra_fields: Mapping[str, str] = NO_LABELS,
        namespace: str = "",
        name: str = "",
    ) -> None:
        self.data = data
        self.revision = revision
        self.key = key
        self.labels = labels
        self.extra_fields = extra_fields
        self.namespace = namespace
        self.name = name

    @property
    def fields(self) -> dict[str, str]:
        """The values of all selectable fields, by path."""
        return {**self.extra_fields, "metadata.name": self.name, "metadata.namespace": self.namespace}

    @classmethod
    def of(cls, obj: Mapping[str, Any]) -> EncodedObject:
        """From a dict (not kept) that was never stored, or whose resourceVersion tells its revision."""
        metadata = obj.get("metadata") or {}
        head = {"kind": obj.get("kind"), "apiVersion": obj.get("apiVersion")}
        return cls(
            orjson.dumps({**head, **obj}),
            int(metadata.get("resourceVersion") or "0"),
            labels=metadata.get("labels") or NO_LABELS,
            namespace=metadata.get("namespace") or "",
            name=metadata.get("name") or "",
        )

    def decode(self) -> dict[str, Any]:
        """A new dict that the caller may change."""
        return orjson.loads(self.data)  # type: ignore[no-any-return]  # an object by construction

    def __repr__(self) -> str:
        return f"EncodedObject({self.key or self.data[:60]!r}@{self.revision})"
