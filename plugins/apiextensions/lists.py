"""Lists that are sets or maps hold nothing twice.

Called by :mod:`.strategy`.

COMPAT: apiextensions-apiserver/pkg/apiserver/schema/listtype ValidateListSetsAndMaps
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from apiserver.api.fields import FieldError, Path

Schema = Mapping[str, Any]


def list_errors(value: Any, schema: Schema, path: Path) -> list[FieldError]:
    """What stands twice in lists of ``value`` whose schema does not allow it."""
    if isinstance(value, list):
        items = schema.get("items") or {}
        errors = _duplicates(value, schema, path)
        if _concerns(items):
            errors += [error for i, item in enumerate(value) for error in list_errors(item, items, path / i)]
        return errors
    if not isinstance(value, dict):
        return []
    errors = []
    declared, more = schema.get("properties") or {}, schema.get("additionalProperties")
    for name, inner in value.items():
        below = declared.get(name, more)
        if isinstance(below, Mapping) and _concerns(below):
            at = path / name if name in declared else path.key(name)
            errors += list_errors(inner, below, at)
    return errors


def _concerns(schema: Schema) -> bool:
    return schema.get("type") in ("array", "object")


def _duplicates(value: list[Any], schema: Schema, path: Path) -> list[FieldError]:
    kind = schema.get("x-kubernetes-list-type")
    if kind not in ("set", "map"):
        return []
    keys = schema.get("x-kubernetes-list-map-keys") or ()
    seen: set[bytes] = set()
    told: set[bytes] = set()
    errors = []
    for i, item in enumerate(value):
        entry = item
        if kind == "map":
            if not isinstance(item, dict):
                continue
            entry = {key: item[key] for key in keys if key in item}
        encoded = orjson.dumps(entry, option=orjson.OPT_SORT_KEYS)
        if encoded in seen and encoded not in told:
            told.add(encoded)
            errors.append(FieldError.duplicate(path / i, entry))
        seen.add(encoded)
    return errors
