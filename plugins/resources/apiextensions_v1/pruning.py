"""Whether a value has fields that its structural schema does not know.

Asked by :mod:`.defaults` and :mod:`.ratchets`; nothing is taken away here.

COMPAT: pkg/apiserver/schema/pruning
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Object = Mapping[str, Any]

META = frozenset(("apiVersion", "kind", "metadata"))


def has_unknown(value: Any, schema: Object | None, *, embedded: bool = False) -> bool:
    """Whether pruning would take something away.

    :param schema: of the value, None where nothing is known.
    :param embedded: whether the value is an object with metadata, even if its schema does not say so.
    """
    if isinstance(value, list):
        return any(has_unknown(item, _items(schema)) for item in value)
    if not isinstance(value, Mapping):
        return False
    if schema is None:
        return bool(value)
    if schema.get("x-kubernetes-preserve-unknown-fields"):
        return _known_parts_have_unknown(value, schema, embedded)
    embedded = embedded or bool(schema.get("x-kubernetes-embedded-resource"))
    return any(
        not _declared(name, schema) or has_unknown(inner, _field(name, schema))
        for name, inner in value.items()
        if not (embedded and name in META)
    )


def _known_parts_have_unknown(value: Any, schema: Object | None, embedded: bool) -> bool:
    """The same where unknown fields are kept: in what is declared nevertheless. COMPAT: skipPrune"""
    if schema is None:
        return False
    if isinstance(value, list):
        return any(_known_parts_have_unknown(item, _items(schema), False) for item in value)
    if not isinstance(value, Mapping):
        return False
    embedded = embedded or bool(schema.get("x-kubernetes-embedded-resource"))
    return any(
        has_unknown(inner, _field(name, schema))
        for name, inner in value.items()
        if _declared(name, schema) and not (embedded and name in META)
    )


def _items(schema: Object | None) -> Object | None:
    items = schema.get("items") if schema is not None else None
    return items if isinstance(items, Mapping) else None


def _declared(name: str, schema: Object) -> bool:
    # COMPAT: additionalProperties: false is as good as any
    return name in (schema.get("properties") or {}) or schema.get("additionalProperties") is not None


def _field(name: str, schema: Object) -> Object | None:
    properties = schema.get("properties") or {}
    if name in properties:
        found: Object = properties[name]
        return found
    additional = schema.get("additionalProperties")
    return additional if isinstance(additional, Mapping) else None
