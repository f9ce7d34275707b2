"""Lists of type set and map, which are equal in any order, and of which ``+`` makes no duplicates.

An expression that compares or adds such lists (or compares what holds them) is rewritten when it is made ready to run:
the shape of the type goes along as a text, because values at run time are plain lists. Called by ``compilation``.

COMPAT: unstructuredSetList, unstructuredMapList in k8s.io/apiserver/pkg/cel/common/valuesunstructured.go
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from . import cost, syntax
from .environment import Checked
from .names import escape
from .schema_types import DeclaredType

CANONICAL: Final = "@canonical"
MERGED: Final = "@merged"
_EQUALITIES: Final = frozenset({"_==_", "_!=_"})
_ADDITION: Final = "_+_"

Shape = Mapping[str, Any]
Change = tuple[str, str]
"""The function that an expression is to call, and the shape of its operands."""


def shape_of(declared: DeclaredType) -> Shape | None:
    """Where in values of the type there are lists without order; None if nowhere."""
    if declared.kind == "object":
        fields = {name: shape for name, part in declared.fields.items() if (shape := shape_of(part)) is not None}
        return {"fields": fields} if fields else None
    if declared.element is None:
        return None
    element = shape_of(declared.element)
    list_type = declared.schema.get("x-kubernetes-list-type") if declared.kind == "list" else None
    if list_type == "set":
        return {"set": True}
    if list_type == "map":
        keys = [escape(key) or key for key in declared.schema.get("x-kubernetes-list-map-keys") or ()]
        return {"keys": keys, "element": element}
    return None if element is None else {declared.kind: element}


def changes(checked: Checked, declared: DeclaredType) -> dict[int, Change]:
    """The calls of an expression that are about lists without order, by the ids of their expressions."""
    found: dict[int, Change] = {}
    if shape_of(declared) is None:
        return found
    paths = cost.paths(checked)
    for expr in syntax.walk(checked.tree.expr):
        if expr.WhichOneof("kind") != "call_expr" or len(expr.call_expr.args) != 2:
            continue
        shape = next((s for part in expr.call_expr.args if (s := _shape_at(declared, paths.get(part.id)))), None)
        if shape is None:
            continue
        if expr.call_expr.function in _EQUALITIES:
            found[expr.id] = (CANONICAL, json.dumps(shape))
        elif expr.call_expr.function == _ADDITION and ("set" in shape or "keys" in shape):
            found[expr.id] = (MERGED, json.dumps(shape))
    return found


def _shape_at(declared: DeclaredType, path: cost.Path | None) -> Shape | None:
    found = declared.at(path[1:]) if path and path[0] in ("self", "oldSelf") else None
    return None if found is None else shape_of(found)


def rewrite(expr: Any, change: Change, next_id: Callable[[], int]) -> None:
    """Change a call in place: compare canonical operands, or merge instead of adding."""
    function, shape = change
    if function == MERGED:
        expr.call_expr.function = MERGED
        expr.call_expr.args.add(id=next_id()).const_expr.string_value = shape
        return
    for operand in expr.call_expr.args:
        inner = type(operand)()
        inner.CopyFrom(operand)
        operand.Clear()
        operand.id = next_id()
        operand.call_expr.function = CANONICAL
        operand.call_expr.args.add().CopyFrom(inner)
        operand.call_expr.args.add(id=next_id()).const_expr.string_value = shape
