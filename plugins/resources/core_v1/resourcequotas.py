"""ResourceQuotas.

COMPAT: pkg/apis/core/validation ValidateResourceQuotaSpec; pkg/apis/core/helper; printResourceQuota
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.resource import Column
from apiserver.api.rest import Context
from apiserver.api.strategy import StatusStrategy, Strategy, keep_status
from apiserver.api.validation import qualified_name
from apiserver_plugins.resources.common.columns import AGE, value_at
from apiserver_plugins.resources.common.pod_validation.resources import STANDARD, is_extended
from apiserver_plugins.resources.common.quantities import amount, is_whole
from apiserver_plugins.resources.common.values import IMMUTABLE, NOT_NEGATIVE, invalid

_SPEC = Path("spec")
_SCOPES = _SPEC / "scopes"
_QUOTA = STANDARD - {"storage"}
_WHOLE = frozenset(
    (
        "pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps",
        "persistentvolumeclaims", "services.nodeports", "services.loadbalancers",
    )
)  # fmt: skip
_HUGE = ("hugepages-", "requests.hugepages-")
_COMPUTE = frozenset(("pods", "cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"))
# What each scope can be said of.
_VALID_FOR = {
    "Terminating": _COMPUTE,
    "NotTerminating": _COMPUTE,
    "NotBestEffort": _COMPUTE,
    "PriorityClass": _COMPUTE,
    "CrossNamespacePodAffinity": _COMPUTE,
    "BestEffort": frozenset(("pods",)),
    "VolumeAttributesClass": frozenset(("persistentvolumeclaims", "requests.storage")),
}
_EXISTS_ONLY = ("BestEffort", "NotBestEffort", "Terminating", "NotTerminating", "CrossNamespacePodAffinity")
_EXISTS_TEXT = (
    "must be 'Exist' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, "
    "ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
)
_OPPOSITES = ({"BestEffort", "NotBestEffort"}, {"Terminating", "NotTerminating"})


def _is_quota_resource(name: str) -> bool:
    return name in _QUOTA or name.startswith(_HUGE)


def _name_errors(path: str, name: str) -> list[FieldError]:
    errors = invalid(path, name, qualified_name(name))
    if errors or "/" in name:
        return errors
    if name not in STANDARD and not name.startswith(_HUGE):
        errors.append(FieldError.invalid(path, name, "must be a standard resource type or fully qualified"))
    if not _is_quota_resource(name):
        errors.append(FieldError.invalid(path, name, "must be a standard resource for quota"))
    return errors


def _amount_errors(amounts: dict[str, str] | None, path: Path) -> list[FieldError]:
    errors: list[FieldError] = []
    for name, quantity in (amounts or {}).items():
        where = path.key(name)
        errors += _name_errors(where, name)
        if amount(quantity) < 0:
            errors.append(FieldError.invalid(where, quantity, NOT_NEGATIVE))
        if (name in _WHOLE or is_extended(name)) and not is_whole(quantity):
            errors.append(FieldError.invalid(where, quantity, "must be an integer"))
    return errors


def _unfit(scope: str, hard: Iterable[str]) -> int:
    """How many of the resources that are limited the scope can't be said of."""
    valid = _VALID_FOR.get(scope)
    return 0 if valid is None else sum(_is_quota_resource(name) and name not in valid for name in hard)


def _conflict_errors(scopes: set[str], path: Path, shown: Any) -> list[FieldError]:
    return [FieldError.invalid(path, shown, "conflicting scopes") for pair in _OPPOSITES if pair <= scopes]


def _scope_errors(spec: dict[str, Any]) -> list[FieldError]:
    scopes, hard = spec.get("scopes") or [], spec.get("hard") or {}
    errors: list[FieldError] = []
    for scope in scopes:
        if scope not in _VALID_FOR:
            errors.append(FieldError.invalid(_SCOPES, scopes, "unsupported scope"))
        text = "unsupported scope applied to resource"
        errors += [FieldError.invalid(_SCOPES, scopes, text)] * _unfit(scope, hard)
    return errors + _conflict_errors(set(scopes), _SCOPES, scopes)


def _selector_errors(spec: dict[str, Any]) -> list[FieldError]:
    """COMPAT: validateScopedResourceSelectorRequirement."""
    selector = spec.get("scopeSelector")
    if selector is None:
        return []
    path = _SPEC / "scopeSelector" / "matchExpressions"
    terms = selector.get("matchExpressions") or ()
    errors: list[FieldError] = []
    for term in terms:
        scope, operator = term.get("scopeName") or "", term.get("operator") or ""
        if scope not in _VALID_FOR:
            errors.append(FieldError.invalid(path / "scopeName", scope, "unsupported scope"))
        text = "unsupported scope applied to resource"
        errors += [FieldError.invalid(path, selector, text)] * _unfit(scope, spec.get("hard") or {})
        if scope in _EXISTS_ONLY and operator != "Exists":
            errors.append(FieldError.invalid(path / "operator", operator, _EXISTS_TEXT))
        errors += _operator_errors(operator, term.get("values") or [], path)
    return errors + _conflict_errors({term.get("scopeName", "") for term in terms}, path, spec.get("scopes") or [])


def _operator_errors(operator: str, values: list[str], path: Path) -> list[FieldError]:
    if operator in ("In", "NotIn"):
        text = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
        return [] if values else [FieldError.required(path / "values", text)]
    if operator in ("Exists", "DoesNotExist"):
        text = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
        return [FieldError.invalid(path / "values", values, text)] if values else []
    return [FieldError.invalid(path / "operator", operator, "not a valid selector operator")]


class ResourceQuotaStrategy(Strategy):
    """Rules of ResourceQuotas."""

    def prepare_for_create(self, ctx: Context, obj: dict[str, Any]) -> None:
        obj["status"] = {}

    def prepare_for_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> None:
        keep_status(obj, old)

    def validate(self, ctx: Context, obj: dict[str, Any]) -> list[FieldError]:
        spec = obj.get("spec") or {}
        return _amount_errors(spec.get("hard"), _SPEC / "hard") + _scope_errors(spec) + _selector_errors(spec)

    def validate_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        errors = self.validate(ctx, obj)
        scopes = value_at(obj, "spec", "scopes") or []
        if set(scopes) != set(value_at(old, "spec", "scopes") or ()):
            errors.append(FieldError.invalid(_SCOPES, scopes, IMMUTABLE))
        return errors


class ResourceQuotaStatusStrategy(StatusStrategy):
    """Rules of ``/status``."""

    def validate_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        status, path = obj.get("status") or {}, Path("status")
        return _amount_errors(status.get("hard"), path / "hard") + _amount_errors(status.get("used"), path / "used")


def _usage(obj: dict[str, Any], *, limits: bool) -> str:
    """Used and allowed amounts of the resources that are limits, or of the others."""
    hard, used = (value_at(obj, "status", field) or {} for field in ("hard", "used"))
    names = [name for name in sorted(hard) if name.startswith("limits.") == limits]
    return ", ".join(f"{name}: {used.get(name, '0')}/{hard[name]}" for name in names)


def _request(obj: dict[str, Any]) -> str:
    return _usage(obj, limits=False)


def _limit(obj: dict[str, Any]) -> str:
    return _usage(obj, limits=True)


STRATEGY = ResourceQuotaStrategy()
STATUS = ResourceQuotaStatusStrategy(STRATEGY)
COLUMNS = (
    Column(
        "Request",
        _request,
        description="Request represents a minimum amount of cpu/memory that a container may consume.",
    ),
    Column(
        "Limit",
        _limit,
        description="Limits control the maximum amount of cpu/memory that a container may use independent of "
        "contention on the node.",
    ),
    AGE,
)
