"""What rules, references and subjects must look like; used by the four kinds of this group.

COMPAT: pkg/apis/rbac/validation
"""

from __future__ import annotations

from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.resource import Column
from apiserver.api.rest import Context, WriteOptions
from apiserver.api.strategy import Finish, Strategy
from apiserver.api.validation import dns_subdomain, path_segment
from apiserver_plugins.resources.common.columns import AGE
from apiserver_plugins.resources.common.values import invalid
from apiserver_plugins.resources.rbac_v1.escalation import Guard

GROUP = "rbac.authorization.k8s.io"
ACCOUNT, USER, TEAM = "ServiceAccount", "User", "Group"
_MIXED = "rules cannot apply to both regular resources and non-resource URLs"


def rule_errors(rule: dict[str, Any], path: Path, *, namespaced: bool) -> list[FieldError]:
    """Problems of a PolicyRule."""
    errors = [] if rule.get("verbs") else [FieldError.required(path / "verbs", "verbs must contain at least one value")]
    urls, where = rule.get("nonResourceURLs"), path / "nonResourceURLs"
    if urls:
        if namespaced:
            text = "namespaced rules cannot apply to non-resource URLs"
            errors.append(FieldError.invalid(where, urls, text))
        if any(rule.get(field) for field in ("apiGroups", "resources", "resourceNames")):
            errors.append(FieldError.invalid(where, urls, _MIXED))
        return errors
    for field, what in (("apiGroups", "api group"), ("resources", "resource")):
        if not rule.get(field):
            text = f"resource rules must supply at least one {what}"
            errors.append(FieldError.required(path / field, text))
    return errors


def _subject_errors(subject: dict[str, Any], path: Path, *, namespaced: bool) -> list[FieldError]:
    name, kind, group = subject.get("name") or "", subject.get("kind") or "", subject.get("apiGroup") or ""
    errors = [] if name else [FieldError.required(path / "name")]
    if kind == ACCOUNT:
        errors += invalid(path / "name", name, dns_subdomain(name)) if name else []
        if group:
            errors.append(FieldError.not_supported(path / "apiGroup", group, ("",)))
        if not namespaced and not subject.get("namespace"):
            errors.append(FieldError.required(path / "namespace"))
    elif kind in (USER, TEAM):
        if group != GROUP:
            errors.append(FieldError.not_supported(path / "apiGroup", group, (GROUP,)))
    else:
        errors.append(FieldError.not_supported(path / "kind", kind, (ACCOUNT, USER, TEAM)))
    return errors


class RoleStrategyBase(Strategy):
    """What roles have in common: any name that can stand in a path.

    :param guard: keeps writers from granting what they do not hold.
    :param namespaced: whether it is a Role.
    """

    allow_create_on_update = True

    def __init__(self, guard: Guard, *, namespaced: bool) -> None:
        self._guard = guard
        self.namespaced = namespaced

    def begin_create(self, ctx: Context, obj: dict[str, Any], options: WriteOptions) -> Finish | None:
        self._guard.check_role(ctx, obj, None)
        return None

    def begin_update(
        self, ctx: Context, obj: dict[str, Any], old: dict[str, Any], options: WriteOptions
    ) -> Finish | None:
        self._guard.check_role(ctx, obj, old)
        return None

    def validate_name(self, name: str, prefix: bool) -> list[str]:
        return path_segment(name, prefix=prefix)

    def validate(self, ctx: Context, obj: dict[str, Any]) -> list[FieldError]:
        errors: list[FieldError] = []
        for i, rule in enumerate(obj.get("rules") or ()):
            errors += rule_errors(rule, Path("rules") / i, namespaced=self.namespaced)
        return errors


class BindingStrategyBase(Strategy):
    """What bindings have in common.

    :param guard: keeps writers from granting what they do not hold.
    :param namespaced: whether it is a RoleBinding.
    """

    allow_create_on_update = True

    def __init__(self, guard: Guard, *, namespaced: bool) -> None:
        self._guard = guard
        self.namespaced = namespaced
        self.roles = ("Role", "ClusterRole") if namespaced else ("ClusterRole",)

    def default(self, obj: dict[str, Any]) -> None:
        reference = obj.setdefault("roleRef", {})
        reference["apiGroup"] = reference.get("apiGroup") or GROUP
        for subject in obj.get("subjects") or ():
            if subject.get("kind") in (USER, TEAM):
                subject["apiGroup"] = subject.get("apiGroup") or GROUP

    def begin_create(self, ctx: Context, obj: dict[str, Any], options: WriteOptions) -> Finish | None:
        self._guard.check_binding(ctx, obj, None)
        return None

    def begin_update(
        self, ctx: Context, obj: dict[str, Any], old: dict[str, Any], options: WriteOptions
    ) -> Finish | None:
        self._guard.check_binding(ctx, obj, old)
        return None

    def validate_name(self, name: str, prefix: bool) -> list[str]:
        return path_segment(name, prefix=prefix)

    def validate(self, ctx: Context, obj: dict[str, Any]) -> list[FieldError]:
        reference, path = obj.get("roleRef") or {}, Path("roleRef")
        group, kind, name = (reference.get(field) or "" for field in ("apiGroup", "kind", "name"))
        errors = []
        if group != GROUP:
            errors.append(FieldError.not_supported(path / "apiGroup", group, (GROUP,)))
        if kind not in self.roles:
            errors.append(FieldError.not_supported(path / "kind", kind, self.roles))
        errors += invalid(path / "name", name, path_segment(name)) if name else [FieldError.required(path / "name")]
        for i, subject in enumerate(obj.get("subjects") or ()):
            errors += _subject_errors(subject, Path("subjects") / i, namespaced=self.namespaced)
        return errors

    def validate_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        errors = self.validate(ctx, obj)
        if obj.get("roleRef") != old.get("roleRef"):
            errors.append(FieldError.invalid("roleRef", obj.get("roleRef"), "cannot change roleRef"))
        return errors


def _role(obj: dict[str, Any]) -> str:
    reference = obj.get("roleRef") or {}
    return f"{reference.get('kind', '')}/{reference.get('name', '')}"


def _named(obj: dict[str, Any], kind: str) -> str:
    """COMPAT: SubjectsStrings."""
    subjects = [subject for subject in obj.get("subjects") or () if subject.get("kind") == kind]
    if kind == ACCOUNT:
        return ", ".join(f"{subject.get('namespace', '')}/{subject.get('name', '')}" for subject in subjects)
    return ", ".join(subject.get("name", "") for subject in subjects)


def _users(obj: dict[str, Any]) -> str:
    return _named(obj, USER)


def _groups(obj: dict[str, Any]) -> str:
    return _named(obj, TEAM)


def _accounts(obj: dict[str, Any]) -> str:
    return _named(obj, ACCOUNT)


def binding_columns(kind: str, roles: str) -> tuple[Column, ...]:
    """Columns of a binding.

    :param kind: how the descriptions call it.
    :param roles: what it can refer to, for the description.
    """
    # COMPAT: the description is that of an older version of the group
    text = f"RoleRef can {roles}. If the RoleRef cannot be resolved, the Authorizer must return an error."
    return (
        Column("Role", _role, description=text),
        AGE,
        Column("Users", _users, priority=1, description=f"Users in the {kind}"),
        Column("Groups", _groups, priority=1, description=f"Groups in the {kind}"),
        Column("ServiceAccounts", _accounts, priority=1, description=f"ServiceAccounts in the {kind}"),
    )
