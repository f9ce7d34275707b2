"""Walks over objects that server-side apply needs: what a configuration sets, merging, removing.

Called by :mod:`apiserver.registry.managedfields.apply`. Nothing changes its arguments; results share what is unchanged
with them.

COMPAT: structured-merge-diff typed.TypedValue ToFieldSet, Merge and RemoveItems; fieldpath EnsureNamedFieldsAreMembers
"""

from __future__ import annotations

from collections import deque
from typing import Any

from apiserver.registry.managedfields import elements
from apiserver.registry.managedfields.fieldset import EMPTY, MEMBER, Fields, as_member, is_member
from apiserver.registry.managedfields.shapes import FREE, FREE_MAP, Free, Keyed, Record, Shape, Values, index


def applied(shape: Shape | None, value: Any) -> Fields:
    """The fields that a configuration sets below a place: leaves, list items, map entries, and empty maps.

    A struct is set by its fields only; a list by its items, so an empty one sets nothing.
    """
    if isinstance(value, dict):
        record = _record(shape)
        return _applied_entries(record, value) if record else EMPTY
    if not value or not isinstance(value, list):
        return EMPTY
    if isinstance(shape, Keyed):
        return {
            label: MEMBER if len(items) > 1 else _owned(applied(shape.item, items[0]))
            for label, items in sorted(index(shape, value).items())
        }
    if isinstance(shape, Values):
        return dict.fromkeys(sorted(elements.of_values(value)), MEMBER)
    return EMPTY


def _record(shape: Shape | None) -> Record | None:
    if isinstance(shape, Free):
        return FREE_MAP
    return shape if isinstance(shape, Record) else None


def _applied_entries(shape: Record, value: dict[str, Any]) -> Fields:
    found: Fields = {}
    declared = shape.fields
    for name in sorted(value):
        label, inner = shape.entry(name)
        item = value[name]
        if inner is None or (inner is FREE and not isinstance(item, dict)):
            found[label] = MEMBER
            continue
        below = applied(inner, item)
        if item is None or item == {} or name not in declared:
            found[label] = _owned(below)
        elif below:
            found[label] = below
    return found


def _owned(below: Fields) -> Fields:
    return {".": MEMBER, **below} if below else MEMBER


def with_named_fields(shape: Shape | None, fields: Fields) -> Fields:
    """The set, and all declared fields that anything in it lies below. COMPAT: EnsureNamedFieldsAreMembers"""
    result = fields
    for element, node in fields.items():
        if not node or element == ".":
            continue
        inner, declared = _below(shape, element)
        grown = with_named_fields(inner, node)
        if declared:
            grown = as_member(grown)
        if grown is not node:
            if result is fields:
                result = dict(fields)
            result[element] = grown
    return result


def _below(shape: Shape | None, element: str) -> tuple[Shape | None, bool]:
    """The shape at a path element, and whether that is a declared field."""
    record = _record(shape)
    if record and element.startswith("f:"):
        name = element[2:]
        return record.entry(name)[1], name in record.fields
    return (shape.item if isinstance(shape, Keyed) else None), False


def reconciled(shape: Shape | None, fields: Fields) -> Fields:
    """The set as the type has it now: what has become atomic is owned as a whole.

    COMPAT: typed.ReconcileFieldSetWithSchema
    """
    result = fields
    for element, node in fields.items():
        if not node or element == ".":
            continue
        inner, _ = _below(shape, element)
        known = inner is not None or _is_known(shape, element)
        now = (reconciled(inner, node) if inner is not None else MEMBER) if known else node
        if now is not node:
            if result is fields:
                result = dict(fields)
            result[element] = now
    return result


def _is_known(shape: Shape | None, element: str) -> bool:
    """Whether the type says anything of a path element. Fields that it does not know are left alone."""
    record = _record(shape)
    if record and element.startswith("f:"):
        return record.open or element[2:] in record.fields
    return isinstance(shape, Keyed) and element.startswith("k:")


def merge(shape: Shape | None, live: Any, config: Any) -> Any:
    """A configuration merged into a live value. Nothing goes away; null and empty do not overwrite what has parts."""
    record = _record(shape)
    if record is not None and (isinstance(config, dict) or config is None) and isinstance(live, dict) and live:
        return _merge_entries(record, live, config or {})
    if isinstance(shape, Keyed | Values) and isinstance(live, list) and live:
        return _merge_lists(shape, live, config) if config else live
    return config


def _merge_entries(shape: Record, live: dict[str, Any], config: dict[str, Any]) -> dict[str, Any]:
    result = dict(live)
    for name, value in config.items():
        old = live.get(name)
        if old is None or old == value:
            result[name] = value
        else:
            inner = shape.entry(name)[1]
            result[name] = value if inner is None else merge(inner, old, value)
    return result


def _merge_lists(shape: Keyed | Values, live: list[Any], config: list[Any]) -> list[Any]:
    """Items of both lists: in the order of the configuration, with other live items where they were between them.

    COMPAT: mergingWalker.visitListItems
    """
    item = shape.item if isinstance(shape, Keyed) else None
    old_labels, new_labels = shape.labels(live), shape.labels(config)
    # An item that is there twice is not merged with the new one.
    old = {label: items[0] if len(items) == 1 else None for label, items in index(shape, live).items()}
    new = dict(zip(new_labels, config, strict=True))
    shared = deque(label for label in new_labels if label in old)
    merged: set[str] = set()
    result: list[Any] = []

    def take(label: str) -> None:
        merged.add(label)
        result.append(merge(item, old[label], new[label]) if label in old else new[label])
        if shared and shared[0] == label:
            shared.popleft()

    i = j = 0
    while i < len(live) or j < len(config):
        label = old_labels[i] if i < len(live) else ""
        if i < len(live) and label not in new:
            result.append(live[i])
            i += 1
            continue
        if i < len(live) and j < len(config):
            if label == new_labels[j]:
                take(label)
                i += 1
                j += 1
                continue
            if shared and shared[0] != label:
                # A shared item, but another one comes first in the configuration.
                i += 1
                continue
        if i < len(live) and label in merged:
            i += 1
        if j < len(config):
            take(new_labels[j])
            j += 1
    return result


def remove(shape: Shape | None, value: Any, doomed: Fields) -> Any:
    """The value without the members of ``doomed``.

    A container that loses all its entries stays, empty, unless it is the top: that becomes null.

    COMPAT: removeItemsWithSchema
    """
    record = _record(shape)
    if record is not None and isinstance(value, dict):
        kept = {}
        within = False
        for name, item in value.items():
            label, inner = record.entry(name)
            node = doomed.get(label)
            if node is None:
                kept[name] = item
            elif not is_member(node):
                within = True
                kept[name] = _remove_within(inner, item, node)
        return kept if kept or within else None
    if isinstance(shape, Keyed | Values) and isinstance(value, list):
        inner = shape.item if isinstance(shape, Keyed) else None
        left = []
        for label, item in zip(shape.labels(value), value, strict=True):
            node = doomed.get(label)
            if node is None:
                left.append(item)
            elif not is_member(node):
                left.append(_remove_within(inner, item, node))
        return left or None
    return None if isinstance(value, dict | list) else value


def _remove_within(shape: Shape | None, value: Any, doomed: Fields) -> Any:
    left = remove(shape, value, doomed)
    return type(value)() if left is None and isinstance(value, dict | list) else left
