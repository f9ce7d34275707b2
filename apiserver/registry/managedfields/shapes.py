"""Shapes: what field ownership needs to know of a type, compiled from the schema's type graph.

Scalars and everything atomic have no shape (None): they are owned as a whole. The others compare two values
(:meth:`~Shape.compare`) and list what a new value brings (:meth:`~Shape.added`); these two run on every write. Walks
for server-side apply are in :mod:`apiserver.registry.managedfields.typed`.

COMPAT: kube-openapi schemaconv (which types are atomic, lists, maps), structured-merge-diff TypedValue.Compare
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from apiserver.registry.managedfields import elements
from apiserver.registry.managedfields.fieldset import MEMBER, Fields
from apiserver.schema import types

_ABSENT: Final = object()
_NOTHING: Final[frozenset[str]] = frozenset()
_MAX_PLANS: Final = 256

Changes = tuple[Fields | None, Fields | None]
"""What a new value takes (adds or modifies) and what it removes: nodes, None for nothing."""

NO_CHANGES: Final[Changes] = (None, None)
_LEAF_CHANGED: Final[Changes] = (MEMBER, None)


_Plan = tuple[Fields, tuple[tuple[str, str, "Shape"], ...]]


class Shape:
    """A type whose parts are owned one by one."""

    __slots__ = ()

    def added(self, value: Any) -> Fields:
        """The node of a value that was not there before: itself and everything below."""
        raise NotImplementedError

    def compare(self, old: Any, new: Any) -> Changes:
        """What changes between two values that differ; either may be null."""
        raise NotImplementedError


def _leaves(old: Any, new: Any) -> Changes:
    """Two values without parts: null, or without items. COMPAT: emptyPromoteToLeaf"""
    return _LEAF_CHANGED if type(old) is not type(new) else NO_CHANGES


class Record(Shape):
    """An object with declared fields, a map, or both.

    ``fields``: name -> (path element, shape). ``element`` is the shape of undeclared entries, if ``open``.
    ``agreed`` are hashes of sets of fields that are known to agree with the type (a kind's only).
    """

    __slots__ = ("_plans", "_resolve", "_table", "_zero", "agreed", "element", "open")

    def __init__(
        self, resolve: Callable[[], dict[str, tuple[str, Shape | None]]], element: Shape | None, is_open: bool
    ) -> None:
        self._resolve = resolve
        self._table: dict[str, tuple[str, Shape | None]] | None = None
        self._plans: dict[tuple[str, ...], _Plan] = {}
        self._zero: dict[str, Any] | None = None
        self.agreed: set[int] = set()
        self.element = element
        self.open = is_open

    @property
    def fields(self) -> dict[str, tuple[str, Shape | None]]:
        table = self._table
        if table is None:
            table = self._table = self._resolve()
        return table

    def zero(self, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """The object that Go has for nothing, made by ``make`` the first time; never changed."""
        made = self._zero
        if made is None:
            made = self._zero = make()
        return made

    def entry(self, name: str) -> tuple[str, Shape | None]:
        """The path element and the shape of an entry."""
        return self.fields.get(name) or (f"f:{name}", self.element)

    def added(self, value: Any) -> Fields:
        if not value or not isinstance(value, dict):
            return MEMBER
        if self.open:
            return self._added_open(value)
        names = tuple(value)
        plan = self._plans.get(names)
        if plan is None:
            plan = self._plan(names)
        template, inner = plan
        if not inner:
            return template
        node = template.copy()
        for name, label, shape in inner:
            node[label] = shape.added(value[name])
        return node

    def _plan(self, names: tuple[str, ...]) -> _Plan:
        """How to make the node of an object with these fields: a node ready but for fields that have parts.

        Objects of a kind have few different sets of fields, so this is worth remembering.
        """
        rows = [(name, *self.entry(name)) for name in sorted(names)]
        template = {".": MEMBER, **{label: MEMBER for _, label, _ in rows}}
        plan = (template, tuple((name, label, shape) for name, label, shape in rows if shape is not None))
        if len(self._plans) >= _MAX_PLANS:
            self._plans.clear()
        self._plans[names] = plan
        return plan

    def _added_open(self, value: dict[str, Any]) -> Fields:
        if self.element is None and not self.fields:
            return dict.fromkeys([".", *map("f:".__add__, sorted(value))], MEMBER)
        node = {".": MEMBER}
        for name in sorted(value):
            label, shape = self.entry(name)
            node[label] = MEMBER if shape is None else shape.added(value[name])
        return node

    def compare(self, old: Any, new: Any) -> Changes:
        old = old if isinstance(old, dict) else {} if old else old
        new = new if isinstance(new, dict) else {} if new else new
        if not old and not new:
            return _leaves(old, new)
        return self.compare_entries(old or {}, new or {}, _NOTHING)

    def compare_entries(self, old: dict[str, Any], new: dict[str, Any], skipped: frozenset[str]) -> Changes:
        """:meth:`compare` for two dicts, without the entries of these names."""
        taken: Fields = {}
        removed: Fields = {}
        fields = self.fields
        missing = len(old)
        for name, value in new.items():
            before = old.get(name, _ABSENT)
            if before is not _ABSENT:
                missing -= 1
                if before is value or before == value:
                    continue
            if name in skipped:
                continue
            label, shape = fields.get(name) or (f"f:{name}", self.element)
            if shape is None:
                taken[label] = MEMBER
            elif before is _ABSENT:
                taken[label] = shape.added(value)
            else:
                below, gone = shape.compare(before, value)
                if below is not None:
                    taken[label] = below
                if gone is not None:
                    removed[label] = gone
        if missing:
            for name in old.keys() - new.keys() - skipped:
                label, shape = self.entry(name)
                removed[label] = MEMBER if shape is None else shape.added(old[name])
        return _ordered(taken), _ordered(removed)


class Keyed(Shape):
    """A list of type map: items are told apart by their key fields.

    ``labels`` gives the path elements of items, or raises :class:`elements.UnkeyedError`.
    """

    __slots__ = ("item", "keys", "labels")

    def __init__(self, keys: Sequence[str], defaults: Mapping[str, Any], item: Shape | None) -> None:
        self.keys = elements.Keys(keys, defaults)
        self.labels = self.keys.of
        self.item = item

    def added(self, value: Any) -> Fields:
        if not value or not isinstance(value, list):
            return MEMBER
        node = {".": MEMBER}
        shape = self.item
        labels = self.labels(value)
        if len(labels) == 1:
            # The usual case: one container, one port.
            node[labels[0]] = MEMBER if shape is None else shape.added(value[0])
            return node
        items = dict(zip(labels, value, strict=True))
        if len(items) == len(value):
            for label in sorted(items):
                node[label] = MEMBER if shape is None else shape.added(items[label])
            return node
        for label, same in sorted(index(self, value).items()):
            node[label] = _added(shape, same)
        return node

    def compare(self, old: Any, new: Any) -> Changes:
        return _compare_lists(self, self.item, old, new)


class Values(Shape):
    """A list of type set: items are told apart by their values. ``labels`` as in :class:`Keyed`."""

    __slots__ = ()
    labels = staticmethod(elements.of_values)

    def added(self, value: Any) -> Fields:
        if not value or not isinstance(value, list):
            return MEMBER
        return {".": MEMBER, **dict.fromkeys(sorted(elements.of_values(value)), MEMBER)}

    def compare(self, old: Any, new: Any) -> Changes:
        return _compare_lists(self, None, old, new)


class Free(Shape):
    """Anything goes: objects are owned by entry, lists and scalars as a whole. COMPAT: __untyped_deduced_"""

    __slots__ = ()

    def added(self, value: Any) -> Fields:
        return FREE_MAP.added(value) if isinstance(value, dict) else MEMBER

    def compare(self, old: Any, new: Any) -> Changes:
        if isinstance(old, dict) and (isinstance(new, dict) or new is None):
            return FREE_MAP.compare(old, new)
        if old is None and isinstance(new, dict):
            return FREE_MAP.compare(old, new)
        below = FREE_MAP.added(new) if isinstance(new, dict) else MEMBER
        gone = FREE_MAP.added(old) if isinstance(old, dict) else MEMBER
        # COMPAT: the walks over both kinds find the place itself modified and the parts of either added or removed.
        return (below, {label: node for label, node in gone.items() if label != "."} or None)


FREE: Final = Free()
FREE_MAP: Final = Record(dict, FREE, True)


def index(shape: Keyed | Values, items: list[Any]) -> dict[str, list[Any]]:
    """The items by path element, in the order of first appearance; more than one item under one is a duplicate."""
    found: dict[str, list[Any]] = {}
    for label, item in zip(shape.labels(items), items, strict=True):
        found.setdefault(label, []).append(item)
    return found


def _compare_lists(shape: Keyed | Values, item: Shape | None, old: Any, new: Any) -> Changes:
    old = old if isinstance(old, list) else [] if old else old
    new = new if isinstance(new, list) else [] if new else new
    if not old and not new:
        return _leaves(old, new)
    before = index(shape, old or [])
    after = index(shape, new or [])
    taken: Fields = {}
    removed: Fields = {}
    for label in before | after:
        below, gone = _compare_items(item, before.get(label, ()), after.get(label, ()))
        if below is not None:
            taken[label] = below
        if gone is not None:
            removed[label] = gone
    return _ordered(taken), _ordered(removed)


def _ordered(node: Fields) -> Fields | None:
    """A node with its elements in order, None without any."""
    if len(node) > 1:
        return dict(sorted(node.items()))
    return node or None


def _compare_items(shape: Shape | None, old: Sequence[Any], new: Sequence[Any]) -> Changes:
    """The items of one path element; duplicates are compared, added and removed as if they were one leaf."""
    if len(old) > 1 or len(new) > 1:
        if len(old) > 1 and len(new) > 1:
            return NO_CHANGES if old == new else _LEAF_CHANGED
        taken = _added(shape, new) if new else None
        removed = _added(shape, old) if old else None
        return taken, removed
    if not old:
        return _added(shape, new), None
    if not new:
        return None, _added(shape, old)
    if shape is None or old[0] == new[0]:
        return NO_CHANGES
    return shape.compare(old[0], new[0])


def _added(shape: Shape | None, items: Sequence[Any]) -> Fields:
    return MEMBER if shape is None or len(items) > 1 else shape.added(items[0])


def of(node: types.Node) -> Shape | None:
    """The shape of a type; compiled once and kept at the node."""
    made = node.shape
    if made is None:
        # Two threads may both compile: the results are equal and the last one stays.
        made = node.shape = (_compile(node),)
    shape: Shape | None = made[0]
    return shape


def _compile(node: types.Node) -> Shape | None:
    if isinstance(node, types.Struct):
        if node.atomic:
            return None
        struct = node
        return Record(lambda: _entries(struct), FREE if node.preserve_unknown else None, node.preserve_unknown)
    if isinstance(node, types.Map):
        return None if node.atomic else Record(dict, of(node.value), True)
    if isinstance(node, types.List):
        if node.list_type == "map":
            return Keyed(node.map_keys, _key_defaults(node), of(node.item))
        return Values() if node.list_type == "set" else None
    # COMPAT: schemaconv makes RawExtension atomic, other free-form objects granular
    return FREE if isinstance(node, types.Anything) and node.go_type != "runtime.RawExtension" else None


def _entries(struct: types.Struct) -> dict[str, tuple[str, Shape | None]]:
    return {name: (f"f:{name}", of(field.node)) for name, field in struct.fields.items()}


def _key_defaults(node: types.List) -> Mapping[str, Any]:
    """Values of key fields that an item may leave out.

    COMPAT: the schema of the server gives fields that are always encoded their zero value as default
    """
    item = node.item
    fields = item.fields if isinstance(item, types.Struct) else {}
    defaults = {}
    for name in node.map_keys:
        field = fields.get(name)
        if field is None:
            continue
        if field.default is not None:
            defaults[name] = field.default
        elif field.presence == "always" and type(field.node) in _ZEROS:
            defaults[name] = _ZEROS[type(field.node)]
    return defaults


_ZEROS: Mapping[type, Any] = {types.String: "", types.Integer: 0, types.Number: 0, types.Boolean: False}
