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

    ``data`` is compact JSON with ``metadata.resourceVersion`` in it, without a newline; ``revision`` the same number
    (0 for an object that was never stored). ``labels`` and ``fields`` (selectable fields by path) are what selectors
    look at. ``key`` is the storage key, ``created_at`` nothing but what the object says.
    """

    __slots__ = ("data", "fields", "key", "labels", "revision")

    def __init__(
        self,
        data: bytes,
        revision: int = 0,
        key: str = "",
        labels: Mapping[str, str] = NO_LABELS,
        fields: Mapping[str, str] | tuple[str, ...] = (),
    ) -> None:
        self.data = data
        self.revision = revision
        self.key = key
        self.labels = labels
        self.fields = fields

    @classmethod
    def of(cls, obj: Mapping[str, Any]) -> EncodedObject:
        """From a dict (not kept)."""
        rv = obj.get("metadata", {}).get("resourceVersion") or "0"
        return cls(orjson.dumps(obj), int(rv))

    def decode(self) -> dict[str, Any]:
        """A new dict that the caller may change."""
        return orjson.loads(self.data)  # type: ignore[no-any-return]  # an object by construction

    def __repr__(self) -> str:
        return f"EncodedObject({self.key or self.data[:60]!r}@{self.revision})"
