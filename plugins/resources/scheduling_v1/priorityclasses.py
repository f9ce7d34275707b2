"""PriorityClasses. Two of them belong to the system.

COMPAT: pkg/apis/scheduling/v1; pkg/apis/scheduling/validation; pkg/registry/scheduling/priorityclass
"""

from __future__ import annotations

from typing import Any

from apiserver.api.fields import FieldError
from apiserver.api.resource import Column
from apiserver.api.rest import Context
from apiserver.api.strategy import Strategy
from apiserver_plugins.resources.common.columns import AGE, cell
from apiserver_plugins.resources.common.values import immutable

HIGHEST = 1_000_000_000
PREFIX = "system-"
SYSTEM_VALUES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
LOWER, NEVER = "PreemptLowerPriority", "Never"


def _system_problem(obj: dict[str, Any], name: str) -> str | None:
    """COMPAT: IsKnownSystemPriorityClass."""
    value = SYSTEM_VALUES.get(name)
    if value is None:
        return f"{name} is not a known system priority class"
    if (obj.get("value") or 0) != value:
        return f"value of {name} PriorityClass must be {value}"
    return f"globalDefault of {name} PriorityClass must be false" if obj.get("globalDefault") else None


class PriorityClassStrategy(Strategy):
    """Rules of PriorityClasses."""

    def default(self, obj: dict[str, Any]) -> None:
        if obj.get("preemptionPolicy") is None:
            obj["preemptionPolicy"] = LOWER

    def prepare_for_create(self, ctx: Context, obj: dict[str, Any]) -> None:
        obj["metadata"]["generation"] = 1

    def validate(self, ctx: Context, obj: dict[str, Any]) -> list[FieldError]:
        name = obj["metadata"].get("name") or ""
        errors = []
        if name.startswith(PREFIX):
            problem = _system_problem(obj, name)
            if problem:
                text = f"priority class names with '{PREFIX}' prefix are reserved for system use only. error: {problem}"
                errors.append(FieldError.forbidden("metadata.name", text))
        elif (obj.get("value") or 0) > HIGHEST:
            text = f"maximum allowed value of a user defined priority is {HIGHEST}"
            errors.append(FieldError.forbidden("value", text))
        policy = obj.get("preemptionPolicy")
        if policy not in (LOWER, NEVER):
            errors.append(FieldError.not_supported("preemptionPolicy", policy, (LOWER, NEVER)))
        return errors

    def validate_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        errors = []
        if (obj.get("value") or 0) != (old.get("value") or 0):
            errors.append(FieldError.forbidden("value", "may not be changed in an update."))
        return errors + immutable("preemptionPolicy", obj.get("preemptionPolicy"), old.get("preemptionPolicy"))


STRATEGY = PriorityClassStrategy()
COLUMNS = (
    Column("Value", cell("value", default=0), "integer", field="value"),
    Column("Global-Default", cell("globalDefault", default=False), "boolean", field="globalDefault"),
    AGE,
    Column("PreemptionPolicy", cell("preemptionPolicy"), field="preemptionPolicy"),
)
