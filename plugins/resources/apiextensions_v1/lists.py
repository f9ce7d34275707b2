"""How lists and maps are merged: ``x-kubernetes-list-type``, ``-list-map-keys`` and ``-map-type`` of a schema.

Called by :mod:`.schema` for each schema in a schema.

COMPAT: ValidateCustomResourceDefinitionOpenAPISchema, validateMapListKeysMapSet
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from apiserver.api.fields import FieldError, Path

Object = Mapping[str, Any]

TYPE, KEYS, MAP_TYPE = "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type"
_LIST_TYPES, _MAP_TYPES = ("atomic", "set", "map"), ("atomic", "granular")
_ATOMIC = f"must be atomic as item of a list with {TYPE}=set"
_IS_MAP = f"must be map if {KEYS} is non-empty"


@dataclass(frozen=True)
class Rules:
    """What is asked of lists; an update asks less where the definition was wrong before."""

    atomic_items: bool = True
    """Items of sets are atomic."""
    strict_keys: bool = True
    """Keys are always there, and items are never null."""


def list_errors(schema: Object, path: Path, rules: Rules) -> Iterator[FieldError]:
    """Problems of how a value is merged."""
    type_, list_type, map_type = schema.get("type") or "", schema.get(TYPE), schema.get(MAP_TYPE)
    if map_type is not None:
        if type_ != "object":
            yield _typed(path, type_, f"must be object if {MAP_TYPE} is specified")
        if map_type not in _MAP_TYPES:
            yield FieldError.not_supported(path / MAP_TYPE, map_type, _MAP_TYPES)
    if list_type is not None:
        if type_ != "array":
            yield _typed(path, type_, f"must be array if {TYPE} is specified")
        elif rules.atomic_items:
            yield from item_errors(schema, path)
        if list_type not in _LIST_TYPES:
            yield FieldError.not_supported(path / TYPE, list_type, _LIST_TYPES)
    if schema.get(KEYS) and list_type != "map":
        at = path / TYPE
        yield FieldError.required(at, _IS_MAP) if list_type is None else FieldError.invalid(at, list_type, _IS_MAP)
    if list_type == "map":
        yield from _map_errors(schema, path)
    if rules.strict_keys:
        yield from key_errors(schema, path)


def _typed(path: Path, type_: str, text: str) -> FieldError:
    return FieldError.invalid(path / "type", type_, text) if type_ else FieldError.required(path / "type", text)


def _item(schema: Object) -> Object | None:
    """The schema of the items, if there is one for all."""
    items = schema.get("items")
    return items if isinstance(items, Mapping) else None


def item_errors(schema: Object, path: Path) -> Iterator[FieldError]:
    """Problems of the items of a set."""
    item = _item(schema)
    if schema.get(TYPE) != "set" or item is None:
        return
    at, list_type = path / "items", item.get(TYPE)
    if item.get("type") == "array" and list_type not in (None, "atomic"):
        yield FieldError.invalid(at / TYPE, list_type, _ATOMIC)
    if item.get("type") == "object" and item.get(MAP_TYPE) != "atomic":
        # COMPAT: the value that is shown is the one of the list type
        yield FieldError.invalid(at / MAP_TYPE, list_type, _ATOMIC)


def _map_errors(schema: Object, path: Path) -> Iterator[FieldError]:
    keys, items, at = schema.get(KEYS) or [], schema.get("items"), path / "items"
    if not keys:
        yield FieldError.required(path / KEYS, f"must not be empty if {TYPE} is map")
    if items is None:
        yield FieldError.required(at, f"must have a schema if {TYPE} is map")
    elif isinstance(items, list):
        yield FieldError.invalid(at, items, f"must only have a single schema if {TYPE} is map")
    elif items.get("type") != "object":
        text = f"must be object if parent array's {TYPE} is map"
        yield FieldError.invalid(at / "type", items.get("type") or "", text)
    else:
        yield from _named_errors(keys, items, path)


def _named_errors(keys: list[str], item: Object, path: Path) -> Iterator[FieldError]:
    properties, at = item.get("properties") or {}, path / KEYS
    for i, key in enumerate(keys):
        if key not in properties:
            yield FieldError.invalid(at, keys, "entries must all be names of item properties")
        elif properties[key].get("type") in ("array", "object"):
            where = (path / "items" / "properties").key(key) / "type"
            # COMPAT: the value that is shown is the type of the item
            text = f"must be a scalar type if parent array's {TYPE} is map"
            yield FieldError.invalid(where, item["type"], text)
        if key in keys[:i]:
            yield FieldError.invalid(at, keys, "must not contain duplicate entries")


def key_errors(schema: Object, path: Path) -> Iterator[FieldError]:
    """Keys that an item may lack, and items that may be null."""
    list_type, item, at = schema.get(TYPE), _item(schema), path / "items"
    if list_type not in ("set", "map") or item is None:
        return
    if item.get("nullable"):
        yield FieldError.forbidden(at / "nullable", f"cannot be nullable when {TYPE} is {list_type}")
    if list_type == "set":
        return
    required, properties = item.get("required") or (), item.get("properties") or {}
    for key in schema.get(KEYS) or ():
        if key not in properties:
            continue
        where = (at / "properties").key(key)
        if key not in required and properties[key].get("default") is None:
            text = f"this property is in {KEYS}, so it must have a default or be a required property"
            yield FieldError.required(where / "default", text)
        if properties[key].get("nullable"):
            text = f"this property is in {KEYS}, so it cannot be nullable"
            yield FieldError.forbidden(where / "nullable", text)
