"""ValidatingAdmissionPolicies and MutatingAdmissionPolicies.

COMPAT: pkg/apis/admissionregistration/validation ValidateValidatingAdmissionPolicy, ValidateMutatingAdmissionPolicy
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.resource import Column
from apiserver.api.rest import Context
from apiserver.api.strategy import SpecStatusStrategy, StatusStrategy, Strategy, bump_generation
from apiserver.api.validation import qualified_name
from apiserver_plugins.resources.admissionregistration_v1 import conditions, matching
from apiserver_plugins.resources.common.columns import AGE, UNSET, value_at
from apiserver_plugins.resources.common.values import invalid

if TYPE_CHECKING:
    from apiserver.cel.admission import Composition

Object = dict[str, Any]

_SPEC = Path("spec")
_REASONS = frozenset(("Forbidden", "Invalid", "RequestEntityTooLarge"))
_PATCH_TYPES = frozenset(("ApplyConfiguration", "JSONPatch"))
_REINVOCATIONS = frozenset(("IfNeeded", "Never"))


def _set_defaults(obj: Object) -> None:
    spec = obj.setdefault("spec", {})
    if spec.get("failurePolicy") is None:
        spec["failurePolicy"] = "Fail"
    if spec.get("matchConstraints") is not None:
        matching.set_resource_defaults(spec["matchConstraints"])


def _common_errors(spec: Object) -> list[FieldError]:
    policy = spec.get("failurePolicy")
    errors: list[FieldError] = []
    if policy not in matching.FAILURE_POLICIES:
        errors.append(FieldError.not_supported(_SPEC / "failurePolicy", policy, matching.FAILURE_POLICIES))
    errors += matching.param_kind_errors(spec.get("paramKind"), _SPEC / "paramKind")
    if spec.get("matchConstraints") is None:
        errors.append(FieldError.required(_SPEC / "matchConstraints"))
    else:
        path = _SPEC / "matchConstraints"
        errors += matching.match_resources_errors(spec["matchConstraints"], path, rules_needed=True)
    found, params = spec.get("matchConditions") or (), spec.get("paramKind") is not None
    return errors + matching.condition_errors(found, _SPEC / "matchConditions", params=params)


def _validation_errors(validation: Object, compositions: Composition, path: Path) -> list[FieldError]:
    expression = validation.get("expression") or ""
    if not expression.strip():
        errors = [FieldError.required(path / "expression", "expression is not specified")]
    else:
        compiler = compositions.compiler(authorizer=True)
        errors = conditions.compiled_errors(compiler, expression, path / "expression", "bool")
    message_expression = validation.get("messageExpression") or ""
    errors += conditions.message_expression_errors(message_expression, compositions, path / "messageExpression")
    message = validation.get("message") or ""
    if message and not message.strip():
        text = "message must be non-empty if specified"
        errors.append(FieldError.invalid(path / "message", message, text))
    elif "\n" in message.strip():
        errors.append(FieldError.invalid(path / "message", message, "must not contain line breaks"))
    reason = validation.get("reason")
    if reason is not None and reason not in _REASONS:
        errors.append(FieldError.not_supported(path / "reason", reason, _REASONS))
    return errors


def _annotation_errors(obj: Object, annotations: list[Object], compositions: Composition) -> list[FieldError]:
    errors = conditions.annotation_count_errors(annotations, _SPEC / "auditAnnotations")
    keys: set[str] = set()
    for i, annotation in enumerate(annotations):
        path, key = _SPEC / "auditAnnotations" / i, annotation.get("key") or ""
        full = f"{obj['metadata'].get('name') or ''}/{key}"
        errors += invalid(path / "key", full, qualified_name(full))
        expression = annotation.get("valueExpression") or ""
        errors += conditions.value_expression_errors(expression, compositions, path / "valueExpression")
        if key in keys:
            errors.append(FieldError.duplicate(path / "key", key))
        keys.add(key)
    return errors


class ValidatingAdmissionPolicyStrategy(SpecStatusStrategy):
    """Rules of ValidatingAdmissionPolicies."""

    def default(self, obj: Object) -> None:
        _set_defaults(obj)

    def prepare_for_create(self, ctx: Context, obj: Object) -> None:
        super().prepare_for_create(ctx, obj)
        obj["status"] = {}

    def validate(self, ctx: Context, obj: Object) -> list[FieldError]:
        spec = obj["spec"]
        errors = _common_errors(spec)
        validations, annotations = spec.get("validations") or [], spec.get("auditAnnotations") or []
        if not validations and not annotations:
            text = "validations or auditAnnotations must contain at least one item"
            errors += [FieldError.required(_SPEC / field, text) for field in ("validations", "auditAnnotations")]
        compositions = conditions.composition(spec)
        errors += conditions.variable_errors(spec.get("variables") or [], compositions, _SPEC / "variables")
        for i, validation in enumerate(validations):
            errors += _validation_errors(validation, compositions, _SPEC / "validations" / i)
        return errors + _annotation_errors(obj, annotations, compositions)


def _mutation_errors(mutation: Object, compositions: Composition, path: Path) -> list[FieldError]:
    kind = mutation.get("patchType") or ""
    if not kind:
        return [FieldError.required(path / "patchType")]
    if kind not in _PATCH_TYPES:
        return [FieldError.not_supported(path / "patchType", kind, _PATCH_TYPES)]
    fields = {"ApplyConfiguration": "applyConfiguration", "JSONPatch": "jsonPatch"}
    errors = []
    for name, field in fields.items():
        part = mutation.get(field)
        if part is None:
            if name == kind:
                errors.append(FieldError.required(path / field, f"must be specified when patchType is {kind}"))
        elif name != kind:
            text = f"must not be specified when patchType is not {name}"
            errors.append(FieldError.invalid(path / field, part, text))
        else:
            where = path / field / "expression"
            errors += conditions.patch_expression_errors(part.get("expression") or "", kind, compositions, where)
    return errors


class MutatingAdmissionPolicyStrategy(Strategy):
    """Rules of MutatingAdmissionPolicies."""

    def default(self, obj: Object) -> None:
        _set_defaults(obj)

    def prepare_for_create(self, ctx: Context, obj: Object) -> None:
        obj["metadata"]["generation"] = 1

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        bump_generation(obj, old)

    def validate(self, ctx: Context, obj: Object) -> list[FieldError]:
        spec = obj["spec"]
        errors = _common_errors(spec)
        mutations = spec.get("mutations") or ()
        if not mutations:
            errors.append(FieldError.required(_SPEC / "mutations", "mutations must contain at least one item"))
        compositions = conditions.composition(spec)
        errors += conditions.variable_errors(spec.get("variables") or [], compositions, _SPEC / "variables")
        for i, mutation in enumerate(mutations):
            errors += _mutation_errors(mutation, compositions, _SPEC / "mutations" / i)
        policy = spec.get("reinvocationPolicy") or ""
        if not policy:
            errors.append(FieldError.required(_SPEC / "reinvocationPolicy"))
        elif policy not in _REINVOCATIONS:
            errors.append(FieldError.not_supported(_SPEC / "reinvocationPolicy", policy, _REINVOCATIONS))
        return errors


def _param_kind(obj: Object) -> str:
    kind = value_at(obj, "spec", "paramKind")
    return f"{kind.get('apiVersion', '')}/{kind.get('kind', '')}" if kind else UNSET


def _columns(name: str, field: str, rules: str) -> tuple[Column, ...]:
    def count(obj: Object) -> int:
        return len(value_at(obj, "spec", field) or ())

    text = f"{name} indicates the number of {rules} rules defined in this configuration"
    kind = "ParamKind specifies the kind of resources used to parameterize this policy"
    return (
        Column(name, count, "integer", description=text),
        Column("ParamKind", _param_kind, description=kind),
        AGE,
    )


VALIDATING = ValidatingAdmissionPolicyStrategy()
VALIDATING_STATUS = StatusStrategy(VALIDATING)
VALIDATING_COLUMNS = _columns("Validations", "validations", "validation")
MUTATING = MutatingAdmissionPolicyStrategy()
MUTATING_COLUMNS = _columns("Mutations", "mutations", "mutation")
