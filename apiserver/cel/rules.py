"""Evaluation of ``x-kubernetes-validations``: the errors of an object against the rules of its schema.

The strategy of custom resources makes one :class:`Rules` per version of a definition and asks it for each write, after
the schema itself has been found to hold. Rules are compiled when they are first needed.

COMPAT: apiextensions schema/cel/validation.go. Costs: kube-apiserver counts what an evaluation has cost; the library
has no counter, so a rule is charged, before it runs, for the most it can cost with values of these sizes.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from apiserver.api.fields import FieldError, Path

from . import values
from .compilation import NO_TYPE, CompiledRule, Expression, NodeRules, largest, measure
from .correlation import Correlated, MapList, Ratchet, map_is_correlatable
from .environment import CompileError
from .libraries import EvaluationError
from .libraries.declaring import VALUE
from .names import escape
from .schema_types import DeclaredType, of_part, of_schema

CALL_LIMIT: Final = 1_000_000
"""What one expression may cost. COMPAT: PerCallLimit"""
OBJECT_LIMIT: Final = 10_000_000
"""What all expressions for one object may cost together. COMPAT: RuntimeCELCostBudget"""
_CHEAP: Final = 1_000
"""A rule that can't cost more is not measured against its values."""
_ANY_SIZE: Final = 1 << 22
"""More than a request has bytes."""
_LONGEST_MESSAGE: Final = 5 * 1024

_OUT_OF_BUDGET: Final = "validation failed due to running out of cost budget, no further validation rules will be run"
_TOO_EXPENSIVE: Final = (
    "'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost"
    " exceeds limit for rule: {}"
)
_MESSAGE_OUT_OF_BUDGET: Final = (
    "messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run"
)
_MESSAGE_TOO_EXPENSIVE: Final = (
    "no further validation rules will be run due to call cost exceeds limit for messageExpression: {}"
)
_NO_OVERLOAD: Final = (
    "'{}': call arguments did not match a supported operator, function or macro signature for rule: {}"
)

_VARIABLES: Final = frozenset({"self", "oldSelf"})

_log = logging.getLogger(__name__)
Schema = Mapping[str, Any]


@dataclass(slots=True)
class Outcome:
    """What the rules say of an object: errors, and errors of what the update has left alone, which are warnings."""

    errors: list[FieldError] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


class Rules:
    """The rules of a schema. May be used by many threads."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._root = _node(schema, schema, of_schema(schema, root=True)) if has_rules(schema) else None

    def errors(self, obj: Mapping[str, Any], old: Mapping[str, Any] | None) -> list[FieldError]:
        """What the rules object to; ``old`` is the object before an update."""
        return self.check(obj, old).errors

    def check(self, obj: Mapping[str, Any], old: Mapping[str, Any] | None) -> Outcome:
        """Errors, and warnings for rules that only unchanged values break."""
        outcome = Outcome()
        if self._root is not None:
            ratchet = Ratchet(None if old is None else Correlated(self._schema, obj, old))
            try:
                self._root.validate(_Run(outcome), Path(""), obj, old, ratchet)
            except _Exhausted:
                pass
        return outcome


class _Exhausted(Exception):
    """No further rule may be run."""


class _Run:
    """One pass over one object."""

    __slots__ = ("outcome", "remaining")

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome
        self.remaining = OBJECT_LIMIT

    def refuse(self, error: FieldError) -> None:
        self.outcome.errors.append(error)

    def stop(self, error: FieldError) -> _Exhausted:
        self.outcome.errors.append(error)
        return _Exhausted()


def has_rules(schema: Any) -> bool:
    """Whether there is any rule in the schema. COMPAT: hasXValidations"""
    if not isinstance(schema, Mapping):
        return False
    if schema.get("x-kubernetes-validations"):
        return True
    parts = [schema.get("items"), schema.get("additionalProperties"), *(schema.get("properties") or {}).values()]
    return any(map(has_rules, parts))


def _node(rules_of: Schema, schema: Schema, declared: DeclaredType | None) -> _Node | None:
    """The node of a schema; ``rules_of`` is where the rules come from, which for ``allOf`` is not the schema itself."""
    items = additional = None
    element = declared.element if declared is not None else None
    if isinstance(rules_of.get("items"), Mapping) and isinstance(schema.get("items"), Mapping):
        items = _node(rules_of["items"], schema["items"], element)
    if isinstance(rules_of.get("additionalProperties"), Mapping) and isinstance(
        schema.get("additionalProperties"), Mapping
    ):
        additional = _node(rules_of["additionalProperties"], schema["additionalProperties"], element)
    properties = _property_nodes(rules_of, schema, declared)
    all_of = [node for part in rules_of.get("allOf") or () if (node := _node(part, schema, declared)) is not None]
    own = rules_of.get("x-kubernetes-validations") or []
    if not (own or items or additional or properties or all_of):
        return None
    return _Node(schema, declared, own, items, additional, properties, all_of)


def _property_nodes(rules_of: Schema, schema: Schema, declared: DeclaredType | None) -> dict[str, _Node]:
    nodes: dict[str, _Node] = {}
    for name, part in (rules_of.get("properties") or {}).items():
        own = (schema.get("properties") or {}).get(name)
        if own is None or declared is None:
            continue
        escaped = escape(name)
        # A name that can't be escaped is not visible from above, but may have rules of its own.
        kind = of_part(own) if escaped is None else declared.fields.get(escaped)
        node = None if kind is None else _node(part, own, kind)
        if node is not None:
            nodes[name] = node
    return nodes


class _Node:
    """One schema node with rules on it or below."""

    def __init__(
        self,
        schema: Schema,
        declared: DeclaredType | None,
        own: list[Schema],
        items: _Node | None,
        additional: _Node | None,
        properties: Mapping[str, _Node],
        all_of: list[_Node],
    ) -> None:
        self._schema = schema
        self._type = str(schema.get("type") or "")
        self._declared = declared
        self._own = own
        self._items = items
        self._additional = additional
        self._properties = properties
        self._all_of = all_of
        self._lock = threading.Lock()
        self._compiled: _Compiled | None = None

    def _rules(self, declared: DeclaredType) -> _Compiled:
        compiled = self._compiled
        if compiled is None:
            with self._lock:
                compiled = self._compiled or _Compiled(self._schema, declared, self._own)
                self._compiled = compiled
        return compiled

    def validate(self, run: _Run, path: Path, value: Any, old: Any, ratchet: Ratchet) -> None:
        if value is None:
            return
        if self._own:
            self._validate_own(run, path, value, old, ratchet)
        for part in self._all_of:
            part.validate(run, path, value, old, ratchet.without_current())
        if isinstance(value, list):
            self._validate_items(run, path, value, old, ratchet)
        elif isinstance(value, Mapping):
            self._validate_entries(run, path, value, old, ratchet)

    def _validate_items(self, run: _Run, path: Path, value: list[Any], old: Any, ratchet: Ratchet) -> None:
        if self._items is None:
            return
        old_items = MapList(self._schema, old)
        for index, item in enumerate(value):
            self._items.validate(run, path.item(index), item, old_items.get(item), ratchet.item(index))

    def _validate_entries(self, run: _Run, path: Path, value: Mapping[str, Any], old: Any, ratchet: Ratchet) -> None:
        before = old if isinstance(old, Mapping) and map_is_correlatable(self._schema) else {}
        if self._additional is not None:
            for name, item in value.items():
                self._additional.validate(run, path.key(name), item, before.get(name), ratchet.key(name))
        for name, node in self._properties.items():
            if name in value:
                node.validate(run, path.child(name), value[name], before.get(name), ratchet.key(name))

    # The rules of the node itself

    def _validate_own(self, run: _Run, path: Path, value: Any, old: Any, ratchet: Ratchet) -> None:
        if self._declared is None:
            run.refuse(self._invalid(path, f"rule compile error: {NO_TYPE}"))
            return
        if run.remaining <= 0:
            raise run.stop(self._invalid(path, _OUT_OF_BUDGET))
        compiled = self._rules(self._declared)
        scope = _Scope(compiled, value, old)
        for rule in compiled.rules:
            if rule.error:
                run.refuse(self._invalid(path, f"rule compile error: {rule.error}"))
            elif rule.expression is not None and not (rule.uses_old and old is None and not rule.optional_old):
                self._validate_rule(run, path, rule, rule.expression, scope, ratchet)

    def _validate_rule(
        self, run: _Run, path: Path, rule: CompiledRule, expression: Expression, scope: _Scope, ratchet: Ratchet
    ) -> None:
        cost = scope.cost(expression, run.remaining)
        if cost > CALL_LIMIT and run.remaining >= CALL_LIMIT:
            raise run.stop(self._invalid(path, _TOO_EXPENSIVE.format(_shown(rule))))
        if cost > run.remaining:
            raise run.stop(self._invalid(path, _OUT_OF_BUDGET))
        run.remaining -= cost
        try:
            holds = scope.evaluate(expression, rule.optional_old)
        except EvaluationError as failed:
            run.refuse(self._invalid(path, _failure(str(failed), rule)))
            return
        if holds is not True:
            self._add_failure(run, path, rule, scope, not rule.uses_old and ratchet.forgives())

    def _add_failure(self, run: _Run, path: Path, rule: CompiledRule, scope: _Scope, forgiven: bool) -> None:
        shown = path
        if rule.path:
            shown = Path(path + rule.path) if rule.path.startswith("[") or not path else path.child(rule.path)
        add = self._adder(run, forgiven)
        detail = ""
        if rule.message is not None:
            try:
                detail = self._message(run, rule, rule.message, scope)
            except _MessageStop as stopped:
                add(self._invalid(shown, str(stopped)))
                raise _Exhausted from None
        omitted = self._type in ("object", "array")
        add(_failed(shown, scope.raw, omitted, detail or _message_or_default(rule), rule.rule.get("reason")))

    def _adder(self, run: _Run, forgiven: bool) -> Callable[[FieldError], None]:
        if forgiven:
            return lambda error: run.outcome.warnings.append(str(error))
        return run.refuse

    def _message(self, run: _Run, rule: CompiledRule, expression: Expression, scope: _Scope) -> str:
        """The evaluated message; empty if it can't be used, and the rule's other message stands."""
        cost = scope.cost(expression, run.remaining)
        if cost > CALL_LIMIT and run.remaining >= CALL_LIMIT:
            raise _MessageStop(_MESSAGE_TOO_EXPENSIVE.format(_quoted(expression.checked.source)))
        if cost > run.remaining:
            raise _MessageStop(_MESSAGE_OUT_OF_BUDGET)
        run.remaining -= cost
        try:
            text = str(scope.evaluate(expression, rule.optional_old)).strip()
        except EvaluationError as failed:
            _log.debug("messageExpression evaluation failed: %s", failed)
            return ""
        usable = len(text.encode()) <= _LONGEST_MESSAGE and "\n" not in text
        return text if usable else ""

    def _invalid(self, path: Path, detail: str) -> FieldError:
        return FieldError.invalid(path, self._type, detail)


class _MessageStop(Exception):
    """A message costs too much."""


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class _Compiled:
    """The compiled rules of a node, and what makes CEL's values of its values."""

    def __init__(self, schema: Schema, declared: DeclaredType, own: list[Schema]) -> None:
        self.node = NodeRules(schema, declared)
        self.rules = [self.node.compile(rule) for rule in own]
        self._convert = values.converter(declared, self._used_fields())

    def _used_fields(self) -> set[str] | None:
        """The fields of the value that the rules look at, None if they look at it as a whole."""
        used: set[str] = set()
        for rule in self.rules:
            for expression in (rule.expression, rule.message):
                fields = expression.checked.fields_of(_VARIABLES) if expression is not None else used
                if fields is None:
                    return None
                used |= fields
        return used

    def convert(self, value: Any) -> Any:
        return value if self._convert is None else self._convert(value)


class _Scope:
    """``self`` and ``oldSelf`` of one node, converted when a rule first needs them."""

    __slots__ = ("_activations", "_compiled", "_largest", "_old", "_values", "raw")

    def __init__(self, compiled: _Compiled, value: Any, old: Any) -> None:
        self._compiled = compiled
        self.raw = value
        self._old = old
        self._values: dict[str, Any] = {}
        self._activations: dict[bool, Any] = {}
        self._largest = -1

    def _converted(self) -> dict[str, Any]:
        if not self._values:
            self._values["self"] = self._compiled.convert(self.raw)
            if self._old is not None:
                self._values["oldSelf"] = self._compiled.convert(self._old)
        return self._values

    def evaluate(self, expression: Expression, optional_old: bool) -> Any:
        activation = self._activations.get(optional_old)
        if activation is None:
            bound = self._converted()
            if optional_old:
                old = {VALUE: bound["oldSelf"]} if "oldSelf" in bound else {}
                bound = {"self": bound["self"], "oldSelf": old}
            activation = self._activations[optional_old] = expression.environment.activation(bound)
        try:
            program = expression.program
        except CompileError as wrong:
            raise EvaluationError(f"program instantiation failed: {wrong}") from None
        return program.evaluate(activation)

    def cost(self, expression: Expression, remaining: int) -> int:
        """The most that the expression can cost here; found in the cheapest way that says it fits."""
        most = expression.most_up_to(_ANY_SIZE)
        if most <= _CHEAP:
            return most
        if self._largest < 0:
            self._largest = max(largest(self.raw), largest(self._old))
        # Rounded up, so that a few estimates serve all values.
        cost = expression.most_up_to(1 << self._largest.bit_length())
        if cost <= min(CALL_LIMIT, remaining):
            return cost
        try:
            return expression.most_with(measure(self._converted()))
        except EvaluationError:
            return cost


def _failure(text: str, rule: CompiledRule) -> str:
    if text.startswith("no such overload"):
        return _NO_OVERLOAD.format(text, _shown(rule))
    return f"{text} evaluating rule: {_shown(rule)}"


def _shown(rule: CompiledRule) -> str:
    return str(rule.rule.get("message") or rule.rule.get("rule")).strip()


def _message_or_default(rule: CompiledRule) -> str:
    message = str(rule.rule.get("message") or "")
    return message.strip() if message else f"failed rule: {_shown(rule)}"


def _failed(path: str, value: Any, omitted: bool, detail: str, reason: Any) -> FieldError:
    """COMPAT: fieldErrorForReason. The value of an object or a list is not shown."""
    if reason == "FieldValueForbidden":
        return FieldError.forbidden(path, detail)
    if reason == "FieldValueRequired":
        return FieldError.required(path, detail)
    if reason == "FieldValueDuplicate":
        return (
            FieldError("FieldValueDuplicate", path, "Duplicate value") if omitted else FieldError.duplicate(path, value)
        )
    if omitted:
        return FieldError("FieldValueInvalid", path, f"Invalid value: {detail}")
    return FieldError.invalid(path, value, detail)
