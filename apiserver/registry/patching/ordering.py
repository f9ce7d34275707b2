"""Order and identity of list items in strategic merge. Used by :mod:`apiserver.registry.patching.strategic`.

COMPAT: strategicpatch index, normalizeSliceOrder, mergeSortedSlice, sliceElementType; mergepatch errors
"""

from __future__ import annotations

from typing import Any

from apiserver.api.errors import UnknownError, UnprocessableEntity
from apiserver.registry.patching.results import go_print, go_type


def same(left: Any, right: Any) -> bool:
    """Whether two scalars are one: 1, 1.0 and true differ, as they do in Go."""
    return type(left) is type(right) and bool(left == right)


def no_merge_key(item: dict[str, Any], merge_key: str) -> UnknownError:
    """The error for a list item without its merge key."""
    return UnknownError(f"map: {go_print(item)} does not contain declared merge key: {merge_key}")


def directive_error(directive: Any, patch: dict[str, Any]) -> UnknownError:
    """The error for a ``$patch`` with a word that means nothing here."""
    return UnknownError(f"unknown patch type: {go_print(directive)} in map: {go_print(patch)}")


def element_kind(*lists: list[Any]) -> type:
    """The one Python type of all items.

    :raises UnknownError: the types differ, or there are no items.
    :raises UnprocessableEntity: the items are lists.
    """
    kind: type | None = None
    for item in (item for items in lists for item in items):
        if kind is None:
            kind = type(item)
            if kind is list:
                raise UnprocessableEntity("the server rejected our request due to an error in our request", details={})
        elif type(item) is not kind:
            shown = " ".join(go_print(items) for items in lists)
            raise UnknownError(f"list element types are not identical: [{shown}]")
    if kind is None:
        raise UnknownError("no elements in any of the given slices")
    return kind


def find_item(items: list[Any], merge_key: str, value: Any) -> int | None:
    """Where the item with this merge key value is; None for nowhere.

    :raises UnknownError: an item is no map.
    """
    for at, item in enumerate(items):
        if not isinstance(item, dict):
            raise UnknownError(f"value for key {at} is not a map")
        if merge_key in item and same(item[merge_key], value):
            return at
    return None


def _place(order: list[Any], item: Any, merge_key: str, kind: type) -> int:
    """The index of an item in ``order``, -1 if it is not there."""
    wanted = _identity(item, merge_key, kind)
    for at, other in enumerate(order):
        if same(_identity(other, merge_key, kind), wanted):
            return at
    return -1


def _identity(item: Any, merge_key: str, kind: type) -> Any:
    if kind is not dict:
        return item
    return item.get(merge_key) if isinstance(item, dict) else None


def sort_by(items: list[Any], order: list[Any], merge_key: str, kind: type) -> list[Any]:
    """The items in the order of another list; items to be deleted come last.

    :raises UnknownError: an item of either list has no merge key.
    """
    deleted: list[Any] = []
    if kind is dict:
        for item in (*items, *order):
            if not isinstance(item, dict):
                raise UnknownError(f"expected a map[string]interface {{}}, but received a {go_type(item)}")
            if merge_key not in item:
                raise no_merge_key(item, merge_key)
        deleted = [item for item in items if item.get("$patch") == "delete"]
        items = [item for item in items if item.get("$patch") != "delete"]
    places = [_place(order, item, merge_key, kind) for item in items]
    rows = list(zip(places, items, strict=True))
    if -1 in places:
        _insertion_sort(rows)
    else:
        rows.sort(key=lambda row: row[0])
    return [item for _, item in rows] + deleted


def _insertion_sort(rows: list[tuple[int, Any]]) -> None:
    """COMPAT: sort.SliceStable with a comparison that says "less" when either item has no place in the order"""
    for i in range(1, len(rows)):
        for j in range(i, 0, -1):
            left, right = rows[j - 1][0], rows[j][0]
            if left >= 0 and right >= 0 and right >= left:
                break
            rows[j - 1], rows[j] = rows[j], rows[j - 1]


def merge_orders(server: list[Any], given: list[Any], order: list[Any], merge_key: str, kind: type) -> list[Any]:
    """Two sorted lists in one: an item of the server comes first only if ``order`` has it before the next given one."""
    merged: list[Any] = []
    i = j = 0
    while i < len(server) and j < len(given):
        left = _place(order, server[i], merge_key, kind)
        right = _place(order, given[j], merge_key, kind)
        if 0 <= left < right:
            merged.append(server[i])
            i += 1
        else:
            merged.append(given[j])
            j += 1
    return merged + server[i:] + given[j:]
