"""Rules of one schema node, compiled. Called by ``rules`` (to evaluate) and by ``definition`` (to check).

COMPAT: apiextensions schema/cel/compilation.go
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from . import cost, fieldpaths, unordered
from .environment import Checked, CompileError, Environment, Program
from .ranges import Range, exactly
from .schema_types import DeclaredType, declarations

NO_TYPE: Final = "failed to convert to declType for CEL validation rules"

Rule = Mapping[str, Any]


class Expression:
    """A compiled expression with what it costs at most."""

    def __init__(self, checked: Checked, environment: Environment, declared: DeclaredType) -> None:
        self.checked = checked
        self.environment = environment
        self._declared = declared
        self._most_up_to: dict[int, int] = {}

    @functools.cached_property
    def program(self) -> Program:
        """It, ready to be evaluated."""
        changes = unordered.changes(self.checked, self._declared)
        rewrites = {place: functools.partial(_rewrite, change) for place, change in changes.items()}
        return self.environment.program(self.checked, rewrites)

    @functools.cached_property
    def most(self) -> int:
        """What it costs with the largest values that the schema allows."""
        return cost.estimate(self.checked, functools.partial(self._allowed, None)).high

    def most_up_to(self, limit: int) -> int:
        """What it costs if nothing in the values is larger than the limit, which is a power of two: few are kept."""
        if limit not in self._most_up_to:
            self._most_up_to[limit] = cost.estimate(self.checked, functools.partial(self._allowed, limit)).high
        return self._most_up_to[limit]

    def most_with(self, measured: cost.Sizes) -> int:
        """What it costs with values of known sizes."""
        return cost.estimate(self.checked, lambda path: measured(path) or self._allowed(None, path)).high

    def _allowed(self, limit: int | None, path: cost.Path) -> Range | None:
        """COMPAT: sizeEstimator.EstimateSize"""
        found = self._declared.at(path[1:])
        if found is None:
            return None
        if limit is not None and path[-1] == "@keys":
            return Range(0, limit)
        return Range(0, found.largest if limit is None else min(found.largest, limit))


def _rewrite(change: unordered.Change, expr: Any, next_id: Callable[[], int]) -> None:
    unordered.rewrite(expr, change, next_id)


@dataclass(frozen=True, slots=True)
class CompiledRule:
    """One rule: an expression or what is wrong with it, the same for its message, where its errors are shown."""

    rule: Rule
    expression: Expression | None = None
    error: str = ""
    uses_old: bool = False
    message: Expression | None = None
    message_error: str = ""
    path: str = ""

    @property
    def optional_old(self) -> bool:
        """Whether ``oldSelf`` is an optional."""
        return bool(self.rule.get("optionalOldSelf"))


class NodeRules:
    """The rules of one schema node, and the environments that they are compiled in."""

    def __init__(self, schema: Mapping[str, Any], declared: DeclaredType) -> None:
        self._schema = schema
        self.declared = declared

    @functools.cached_property
    def plain(self) -> Environment:
        """Where ``oldSelf`` is of the type of ``self``."""
        return Environment(declarations(self.declared))

    @functools.cached_property
    def optional(self) -> Environment:
        """Where ``oldSelf`` is an optional of it."""
        return Environment(declarations(self.declared, optional_old=True))

    def compile(self, rule: Rule) -> CompiledRule:
        """The rule, compiled. An empty one has neither expression nor error."""
        text = str(rule.get("rule") or "")
        if not text.strip():
            return CompiledRule(rule)
        environment = self.optional if rule.get("optionalOldSelf") else self.plain
        expression, error = self._expression(
            environment, text, "bool", "compilation failed", "cel expression must evaluate to a bool"
        )
        if expression is None:
            return CompiledRule(rule, error=error)
        message, message_error = None, ""
        if rule.get("messageExpression"):
            message, message_error = self._expression(
                environment,
                str(rule["messageExpression"]),
                "string",
                "messageExpression compilation failed",
                "messageExpression must evaluate to a string",
            )
        uses_old = expression.checked.uses("oldSelf")
        return CompiledRule(rule, expression, "", uses_old, message, message_error, self._path(rule))

    def _expression(
        self, environment: Environment, text: str, wanted: str, failed: str, wrong_type: str
    ) -> tuple[Expression | None, str]:
        try:
            checked = environment.compile(text)
        except CompileError as wrong:
            return None, f"{failed}: {wrong}"
        if checked.result != wanted:
            return None, wrong_type
        return Expression(checked, environment, self.declared), ""

    def _path(self, rule: Rule) -> str:
        if not rule.get("fieldPath"):
            return ""
        try:
            return fieldpaths.normalized(str(rule["fieldPath"]), self._schema)
        except fieldpaths.FieldPathError:
            return ""


def measure(values: Mapping[str, Any]) -> Callable[[cost.Path], Range | None]:
    """The sizes of values by path: the largest of all that a path reaches."""

    def measured(path: cost.Path) -> Range | None:
        reached = [values[path[0]]] if path[0] in values else []
        for name in path[1:]:
            reached = [below for value in reached for below in _below(value, name)]
        sized = [len(value) for value in reached if isinstance(value, (str, list, dict, bytes, bytearray))]
        return exactly(max(sized)) if sized else (exactly(0) if not reached else None)

    return measured


def _below(value: Any, name: str) -> list[Any]:
    if name == "@items":
        return value if isinstance(value, list) else []
    if not isinstance(value, dict):
        return []
    if name == "@keys":
        return list(value)
    if name == "@values":
        return list(value.values())
    return [value[name]] if name in value else []


def largest(value: Any) -> int:
    """The size of the largest text, list or map in a value."""
    most, pending = 0, [value]
    while pending:
        current = pending.pop()
        if isinstance(current, str):
            most = max(most, len(current))
        elif isinstance(current, dict):
            most = max(most, len(current), max(map(len, current), default=0))
            pending.extend(current.values())
        elif isinstance(current, list):
            most = max(most, len(current))
            pending.extend(current)
    return most
