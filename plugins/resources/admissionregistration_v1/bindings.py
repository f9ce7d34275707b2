"""ValidatingAdmissionPolicyBindings and MutatingAdmissionPolicyBindings.

COMPAT: pkg/apis/admissionregistration/validation ValidateValidatingAdmissionPolicyBinding and its like
"""

from __future__ import annotations

from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.resource import Column
from apiserver.api.rest import Context
from apiserver.api.strategy import Strategy, bump_generation
from apiserver.api.validation import dns_subdomain
from apiserver_plugins.resources.admissionregistration_v1 import matching
from apiserver_plugins.resources.common.columns import AGE, UNSET, cell, value_at
from apiserver_plugins.resources.common.values import invalid

Object = dict[str, Any]

ACTIONS = frozenset(("Audit", "Deny", "Warn"))
_SPEC = Path("spec")
_TWICE = (
    "must not contain both Deny and Warn (repeating the same validation failure information in the API response and "
    "headers serves no purpose)"
)


def _action_errors(actions: list[str], path: Path) -> list[FieldError]:
    if not actions:
        return [FieldError.required(path, "at least one validation action is required")]
    errors = []
    for i, action in enumerate(actions):
        if action not in ACTIONS:
            errors.append(FieldError.not_supported(path / i, action, ACTIONS))
        if action in actions[:i]:
            errors.append(FieldError.duplicate(path / i, action))
    if "Deny" in actions and "Warn" in actions:
        errors.append(FieldError.invalid(path, actions, _TWICE))
    return errors


class PolicyBindingStrategy(Strategy):
    """Rules of both kinds.

    :param mutating: whether it binds a mutating policy, which has no actions.
    """

    def __init__(self, *, mutating: bool) -> None:
        self.mutating = mutating

    def default(self, obj: Object) -> None:
        constraints = value_at(obj, "spec", "matchResources")
        if constraints is not None:
            matching.set_resource_defaults(constraints)

    def prepare_for_create(self, ctx: Context, obj: Object) -> None:
        obj["metadata"]["generation"] = 1

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        bump_generation(obj, old)

    def validate(self, ctx: Context, obj: Object) -> list[FieldError]:
        spec = obj.get("spec") or {}
        name, path = spec.get("policyName") or "", _SPEC / "policyName"
        errors = invalid(path, name, dns_subdomain(name)) if name else [FieldError.required(path)]
        errors += matching.param_ref_errors(spec.get("paramRef"), _SPEC / "paramRef")
        if spec.get("matchResources") is not None:
            path = _SPEC / "matchResources"
            errors += matching.match_resources_errors(spec["matchResources"], path, rules_needed=False)
        if not self.mutating:
            errors += _action_errors(spec.get("validationActions") or [], _SPEC / "validationActions")
        return errors


def _param_ref(obj: Object) -> str:
    reference = value_at(obj, "spec", "paramRef")
    if reference is None:
        return UNSET
    namespace, name = reference.get("namespace"), reference.get("name") or ""
    return f"{namespace}/{name}" if namespace else name


VALIDATING = PolicyBindingStrategy(mutating=False)
MUTATING = PolicyBindingStrategy(mutating=True)
COLUMNS = (
    Column(
        "PolicyName",
        cell("spec", "policyName"),
        description="PolicyName indicates the policy definition which the policy binding binded to",
    ),
    Column(
        "ParamRef",
        _param_ref,
        description="ParamRef indicates the param resource which sets the configration param",
    ),
    AGE,
)
