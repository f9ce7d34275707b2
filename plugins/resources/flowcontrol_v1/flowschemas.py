"""FlowSchemas.

COMPAT: pkg/apis/flowcontrol/validation ValidateFlowSchema; pkg/registry/flowcontrol/flowschema; printFlowSchema
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.resource import Column
from apiserver.api.rest import Context
from apiserver.api.strategy import SpecStatusStrategy, StatusStrategy
from apiserver.api.validation import dns_label, dns_subdomain
from apiserver_plugins.resources.common.columns import AGE, NONE, cell, value_at
from apiserver_plugins.resources.common.values import invalid

Object = dict[str, Any]

PRECEDENCE, HIGHEST = 1000, 10000
EXEMPT = "exempt"
_SPEC = Path("spec")
_METHODS = frozenset(("ByNamespace", "ByUser"))
_SUBJECTS = {"Group": "group", "ServiceAccount": "serviceAccount", "User": "user"}
_VERBS = frozenset(
    ("create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "use", "bind", "impersonate",
     "watch", "*")
)  # fmt: skip


def _words(values: Sequence[str], path: Path, missing: str, mixed: str) -> list[FieldError]:
    """A list that is not empty and has nothing beside ``*``."""
    if not values:
        return [FieldError.required(path, missing)]
    if "*" in values and len(values) > 1:
        return [FieldError.invalid(path, values, f"if '*' is present, must not specify other {mixed}")]
    return []


def _subject_errors(subject: Object, path: Path) -> list[FieldError]:
    kind = subject.get("kind") or ""
    expected = _SUBJECTS.get(kind)
    errors = []
    if expected is None:
        errors.append(FieldError.not_supported(path / "kind", kind, tuple(_SUBJECTS)))
    for name, field in _SUBJECTS.items():
        part, where = subject.get(field), path / field
        if part is None:
            if field == expected:
                errors.append(FieldError.required(where, f"{field} is required when subject kind is '{name}'"))
        elif field == expected:
            errors += [] if part.get("name") else [FieldError.required(where / "name")]
            if field == "serviceAccount" and not part.get("namespace"):
                errors.append(FieldError.required(where / "namespace", "must specify namespace for service account"))
        elif expected is not None:
            text = f"{field} is forbidden when subject kind is not '{name}'"
            errors.append(FieldError.forbidden(where, text))
    return errors


def _resource_errors(rule: Object, path: Path) -> list[FieldError]:
    errors = _words(rule.get("verbs") or (), path / "verbs", "verbs must contain at least one value", "verbs")
    text = "resource rules must supply at least one api group"
    errors += _words(rule.get("apiGroups") or (), path / "apiGroups", text, "api groups")
    text = "resource rules must supply at least one resource"
    errors += _words(rule.get("resources") or (), path / "resources", text, "resources")
    namespaces, where = rule.get("namespaces") or (), path / "namespaces"
    if not namespaces and not rule.get("clusterScope"):
        text = "resource rules that are not cluster scoped must supply at least one namespace"
        errors.append(FieldError.required(where, text))
    elif "*" in namespaces and len(namespaces) > 1:
        text = "if '*' is present, must not specify other namespaces"
        errors.append(FieldError.invalid(where, namespaces, text))
    else:
        for i, namespace in enumerate(namespaces):
            errors += invalid(where / i, namespace, dns_label(namespace)) if namespace != "*" else []
    return errors


def _other_errors(rule: Object, path: Path) -> list[FieldError]:
    errors = _words(rule.get("verbs") or (), path / "verbs", "verbs must contain at least one value", "verbs")
    urls, where = rule.get("nonResourceURLs") or (), path / "nonResourceURLs"
    errors += _words(urls, where, "nonResourceURLs must contain at least one value", "non-resource URLs")
    for i, url in enumerate(urls):
        if url != "*" and not url.startswith("/"):
            errors.append(FieldError.invalid(where / i, url, "must start with slash"))
    return errors


def _rule_errors(rule: Object, path: Path) -> list[FieldError]:
    subjects, resources, others = (rule.get(f) or () for f in ("subjects", "resourceRules", "nonResourceRules"))
    errors: list[FieldError] = []
    if not subjects:
        errors.append(FieldError.required(path / "subjects", "subjects must contain at least one value"))
    for i, subject in enumerate(subjects):
        errors += _subject_errors(subject, path / "subjects" / i)
    if not resources and not others:
        text = "at least one of resourceRules and nonResourceRules has to be non-empty"
        errors.append(FieldError.required(path, text))
    for i, each in enumerate(resources):
        errors += _resource_errors(each, path / "resourceRules" / i)
    for i, each in enumerate(others):
        errors += _other_errors(each, path / "nonResourceRules" / i)
    return errors


def _precedence_errors(precedence: int, name: str) -> list[FieldError]:
    path = _SPEC / "matchingPrecedence"
    errors = []
    if precedence <= 0:
        errors.append(FieldError.invalid(path, precedence, "must be a positive value"))
    if precedence > HIGHEST:
        errors.append(FieldError.invalid(path, precedence, f"must not be greater than {HIGHEST}"))
    if precedence == 1 and name != EXEMPT:
        text = "only the schema named 'exempt' may have matchingPrecedence 1"
        errors.append(FieldError.invalid(path, precedence, text))
    return errors


class FlowSchemaStrategy(SpecStatusStrategy):
    """Rules of FlowSchemas."""

    def default(self, obj: Object) -> None:
        spec = obj.setdefault("spec", {})
        spec["matchingPrecedence"] = spec.get("matchingPrecedence") or PRECEDENCE

    def prepare_for_create(self, ctx: Context, obj: Object) -> None:
        super().prepare_for_create(ctx, obj)
        obj["status"] = {}

    def validate(self, ctx: Context, obj: Object) -> list[FieldError]:
        spec, name = obj["spec"], obj["metadata"].get("name") or ""
        errors = _precedence_errors(spec["matchingPrecedence"], name)
        method = spec.get("distinguisherMethod")
        if method is not None and method.get("type") not in _METHODS:
            # COMPAT: the value shown is the whole structure
            errors.append(FieldError.not_supported(_SPEC / "distinguisherMethod" / "type", method, _METHODS))
        level, path = value_at(spec, "priorityLevelConfiguration", "name") or "", _SPEC / "priorityLevelConfiguration"
        if level:
            errors += invalid(path / "name", level, dns_subdomain(level))
        else:
            errors.append(FieldError.required(path / "name", "must reference a priority level"))
        for i, rule in enumerate(spec.get("rules") or ()):
            errors += _rule_errors(rule, _SPEC / "rules" / i)
        return errors


def _missing(obj: Object) -> str:
    conditions = value_at(obj, "status", "conditions") or ()
    return next((c.get("status", "") for c in conditions if c.get("type") == "Dangling"), "?")


STRATEGY = FlowSchemaStrategy()
STATUS = StatusStrategy(STRATEGY)
COLUMNS = (
    Column(
        "PriorityLevel",
        cell("spec", "priorityLevelConfiguration", "name"),
        field="spec.priorityLevelConfiguration.name",
    ),
    Column("MatchingPrecedence", cell("spec", "matchingPrecedence", default=0), field="spec.matchingPrecedence"),
    Column(
        "DistinguisherMethod",
        cell("spec", "distinguisherMethod", "type", default=NONE),
        field="spec.distinguisherMethod",
    ),
    AGE,
    Column("MissingPL", _missing, description="references a broken or non-existent PriorityLevelConfiguration"),
)
