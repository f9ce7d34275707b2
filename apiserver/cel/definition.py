"""Checks of the rules in a schema, when a CustomResourceDefinition is written.

The kind CustomResourceDefinition calls :func:`rule_errors` for each schema that is structural otherwise.

COMPAT: apiextensions validation.ValidateCustomResourceDefinitionOpenAPISchema, CELSchemaContext
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from apiserver.api.fields import FieldError, Path

from . import fieldpaths
from .compilation import NO_TYPE, CompiledRule, NodeRules
from .correlation import map_is_correlatable
from .names import escape
from .ranges import MOST
from .schema_types import MAX_REQUEST_BYTES, DeclaredType, of_part, of_schema

EXPRESSION_LIMIT: Final = 10_000_000
"""What one rule may cost by its schema, times how often it can be run. COMPAT: StaticEstimatedCostLimit"""
SCHEMA_LIMIT: Final = 100_000_000
"""What all rules of a schema may cost together. COMPAT: StaticEstimatedCRDCostLimit"""

_REASONS: Final = frozenset({"FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate"})
_RULES: Final = "x-kubernetes-validations"
_LINE_BREAK: Final = re.compile(r"[\n\r]")
_HINT: Final = (
    "try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are"
    " declared"
)
_NO_TYPE_INFO: Final = (
    "internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert"
    " structural schema to CEL declarations"
)
_CONTRIBUTED: Final = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"
_TOTAL: Final = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema"
_SHOWN_AS_EXPENSIVE: Final = 4

Schema = Mapping[str, Any]


def rule_errors(schema: Mapping[str, Any], path: Path) -> list[FieldError]:
    """What is wrong with the rules of a schema that stands at ``path``."""
    total = _Total()
    found = _visit(schema, path, _Context(total, within=bool(schema.get(_RULES))))
    return [*found.plain, *found.compiled, *total.errors(path)]


@dataclass(slots=True)
class _Total:
    """The costs of all rules. COMPAT: TotalCost"""

    cost: int = 0
    expensive: list[tuple[int, Path]] = field(default_factory=list)

    def add(self, path: Path, cost: int) -> None:
        self.cost = min(self.cost + cost, MOST)
        if cost >= SCHEMA_LIMIT // 100:
            self.expensive.append((cost, path))
            self.expensive.sort(key=lambda entry: -entry[0])
            del self.expensive[_SHOWN_AS_EXPENSIVE:]

    def errors(self, path: Path) -> list[FieldError]:
        if self.cost <= SCHEMA_LIMIT:
            return []
        errors = [FieldError.forbidden(place, _CONTRIBUTED) for _, place in self.expensive]
        return [*errors, FieldError.forbidden(path, _exceeds(_TOTAL, self.cost, SCHEMA_LIMIT))]


@dataclass(frozen=True, slots=True)
class _Context:
    """What a schema node has from those above it. COMPAT: CELSchemaContext"""

    total: _Total
    within: bool
    """Whether there are rules here or above: then the type above is known."""
    root: bool = True
    compiles: bool = True
    """Whether rules are compiled: below ``allOf`` and its kind they are not."""
    cardinality: int | None = 1
    """How many values of this schema there can be; None without a bound."""
    above: DeclaredType | None = None
    step: str = ""
    uncorrelatable: Path | None = None

    def below(self, schema: Schema, child: Any, declared: DeclaredType | None, step: str) -> _Context:
        most = _most_children(schema)
        cardinality = None
        if self.cardinality is not None and most is not None:
            cardinality = min(self.cardinality * most, MOST)
        return replace(
            self,
            root=False,
            within=self.within or bool(isinstance(child, Mapping) and child.get(_RULES)),
            cardinality=cardinality,
            above=declared if self.within else None,
            step=step,
        )

    def declared(self, schema: Schema) -> DeclaredType | None:
        """The type of the node. COMPAT: CELSchemaContext.TypeInfo"""
        if self.above is not None:
            found = self.above.fields.get(self.step) if self.step else self.above.element
            if found is not None:
                return found
        return of_schema(schema, root=True) if self.root else of_part(schema)


def _most_children(schema: Schema) -> int | None:
    """By how much a schema multiplies what is below it. COMPAT: extractMaxElements"""
    kind = schema.get("type")
    if kind == "object" and schema.get("additionalProperties") is not None:
        limit = schema.get("maxProperties")
    elif kind == "array":
        limit = schema.get("maxItems")
    else:
        return 1
    return None if limit is None else max(limit, 0)


@dataclass(slots=True)
class _Found:
    """Errors of the form of rules, which keep all rules above from being compiled, and errors of compiling them."""

    plain: list[FieldError] = field(default_factory=list)
    compiled: list[FieldError] = field(default_factory=list)

    def extend(self, other: _Found) -> None:
        self.plain += other.plain
        self.compiled += other.compiled


def _visit(schema: Any, path: Path, context: _Context) -> _Found:
    found = _Found()
    if not isinstance(schema, Mapping):
        return found
    rules = schema.get(_RULES) or []
    declared = context.declared(schema) if context.compiles and context.within else None
    for child, child_path, child_context in _children(schema, path, context, declared):
        found.extend(_visit(child, child_path, child_context))
    for index, rule in enumerate(rules):
        found.plain += _form_errors(rule, schema, path.child(_RULES).item(index))
    if rules and context.compiles and not found.plain:
        found.compiled += _compile_errors(rules, schema, path.child(_RULES), context, declared)
    return found


def _children(
    schema: Schema, path: Path, context: _Context, declared: DeclaredType | None
) -> Iterator[tuple[Any, Path, _Context]]:
    additional, items = schema.get("additionalProperties"), schema.get("items")
    if isinstance(additional, Mapping):
        yield additional, path.child("additionalProperties"), context.below(schema, additional, declared, "")
    for name, part in (schema.get("properties") or {}).items():
        below = context.below(schema, part, declared, escape(name) or "\0")
        if not map_is_correlatable(schema):
            below = replace(below, uncorrelatable=below.uncorrelatable or path)
        yield part, path.child("properties").key(name), below
    if isinstance(items, Mapping):
        below = context.below(schema, items, declared, "")
        if schema.get("x-kubernetes-list-type") != "map":
            below = replace(below, uncorrelatable=below.uncorrelatable or path)
        yield items, path.child("items"), below
    logical = replace(context, compiles=False)
    for name in ("allOf", "oneOf", "anyOf"):
        for index, part in enumerate(schema.get(name) or ()):
            yield part, path.child(name).item(index), logical
    yield schema.get("not"), path.child("not"), logical


def _form_errors(rule: Mapping[str, Any], schema: Schema, path: Path) -> list[FieldError]:
    text, message = str(rule.get("rule") or ""), str(rule.get("message") or "")
    errors = _text_errors(text, message, path)
    message_expression = str(rule.get("messageExpression") or "")
    if message_expression and not message_expression.strip():
        errors.append(
            FieldError.required(path / "messageExpression", "messageExpression must be non-empty if specified")
        )
    reason = rule.get("reason")
    if reason is not None and reason not in _REASONS:
        errors.append(FieldError.not_supported(path / "reason", reason, _REASONS))
    return errors + _path_errors(str(rule.get("fieldPath") or ""), schema, path / "fieldPath")


def _text_errors(text: str, message: str, path: Path) -> list[FieldError]:
    if not text.strip():
        return [FieldError.required(path / "rule", "rule is not specified")]
    if message and not message.strip():
        return [FieldError.invalid(path / "message", message, "must be non-empty if specified")]
    if _LINE_BREAK.search(message.strip()):
        return [FieldError.invalid(path / "message", message, "must not contain line breaks")]
    if _LINE_BREAK.search(text.strip()) and not message.strip():
        return [FieldError.required(path / "message", "message must be specified if rule contains line breaks")]
    return []


def _path_errors(text: str, schema: Schema, path: Path) -> list[FieldError]:
    if not text:
        return []
    errors = []
    if not text.strip():
        errors.append(FieldError.invalid(path, text, "must be non-empty if specified"))
    if _LINE_BREAK.search(text):
        errors.append(FieldError.invalid(path, text, "must not contain line breaks"))
    try:
        fieldpaths.normalized(text, schema)
    except fieldpaths.FieldPathError:
        errors.append(FieldError.invalid(path, text, "must be a valid path"))
    return errors


def _compile_errors(
    rules: list[Any], schema: Schema, path: Path, context: _Context, declared: DeclaredType | None
) -> list[FieldError]:
    if declared is None:
        inherited = context.above is not None
        return [FieldError.internal(path, NO_TYPE if inherited else _NO_TYPE_INFO)]
    node = NodeRules(schema, declared)
    # COMPAT: maxCardinality: as often as its smallest JSON and a comma fit in a request
    repeated = context.cardinality
    if repeated is None:
        repeated = MAX_REQUEST_BYTES // (declared.smallest + 1)
    errors = []
    for index, rule in enumerate(rules):
        errors += _rule_errors(node.compile(rule), path.item(index), context, repeated)
    return errors


def _rule_errors(compiled: CompiledRule, path: Path, context: _Context, repeated: int) -> list[FieldError]:
    errors = []
    most = compiled.expression.most if compiled.expression is not None else 0
    cost = min(most * repeated, MOST)
    if cost > EXPRESSION_LIMIT:
        errors.append(FieldError.forbidden(path / "rule", _exceeds("estimated rule cost", cost, EXPRESSION_LIMIT)))
    context.total.add(path / "rule", cost)
    if compiled.error:
        errors.append(_wrong(path / "rule", compiled, compiled.error))
    errors += _message_errors(compiled, path / "messageExpression", context)
    if compiled.uses_old and context.uncorrelatable is not None:
        detail = f"oldSelf cannot be used on the uncorrelatable portion of the schema within {context.uncorrelatable}"
        errors.append(FieldError.invalid(path / "rule", compiled.rule["rule"], detail))
    elif not compiled.uses_old and compiled.rule.get("optionalOldSelf") is not None:
        detail = "may not be set if oldSelf is not used in rule"
        errors.append(FieldError.invalid(path / "optionalOldSelf", compiled.rule["optionalOldSelf"], detail))
    return errors


def _message_errors(compiled: CompiledRule, path: Path, context: _Context) -> list[FieldError]:
    if compiled.message_error:
        return [_wrong(path, compiled, compiled.message_error)]
    if compiled.message is None:
        return []
    most = compiled.message.most
    context.total.add(path, most)
    if most <= EXPRESSION_LIMIT:
        return []
    return [FieldError.forbidden(path, _exceeds("estimated messageExpression cost", most, EXPRESSION_LIMIT))]


def _wrong(path: Path, compiled: CompiledRule, detail: str) -> FieldError:
    """An error that shows the whole rule, as Go's JSON shows the internal type."""
    rule = compiled.rule
    shown = {
        "Rule": rule.get("rule", ""),
        "Message": rule.get("message", ""),
        "MessageExpression": rule.get("messageExpression", ""),
        "Reason": rule.get("reason"),
        "FieldPath": rule.get("fieldPath", ""),
        "OptionalOldSelf": rule.get("optionalOldSelf"),
    }
    text = json.dumps(shown, ensure_ascii=False, separators=(",", ":"))
    for char in "<>&":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return FieldError("FieldValueInvalid", path, f"Invalid value: {text}: {detail}")


def _exceeds(name: str, cost: int, limit: int) -> str:
    """COMPAT: getCostErrorMessage"""
    factor = cost / limit
    if factor > 100:
        shown = "more than 100x"
    elif factor < 1.5:
        shown = f"{factor:.6f}x"
    else:
        shown = f"{factor:.1f}x"
    return f"{name} exceeds budget by factor of {shown} ({_HINT})"
