"""Sets of fields in the form that ``fieldsV1`` has in JSON, and set algebra on it.

Used by everything in this package. A set is a dict from path elements to nodes; a node is the dict of what lies below:

* ``f:name`` a field or map key, ``k:{"name":"x"}`` a list item by its keys, ``v:"x"`` one of a set, ``i:0`` a place;
* a node ``{}`` is a member of the set; one with elements is a member only if it has ``"."`` too.

Nothing here changes its arguments. Results share what is unchanged with them, and are the very same object if nothing
changed at all. Elements are kept in the order ``.``, ``f:``, ``k:``, ``v:``, each sorted, as kube-apiserver has them.

COMPAT: sigs.k8s.io/structured-merge-diff fieldpath.Set and its serialisation
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import orjson

from apiserver.schema.gotext import quote

Fields = dict[str, Any]
"""A set of fields, or a node of one."""

MEMBER: Final[Fields] = {}
"""The node of a member without anything below; shared, never changed."""

EMPTY: Final[Fields] = {}
"""The set without members; shared, never changed."""


def is_member(node: Fields) -> bool:
    """Whether the node itself belongs to its set."""
    return not node or "." in node


def as_member(node: Fields) -> Fields:
    """The node, made a member."""
    return node if is_member(node) else {".": MEMBER, **node}


def union(left: Fields, right: Fields) -> Fields:
    """Paths that are in either set."""
    if not left or left is right:
        return right
    if not right:
        return left
    return _merged(left, right)


def _merged(left: Fields, right: Fields) -> Fields:
    """The union of two dicts of elements that both have some."""
    result = left
    grown = False
    for element, node in right.items():
        old = left.get(element)
        if old is None:
            grown = True
        merged = node if old is None or element == "." else _union_node(old, node)
        if merged is not old:
            if result is left:
                result = dict(left)
            result[element] = merged
    return dict(sorted(result.items())) if grown else result


def _union_node(left: Fields, right: Fields) -> Fields:
    if left is right or (not left and not right):
        return left
    if not left:
        return as_member(right)
    return _merged(left, right) if right else as_member(left)


def difference(left: Fields, right: Fields) -> Fields:
    """Paths of ``left`` that are not in ``right``. What lies below a path is a path of its own."""
    return _without(left, right) if left and right else left


def _without(left: Fields, right: Fields) -> Fields:
    """``left`` without the elements' members of ``right``; both are dicts of elements, not leaf nodes."""
    smaller, larger = (right, left) if len(right) < len(left) else (left, right)
    result = left
    for element in smaller:
        if element not in larger or element == ".":
            continue
        node = left[element]
        rest = _difference_node(node, right[element])
        if rest is node:
            continue
        if result is left:
            result = dict(left)
        if rest is None:
            del result[element]
        else:
            result[element] = rest
    return result


def _difference_node(left: Fields, right: Fields) -> Fields | None:
    """What is left of a node; None for nothing."""
    if not left:
        return None if is_member(right) else left
    rest = _without(left, right) if right else left
    if "." in left and is_member(right):
        rest = {element: node for element, node in rest.items() if element != "."}
        return rest or None
    return rest if rest is left else _tidied(rest)


def _tidied(node: Fields) -> Fields | None:
    """A node that lost elements: only its own membership left is written ``{}``, and nothing left is None."""
    if not node:
        return None
    return MEMBER if len(node) == 1 and "." in node else node


def intersection(left: Fields, right: Fields) -> Fields:
    """Paths that are in both sets."""
    result = {}
    for element, node in left.items():
        other = right.get(element)
        if other is None or element == ".":
            continue
        both = _intersection_node(node, other)
        if both is not None:
            result[element] = both
    return result


def _intersection_node(left: Fields, right: Fields) -> Fields | None:
    if left is right:
        return left
    below = intersection(left, right) if left and right else EMPTY
    if is_member(left) and is_member(right):
        return {".": MEMBER, **below} if below else MEMBER
    return below or None


def exclude(fields: Fields, excluded: Fields) -> Fields:
    """The set without the members of ``excluded`` and without all that lies below them.

    COMPAT: fieldpath.Set.RecursiveDifference
    """
    result = fields
    for element, node in excluded.items():
        old = result.get(element)
        if old is None or element == ".":
            continue
        rest = None if is_member(node) else _exclude_node(old, node)
        if rest is old:
            continue
        if result is fields:
            result = dict(fields)
        if rest is None:
            del result[element]
        else:
            result[element] = rest
    return result


def _exclude_node(node: Fields, excluded: Fields) -> Fields | None:
    rest = exclude(node, excluded)
    return rest if rest is node else _tidied(rest)


def contains(fields: Fields, path: tuple[str, ...]) -> bool:
    """Whether a path, as elements, is a member."""
    node: Fields | None = fields
    for element in path:
        if not node:
            return False
        node = node.get(element)
    return node is not None and bool(path) and is_member(node)


def of_path(path: tuple[str, ...]) -> Fields:
    """The set with one member."""
    node = MEMBER
    for element in reversed(path):
        node = {element: node}
    return node


def paths(fields: Fields) -> Iterator[tuple[str, ...]]:
    """All members as tuples of elements: the members of a level before what lies below them.

    COMPAT: fieldpath.Set.Iterate
    """
    for element, node in fields.items():
        if element != "." and is_member(node):
            yield (element,)
    for element, node in fields.items():
        if element != ".":
            for below in paths(node):
                yield (element, *below)


def path_text(path: tuple[str, ...]) -> str:
    """``.spec.containers[name="c"].image``. COMPAT: fieldpath.Path.String"""
    return "".join(map(element_text, path))


def element_text(element: str) -> str:
    """One element of :func:`path_text`."""
    kind, rest = element[0], element[2:]
    if kind == "f":
        return f".{rest}"
    if kind == "k":
        keys = orjson.loads(rest)
        return f"[{','.join(f'{name}={_value_text(value)}' for name, value in keys.items())}]"
    return f"[={_value_text(orjson.loads(rest))}]" if kind == "v" else f"[{rest}]"


def _value_text(value: Any) -> str:
    """COMPAT: structured-merge-diff value.ToString"""
    if isinstance(value, str):
        return quote(value)
    if value is None:
        return "null"
    return orjson.dumps(value).decode()
