"""An object as encoded bytes, decoded only when somebody needs it.

The watch cache holds these, handlers write them out, watch events carry them. Immutable and shared between threads.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

_DIGITS = 20  # of a revision at most
NO_LABELS: Mapping[str, str] = {}
_IN_HEAD = ("kind", "apiVersion")


def head_of(kind: str | None, version: str | None) -> bytes:
    """How an encoded object of this kind and apiVersion begins, up to its next field."""
    return orjson.dumps({"kind": kind, "apiVersion": version})[:-1] + b","


def rest_of(obj: Mapping[str, Any]) -> bytes:
    """What follows the head in the encoded form of ``obj``."""
    rest = {name: value for name, value in obj.items() if name not in _IN_HEAD}
    return orjson.dumps(rest)[1:]


class EncodedObject:
    """One object in its storage version.

    It is compact JSON with ``metadata.resourceVersion`` in it, without a newline, in two parts: ``head``, which says
    kind and apiVersion (see :func:`head_of`) and is one object for all of a kind, and ``rest``. So list items can leave
    the head out, and another version can put its own in front, without anybody cutting bytes; ``data`` is both.

    ``revision`` is the same number as resourceVersion (0 for an object that was never stored). ``labels`` and
    ``fields`` are what selectors look at; ``extra_fields`` are the values of the kind's own selectable fields. ``key``
    is the storage key.
    """

    __slots__ = ("extra_fields", "head", "key", "labels", "name", "namespace", "rest", "revision")

    def __init__(
        self,
        head: bytes,
        rest: bytes,
        revision: int = 0,
        key: str = "",
        labels: Mapping[str, str] = NO_LABELS,
        extra_fields: Mapping[str, str] = NO_LABELS,
        namespace: str = "",
        name: str = "",
    ) -> None:
        self.head = head
        self.rest = rest
        self.revision = revision
        self.key = key
        self.labels = labels
        self.extra_fields = extra_fields
        self.namespace = namespace
        self.name = name

    @property
    def data(self) -> bytes:
        """The whole object."""
        return self.head + self.rest

    @property
    def fields(self) -> dict[str, str]:
        """The values of all selectable fields, by path."""
        return {**self.extra_fields, "metadata.name": self.name, "metadata.namespace": self.namespace}

    @classmethod
    def of(cls, obj: Mapping[str, Any]) -> EncodedObject:
        """From a dict (not kept) that was never stored, or whose resourceVersion tells its revision.

        A client's may say anything there: what is no revision counts as none.
        """
        metadata = obj.get("metadata") or {}
        version = metadata.get("resourceVersion") or ""
        return cls(
            head_of(obj.get("kind"), obj.get("apiVersion")),
            rest_of(obj),
            int(version) if version.isascii() and version.isdigit() and len(version) <= _DIGITS else 0,
            labels=metadata.get("labels") or NO_LABELS,
            namespace=metadata.get("namespace") or "",
            name=metadata.get("name") or "",
        )

    def decode(self) -> dict[str, Any]:
        """A new dict that the caller may change."""
        return orjson.loads(self.data)  # type: ignore[no-any-return]  # an object by construction

    def __repr__(self) -> str:
        return f"EncodedObject({self.key or self.data[:60]!r}@{self.revision})"
