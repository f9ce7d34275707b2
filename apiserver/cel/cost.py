"""How much an expression may cost, from its tree and from how large its variables can get.

``definition`` asks with the sizes that a schema allows, ``rules`` with the sizes of an object. COMPAT: cel-go
checker/cost.go with PresenceTestHasCost(false), k8s.io/apiserver/pkg/cel/library/cost.go
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from . import syntax
from .callcosts import BY_FUNCTION, BY_OVERLOAD, Call
from .environment import Checked
from .ranges import MOST, NOTHING, ONE, UNKNOWN, Range, exactly, total

Path = tuple[str, ...]
Sizes = Callable[[Path], Range | None]
"""The size of what is reached by a path: a variable, then names of fields, ``@items``, ``@keys``, ``@values``."""

_LIST_BASE: Final = exactly(10)
_MAP_BASE: Final = exactly(30)
_STRUCT_BASE: Final = exactly(40)
_ACCUMULATORS: Final = frozenset({"@result", "__result__"})
_SCALARS: Final = frozenset({"bool", "int", "uint", "double", "duration", "timestamp"})


@dataclass(frozen=True, slots=True)
class _Entries:
    """What is known of the keys and values of a list or map that the expression makes."""

    container: str
    key: Range
    value: Range

    def union(self, other: _Entries | None) -> _Entries | None:
        return other and _Entries(self.container, self.key.union(other.key), self.value.union(other.value))


@dataclass(frozen=True, slots=True)
class _Local:
    path: Path
    size: Range | None
    entries: _Entries | None


@dataclass(frozen=True, slots=True)
class _Node:
    """An argument of a call."""

    estimator: _Estimator
    path: Path
    type: Any
    expr: Any = None

    @property
    def kind(self) -> str:
        return _kind(self.type)

    @property
    def size(self) -> Range | None:
        if self.expr is not None:
            return self.estimator.size(self.expr)
        return self.estimator.sizes(self.path) if self.path else None

    @property
    def literal(self) -> Any:
        if self.expr is None or self.expr.WhichOneof("kind") != "const_expr":
            return None
        constant = self.expr.const_expr
        return getattr(constant, constant.WhichOneof("kind"))

    def element(self) -> _Node | None:
        parameters = _parameters(self.type)
        if not parameters:
            return None
        return _Node(self.estimator, (*self.path, "@items") if self.path else (), parameters[0])


def _kind(kind: Any) -> str:
    if kind is None:
        return "dyn"
    text = syntax.type_text(kind)
    which = kind.WhichOneof("kind")
    if which in ("list_type", "map_type"):
        return str(which.removesuffix("_type"))
    return str(kind.abstract_type.name) if which == "abstract_type" else text


def _parameters(kind: Any) -> list[Any]:
    which = kind.WhichOneof("kind") if kind is not None else None
    if which == "list_type":
        return [kind.list_type.elem_type]
    if which == "map_type":
        return [kind.map_type.key_type, kind.map_type.value_type]
    return list(kind.abstract_type.parameter_types) if which == "abstract_type" else []


def estimate(checked: Checked, sizes: Sizes) -> Range:
    """The least and the most that evaluating the expression costs."""
    return _Estimator(checked.tree, sizes).cost(checked.tree.expr)


def paths(checked: Checked) -> Mapping[int, Path]:
    """The paths of the expressions that reach into a variable, by their ids."""
    estimator = _Estimator(checked.tree, lambda _: None)
    estimator.cost(checked.tree.expr)
    return estimator.reached


class _Estimator:
    def __init__(self, tree: Any, sizes: Sizes) -> None:
        self.sizes = sizes
        self._types = tree.type_map
        self._references = tree.reference_map
        self.reached: dict[int, Path] = {}
        self._sizes: dict[int, Range] = {}
        self._entries: dict[int, _Entries] = {}
        self._locals: dict[str, list[_Local]] = {}

    def cost(self, expr: Any) -> Range:
        kind = expr.WhichOneof("kind")
        rule = self._RULES.get(kind)
        return NOTHING if rule is None else rule(self, expr)

    # What is known of an expression

    def _type(self, expr: Any) -> Any:
        # Asking a map of messages for what it has not would add it.
        return self._types[expr.id] if expr.id in self._types else None  # noqa: SIM401

    def _local(self, name: str) -> _Local | None:
        stack = self._locals.get(name)
        return stack[-1] if stack else None

    def _path(self, expr: Any) -> Path:
        if expr.WhichOneof("kind") == "ident_expr":
            local = self._local(expr.ident_expr.name)
            if local is not None:
                return local.path
        return self.reached.get(expr.id, ())

    def _node(self, expr: Any) -> _Node:
        path = self._path(expr)
        return _Node(self, () if path and path[0] in _ACCUMULATORS else path, self._type(expr), expr)

    def size(self, expr: Any) -> Range | None:
        """COMPAT: coster.computeSize"""
        known = self._sizes.get(expr.id) or _written_size(expr)
        if known is not None:
            return known
        path = self._path(expr)
        known = self.sizes(path) if path else None
        if known is not None:
            self._sizes[expr.id] = known
            return known
        if _is_scalar(self._type(expr)):
            return ONE
        local = self._local(expr.ident_expr.name) if expr.WhichOneof("kind") == "ident_expr" else None
        return local.size if local is not None else None

    def _size_or_unknown(self, expr: Any) -> Range:
        return self.size(expr) or UNKNOWN

    def _entry_sizes(self, expr: Any) -> _Entries | None:
        known = self._entries.get(expr.id)
        if known is None and expr.WhichOneof("kind") == "ident_expr":
            local = self._local(expr.ident_expr.name)
            return local.entries if local is not None else None
        return known

    # Costs by kind of expression

    def _constant(self, expr: Any) -> Range:
        return NOTHING

    def _ident(self, expr: Any) -> Range:
        name = expr.ident_expr.name
        local = self._local(name)
        # A field that is a variable of its own costs what selecting it costs.
        steps = tuple(name.split("."))
        self.reached[expr.id] = steps if local is None else local.path
        return ONE if local is not None else exactly(len(steps))

    def _select(self, expr: Any) -> Range:
        select = expr.select_expr
        cost = self.cost(select.operand)
        if select.test_only:
            return cost
        target = self._type(select.operand)
        if target is not None and target.WhichOneof("kind") in ("map_type", "message_type", "type_param"):
            cost = cost.plus(ONE)
        self.reached[expr.id] = (*self._path(select.operand), select.field)
        return cost

    def _call(self, expr: Any) -> Range:
        call = expr.call_expr
        if call.function == "dyn":
            cost = self.cost(call.args[0]).plus(ONE)
            self._copy_sizes(expr, call.args[0])
            return cost
        costs = [self.cost(argument) for argument in call.args]
        overloads = self._references[expr.id].overload_id if expr.id in self._references else ()
        if not overloads:
            return NOTHING
        before, target = NOTHING, None
        if call.HasField("target"):
            before, target = self.cost(call.target), self._node(call.target)
        arguments = [self._node(argument) for argument in call.args]
        covered, size = Range(MOST, 0), None
        for overload in overloads:
            cost, result = self._call_cost(expr, Call(overload, target, arguments), costs)
            covered = covered.union(cost)
            size = result if size is None else size.union(result) if result is not None else size
            size = self._indexed(expr, overload, size)
        if size is not None:
            self._sizes[expr.id] = size
        return before.plus(covered)

    def _indexed(self, expr: Any, overload: str, size: Range | None) -> Range | None:
        step = {"index_list": "@items", "index_map": "@values"}.get(overload)
        if step is not None:
            container = expr.call_expr.args[0]
            entries = self._entry_sizes(container)
            size = entries.value if entries is not None else None
            self.reached[expr.id] = (*self._path(container), step)
        return self.size(expr) if size is None else size

    def _call_cost(self, expr: Any, call: Call, costs: list[Range]) -> tuple[Range, Range | None]:
        special = {"logical_or": self._either, "logical_and": self._either, "conditional": self._conditional}
        if call.overload in special:
            return special[call.overload](expr, costs)
        if call.overload in ("add_string", "add_bytes", "add_list") and len(call.arguments) == 2:
            self._joined_entries(expr)
        for rule in (BY_FUNCTION.get(expr.call_expr.function), BY_OVERLOAD.get(call.overload)):
            found = rule(call) if rule is not None else None
            if found is not None:
                return found.cost.plus(total(costs)), found.size
        return ONE.plus(total(costs)), None

    def _either(self, expr: Any, costs: list[Range]) -> tuple[Range, Range | None]:
        # The second side may not be looked at.
        return Range(costs[0].low, costs[0].plus(costs[1]).high), None

    def _conditional(self, expr: Any, costs: list[Range]) -> tuple[Range, Range | None]:
        _, then, otherwise = expr.call_expr.args
        entries = self._entry_sizes(then)
        union = entries.union(self._entry_sizes(otherwise)) if entries is not None else None
        if union is not None:
            self._entries[expr.id] = union
        size = self._size_or_unknown(then).union(self._size_or_unknown(otherwise))
        return costs[0].plus(costs[1].union(costs[2])), size

    def _joined_entries(self, expr: Any) -> None:
        left, right = (self._entry_sizes(argument) for argument in expr.call_expr.args)
        union = left.union(right) if left is not None else None
        if union is not None:
            self._entries[expr.id] = union

    def _list(self, expr: Any) -> Range:
        elements = expr.list_expr.elements
        cost, size = NOTHING, Range(MOST if elements else 0, 0)
        for element in elements:
            cost = cost.plus(self.cost(element))
            size = size.union(self._size_or_unknown(element))
        self._entries[expr.id] = _Entries("list", ONE, size)
        return cost.plus(_LIST_BASE)

    def _struct(self, expr: Any) -> Range:
        entries = expr.struct_expr.entries
        if expr.struct_expr.message_name:
            return total([self.cost(entry.value) for entry in entries]).plus(_STRUCT_BASE)
        cost = NOTHING
        keys = values = Range(MOST if entries else 0, 0)
        for entry in entries:
            cost = cost.plus(self.cost(entry.map_key)).plus(self.cost(entry.value))
            keys = keys.union(self._size_or_unknown(entry.map_key))
            values = values.union(self._size_or_unknown(entry.value))
        self._entries[expr.id] = _Entries("map", keys, values)
        return cost.plus(_MAP_BASE)

    def _comprehension(self, expr: Any) -> Range:
        loop = expr.comprehension_expr
        cost = self.cost(loop.iter_range).plus(self.cost(loop.accu_init))
        self._push(
            loop.accu_var, self._path(loop.accu_init), self.size(loop.accu_init), self._entry_sizes(loop.accu_init)
        )
        if _is_bind(loop):
            cost = cost.plus(self.cost(loop.result))
            self._locals[loop.accu_var].pop()
            self._copy_sizes(expr, loop.result)
            return cost
        names = self._push_loop_variables(loop)
        condition, step = self.cost(loop.loop_condition), self.cost(loop.loop_step)
        for name in names:
            self._locals[name].pop()
        cost = cost.plus(self.cost(loop.result))
        self._locals[loop.accu_var].pop()
        count = self._size_or_unknown(loop.iter_range)
        self._set_result_sizes(expr, loop, count)
        return cost.plus(count.times(step.plus(condition)))

    def _set_result_sizes(self, expr: Any, loop: Any, count: Range) -> None:
        kind = loop.accu_init.WhichOneof("kind")
        if kind == "const_expr":
            size = self.size(loop.accu_init)
            if size is not None:
                self._sizes[expr.id] = size
        elif kind in ("list_expr", "struct_expr"):
            self._sizes[expr.id] = count
            entries = self._entry_sizes(loop.loop_step)
            if entries is not None:
                self._entries[expr.id] = entries

    def _push_loop_variables(self, loop: Any) -> list[str]:
        entries = self._entry_sizes(loop.iter_range)
        container = entries.container if entries is not None else _kind(self._type(loop.iter_range))
        path, is_list = self._path(loop.iter_range), container == "list"
        key, value = (entries.key, entries.value) if entries is not None else (None, None)
        if loop.iter_var2:
            self._push(loop.iter_var, (*path, "@indices" if is_list else "@keys"), key, None)
            self._push(loop.iter_var2, (*path, "@items" if is_list else "@values"), value, None)
            return [loop.iter_var, loop.iter_var2]
        self._push(loop.iter_var, (*path, "@items" if is_list else "@keys"), value if is_list else key, None)
        return [loop.iter_var]

    def _push(self, name: str, path: Path, size: Range | None, entries: _Entries | None) -> None:
        self._locals.setdefault(name, []).append(_Local(path, size, entries))

    def _copy_sizes(self, expr: Any, source: Any) -> None:
        size, entries = self.size(source), self._entry_sizes(source)
        if size is not None:
            self._sizes[expr.id] = size
        if entries is not None:
            self._entries[expr.id] = entries

    _RULES: Final[dict[str | None, Callable[[_Estimator, Any], Range]]] = {
        "const_expr": _constant,
        "ident_expr": _ident,
        "select_expr": _select,
        "call_expr": _call,
        "list_expr": _list,
        "struct_expr": _struct,
        "comprehension_expr": _comprehension,
    }


def _is_bind(loop: Any) -> bool:
    """COMPAT: coster.isBind: the form that optMap and its kind have."""
    condition = loop.loop_condition
    return (
        loop.iter_range.WhichOneof("kind") == "list_expr"
        and not loop.iter_range.list_expr.elements
        and condition.WhichOneof("kind") == "const_expr"
        and condition.const_expr.WhichOneof("kind") == "bool_value"
        and not condition.const_expr.bool_value
        and loop.accu_var not in _ACCUMULATORS
    )


def _is_scalar(kind: Any) -> bool:
    if kind is None:
        return False
    if kind.WhichOneof("kind") == "abstract_type" and kind.abstract_type.name == "optional_type":
        return _is_scalar(kind.abstract_type.parameter_types[0])
    return _kind(kind) in _SCALARS


def _written_size(expr: Any) -> Range | None:
    """The size of what stands in the expression. COMPAT: computeExprSize"""
    kind = expr.WhichOneof("kind")
    if kind == "const_expr":
        constant = expr.const_expr
        which = constant.WhichOneof("kind")
        return exactly(len(getattr(constant, which)) if which in ("string_value", "bytes_value") else 1)
    if kind == "list_expr":
        return exactly(len(expr.list_expr.elements))
    if kind == "struct_expr" and not expr.struct_expr.message_name:
        return exactly(len(expr.struct_expr.entries))
    return None
