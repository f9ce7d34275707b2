"""Lists that are sets or maps hold nothing twice.

Called by :mod:`.strategy`.

COMPAT: apiextensions-apiserver/pkg/apiserver/schema/listtype ValidateListSetsAndMaps
"""

from __future__ import annotations

from collections import Counter
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
    return "items" in schema or "properties" in schema or "additionalProperties" in schema


def _duplicates(value: list[Any], schema: Schema, path: Path) -> list[FieldError]:
    kind = schema.get("x-kubernetes-list-type")
    if kind == "set":
        return [FieldError.duplicate(path / i, value[i]) for i in _repeated(value)]
    if kind != "map":
        return []
    for i, item in enumerate(value):
        if item is not None and not isinstance(item, dict):
            return [FieldError.invalid(path / i, item, "must be an object for an array of list-type map")]
    names = schema.get("x-kubernetes-list-map-keys") or ()
    # COMPAT: what has no key is like all others without it
    keys = [{name: item[name] for name in names if item is not None and name in item} for item in value]
    return [FieldError.duplicate(path / i, keys[i]) for i in _repeated(keys)]


def _repeated(values: list[Any]) -> list[int]:
    """Where something stands for the second time; a third time is not told."""
    times = Counter[bytes]()
    found = []
    for i, value in enumerate(values):
        encoded = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
        times[encoded] += 1
        if times[encoded] == 2:
            found.append(i)
    return found
