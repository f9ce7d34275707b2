"""What webhooks and policies match: rules, selectors, conditions and parameters.

COMPAT: pkg/apis/admissionregistration/v1 defaults; pkg/apis/admissionregistration/validation
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.validation import qualified_name
from apiserver_plugins.resources.admissionregistration_v1.conditions import condition_expression_errors
from apiserver_plugins.resources.common.selectors import selector_errors
from apiserver_plugins.resources.common.values import invalid

Object = dict[str, Any]

FAILURE_POLICIES = frozenset(("Fail", "Ignore"))
MATCH_POLICIES = frozenset(("Equivalent", "Exact"))
_OPERATIONS = frozenset(("*", "CONNECT", "CREATE", "DELETE", "UPDATE"))
_SCOPES = frozenset(("*", "Cluster", "Namespaced"))
_MOST_CONDITIONS = 64


def set_rule_defaults(rules: Sequence[Object] | None) -> None:
    """A rule that does not say is about both scopes."""
    for rule in rules or ():
        if rule.get("scope") is None:
            rule["scope"] = "*"


def set_matching_defaults(matching: Object) -> None:
    """Of a webhook, or of the ``matchConstraints`` of a policy, in place."""
    if matching.get("matchPolicy") is None:
        matching["matchPolicy"] = "Equivalent"
    for field in ("namespaceSelector", "objectSelector"):
        if matching.get(field) is None:
            matching[field] = {}


def set_resource_defaults(matching: Object) -> None:
    """Of MatchResources, in place."""
    set_matching_defaults(matching)
    set_rule_defaults(matching.get("resourceRules"))
    set_rule_defaults(matching.get("excludeResourceRules"))


def _words(values: Sequence[str], path: Path, mixed: str) -> list[FieldError]:
    if not values:
        return [FieldError.required(path)]
    if "*" in values and len(values) > 1:
        return [FieldError.invalid(path, values, f"if '*' is present, must not specify other {mixed}")]
    return []


def rule_errors(rule: Object, path: Path) -> list[FieldError]:
    """Problems of a RuleWithOperations."""
    operations, where = rule.get("operations") or (), path / "operations"
    errors = _words(operations, where, "operations")
    for i, operation in enumerate(operations):
        if operation not in _OPERATIONS:
            errors.append(FieldError.not_supported(where / i, operation, _OPERATIONS))
    errors += _words(rule.get("apiGroups") or (), path / "apiGroups", "API groups")
    versions = rule.get("apiVersions") or ()
    errors += _words(versions, path / "apiVersions", "API versions")
    errors += [FieldError.required(path / "apiVersions" / i) for i, version in enumerate(versions) if not version]
    errors += _resource_errors(rule.get("resources") or (), path / "resources")
    scope = rule.get("scope")
    if scope is not None and scope not in _SCOPES:
        errors.append(FieldError.not_supported(path / "scope", scope, _SCOPES))
    return errors


def _resource_errors(resources: Sequence[str], path: Path) -> list[FieldError]:
    if not resources:
        return [FieldError.required(path)]
    errors: list[FieldError] = []
    whole: set[str] = set()
    everywhere: set[str] = set()
    for i, name in enumerate(resources):
        if not name:
            errors.append(FieldError.required(path / i))
            continue
        resource, slash, sub = name.partition("/")
        if not slash:
            continue
        if resource in whole:
            text = f"if '{resource}/*' is present, must not specify {name}"
            errors.append(FieldError.invalid(path / i, name, text))
        if sub in everywhere:
            text = f"if '*/{sub}' is present, must not specify {name}"
            errors.append(FieldError.invalid(path / i, name, text))
        if sub == "*":
            whole.add(resource)
        if resource == "*":
            everywhere.add(sub)
    if len(resources) > 1 and "*/*" in resources:
        text = "if '*/*' is present, must not specify other resources"
        errors.append(FieldError.invalid(path, resources, text))
    if "*" in resources and any("/" not in name and name != "*" for name in resources):
        text = "if '*' is present, must not specify other resources without subresources"
        errors.append(FieldError.invalid(path, resources, text))
    return errors


def selectors_errors(matching: Object, path: Path) -> list[FieldError]:
    """Problems of the match policy and of both selectors."""
    policy = matching.get("matchPolicy")
    errors: list[FieldError] = []
    if policy is not None and policy not in MATCH_POLICIES:
        errors.append(FieldError.not_supported(path / "matchPolicy", policy, MATCH_POLICIES))
    for field in ("namespaceSelector", "objectSelector"):
        errors += selector_errors(path / field, matching.get(field))
    return errors


def match_resources_errors(matching: Object, path: Path, *, rules_needed: bool) -> list[FieldError]:
    """Problems of MatchResources."""
    errors = selectors_errors(matching, path)
    if rules_needed and not matching.get("resourceRules"):
        errors.append(FieldError.required(path / "resourceRules"))
    for field in ("resourceRules", "excludeResourceRules"):
        for i, rule in enumerate(matching.get(field) or ()):
            errors += rule_errors(rule, path / field / i)
    return errors


def condition_errors(conditions: Sequence[Object], path: Path, *, params: bool = False) -> list[FieldError]:
    """Problems of ``matchConditions``; ``params`` says whether their expressions may use parameters."""
    errors: list[FieldError] = []
    if len(conditions) > _MOST_CONDITIONS:
        errors.append(FieldError.too_many(path, len(conditions), _MOST_CONDITIONS))
    names: set[str] = set()
    for i, condition in enumerate(conditions):
        name = condition.get("name") or ""
        expression, where = condition.get("expression") or "", path / i / "expression"
        if not expression.strip():
            errors.append(FieldError.required(where))
        else:
            errors += condition_expression_errors(expression, where, params=params)
        errors += (
            invalid(path / i / "name", name, qualified_name(name)) if name else [FieldError.required(path / i / "name")]
        )
        if name in names:
            errors.append(FieldError.duplicate(path / i / "name", name))
        names.add(name)
    return errors


def param_kind_errors(kind: Object | None, path: Path) -> list[FieldError]:
    """Problems of ``paramKind``."""
    if kind is None:
        return []
    return [FieldError.required(path / field) for field in ("apiVersion", "kind") if not kind.get(field)]


def param_ref_errors(reference: Object | None, path: Path) -> list[FieldError]:
    """Problems of ``paramRef``."""
    if reference is None:
        return []
    name, selector = reference.get("name"), reference.get("selector")
    errors: list[FieldError] = []
    if name and selector is not None:
        text = "name and selector are mutually exclusive"
        errors += [FieldError.forbidden(path / field, text) for field in ("name", "selector")]
    elif not name and selector is None:
        errors.append(FieldError.required(path, "one of name or selector must be specified"))
    errors += selector_errors(path / "selector", selector)
    action, actions = reference.get("parameterNotFoundAction"), frozenset(("Allow", "Deny"))
    if action is None:
        errors.append(FieldError.required(path / "parameterNotFoundAction"))
    elif action not in actions:
        errors.append(FieldError.not_supported(path / "parameterNotFoundAction", action, actions))
    return errors
