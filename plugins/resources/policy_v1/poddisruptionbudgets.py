"""PodDisruptionBudgets.

COMPAT: pkg/apis/policy/validation ValidatePodDisruptionBudgetSpec; pkg/registry/policy/poddisruptionbudget
"""

from __future__ import annotations

from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.resource import Column
from apiserver.api.rest import Context
from apiserver.api.strategy import SpecStatusStrategy, StatusStrategy
from apiserver_plugins.resources.common.columns import AGE, cell, value_at
from apiserver_plugins.resources.common.selectors import selector_errors
from apiserver_plugins.resources.common.values import nonnegative, not_more_than_all, positive_int_or_percent

_SPEC = Path("spec")
_POLICIES = frozenset(("AlwaysAllow", "IfHealthyBudget"))
_COUNTS = ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")


class PodDisruptionBudgetStrategy(SpecStatusStrategy):
    """Rules of PodDisruptionBudgets."""

    allow_unconditional_update = False

    def prepare_for_create(self, ctx: Context, obj: dict[str, Any]) -> None:
        super().prepare_for_create(ctx, obj)
        obj["status"] = dict.fromkeys(_COUNTS, 0)

    def validate(self, ctx: Context, obj: dict[str, Any]) -> list[FieldError]:
        spec = obj.get("spec") or {}
        errors: list[FieldError] = []
        if spec.get("minAvailable") is not None and spec.get("maxUnavailable") is not None:
            errors.append(FieldError.invalid(_SPEC, spec, "minAvailable and maxUnavailable cannot be both set"))
        for field in ("minAvailable", "maxUnavailable"):
            if spec.get(field) is not None:
                errors += positive_int_or_percent(_SPEC / field, spec[field])
                errors += not_more_than_all(_SPEC / field, spec[field])
        errors += selector_errors(_SPEC / "selector", spec.get("selector"))
        policy = spec.get("unhealthyPodEvictionPolicy")
        if policy is not None and policy not in _POLICIES:
            errors.append(FieldError.not_supported(_SPEC / "unhealthyPodEvictionPolicy", policy, _POLICIES))
        return errors


class PodDisruptionBudgetStatusStrategy(StatusStrategy):
    """Rules of ``/status``."""

    allow_unconditional_update = False

    def validate_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        status, path = obj.get("status") or {}, Path("status")
        return [error for field in _COUNTS for error in nonnegative(path / field, status.get(field))]


def _limit(field: str, obj: dict[str, Any]) -> str:
    value = value_at(obj, "spec", field)
    return "N/A" if value is None else str(value)


def _min_available(obj: dict[str, Any]) -> str:
    return _limit("minAvailable", obj)


def _max_unavailable(obj: dict[str, Any]) -> str:
    return _limit("maxUnavailable", obj)


STRATEGY = PodDisruptionBudgetStrategy()
STATUS = PodDisruptionBudgetStatusStrategy(STRATEGY)
COLUMNS = (
    Column("Min Available", _min_available, description="The minimum number of pods that must be available."),
    Column("Max Unavailable", _max_unavailable, description="The maximum number of pods that may be unavailable."),
    Column(
        "Allowed Disruptions",
        cell("status", "disruptionsAllowed", default=0),
        "integer",
        description="Calculated number of pods that may be disrupted at this time.",
    ),
    AGE,
)
