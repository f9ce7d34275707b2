"""New values beside their old ones: what an update has left as it was does not fail for a rule that came later.

Called by ``rules`` on an update. COMPAT: k8s.io/apiserver/pkg/cel/common CorrelatedObject, MakeMapList;
apiextensions schema/cel ratchetingOptions
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

Schema = Mapping[str, Any]
_CORRELATABLE_MAPS: Final = (None, "granular", "atomic")
_SCALARS: Final = (bool, int, float, str)


def map_is_correlatable(schema: Schema) -> bool:
    """Whether entries of the map can be told to be the same ones as before."""
    return schema.get("x-kubernetes-map-type") in _CORRELATABLE_MAPS


class MapList:
    """Items of a list of type map, found by their keys; of any other list, none is found."""

    def __init__(self, schema: Schema, items: Any) -> None:
        is_map = schema.get("x-kubernetes-list-type") == "map" and isinstance(items, list)
        self._keys: Sequence[str] = schema.get("x-kubernetes-list-map-keys") or ()
        self._items: dict[Hashable, Any] = {}
        for item in items if is_map and self._keys else ():
            key = self._key(item)
            if key is not None:
                self._items.setdefault(key, item)

    def _key(self, item: Any) -> Hashable:
        if not isinstance(item, Mapping):
            return None
        values = [item.get(key) for key in self._keys]
        if not all(isinstance(value, _SCALARS) for value in values):
            return None
        return tuple((type(value), value) for value in values)

    def get(self, item: Any) -> Any:
        """The item with the same keys, or None."""
        key = self._key(item) if self._items else None
        return None if key is None else self._items.get(key)


class Correlated:
    """A value that has an old value, with the schema of both."""

    def __init__(self, schema: Schema, value: Any, old: Any) -> None:
        self._schema = schema
        self._value = value
        self._old = old
        self._children: dict[str | int, Correlated | None] = {}

    @cached_property
    def unchanged(self) -> bool:
        """Whether nothing below differs. COMPAT: CachedDeepEqual, which knows items of map lists in any order"""
        value, old = self._value, self._old
        if isinstance(value, Mapping) and isinstance(old, Mapping):
            return len(value) == len(old) and all(_unchanged(self.key(name)) for name in value)
        if isinstance(value, list) and isinstance(old, list):
            if len(value) != len(old):
                return False
            if self._schema.get("x-kubernetes-list-type") == "map":
                return all(_unchanged(self.item(index)) for index in range(len(value)))
        return same(value, old)

    def key(self, name: str) -> Correlated | None:
        """A property or an entry, if it was there before."""
        if name not in self._children:
            self._children[name] = self._key(name)
        return self._children[name]

    def _key(self, name: str) -> Correlated | None:
        value, old = self._value, self._old
        if not (isinstance(value, Mapping) and isinstance(old, Mapping) and name in value and name in old):
            return None
        schema = (self._schema.get("properties") or {}).get(name)
        if schema is None:
            schema = self._schema.get("additionalProperties")
        return Correlated(schema, value[name], old[name]) if isinstance(schema, Mapping) else None

    @cached_property
    def _old_items(self) -> MapList:
        return MapList(self._schema, self._old)

    def item(self, index: int) -> Correlated | None:
        """An item, if its list is one of type map and it was there before."""
        if index not in self._children:
            self._children[index] = self._item(index)
        return self._children[index]

    def _item(self, index: int) -> Correlated | None:
        items = self._schema.get("items")
        old = self._old_items.get(self._value[index]) if isinstance(self._value, list) else None
        if old is None or not isinstance(items, Mapping):
            return None
        return Correlated(items, self._value[index], old)


def _unchanged(part: Correlated | None) -> bool:
    return part is not None and part.unchanged


def same(a: Any, b: Any) -> bool:
    """Whether two values of JSON are the same, ``1`` and ``1.0`` and ``true`` being different."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(value, b[key]) for key, value in a.items())
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)


class Ratchet:
    """Where a check stands: at a value with an old one, or below the nearest that has one."""

    __slots__ = ("_current", "_parent")

    def __init__(self, current: Correlated | None = None, parent: Correlated | None = None) -> None:
        self._current = current
        self._parent = parent

    def forgives(self) -> bool:
        """Whether an error here is one of what has not been changed."""
        return _unchanged(self._current if self._current is not None else self._parent)

    def without_current(self) -> Ratchet:
        """For ``allOf``, whose errors are not forgiven for the value itself."""
        return Ratchet(None, self._parent)

    def key(self, name: str) -> Ratchet:
        """At an entry of the value."""
        if self._current is None:
            return self
        if self._parent is None and name in ("apiVersion", "kind"):
            # Both objects have been brought to one version: a change does not show.
            return Ratchet()
        return Ratchet(self._current.key(name), self._current)

    def item(self, index: int) -> Ratchet:
        """At an item of the value."""
        return self if self._current is None else Ratchet(self._current.item(index), self._current)
