"""Deployments.

COMPAT: pkg/apis/apps/v1 SetDefaults_Deployment; pkg/apis/apps/validation; pkg/registry/apps/deployment
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from apiserver import hookimpl
from apiserver.api.fields import FieldError
from apiserver.api.resource import Column, Resource, Subresource
from apiserver.api.rest import Context
from apiserver.api.server import Server
from apiserver.api.strategy import SpecStatusStrategy, StatusStrategy, keep_status
from apiserver_plugins.resources.common.columns import AGE, cell, value_at
from apiserver_plugins.resources.common.pod_defaults import set_template_defaults
from apiserver_plugins.resources.common.scale import scale_subresource
from apiserver_plugins.resources.common.values import (
    immutable,
    nonnegative,
    not_more_than_all,
    percent,
    positive_int_or_percent,
)
from apiserver_plugins.resources.common.workloads import (
    SPEC,
    TEMPLATE_COLUMNS,
    counted_status_errors,
    selected_template_errors,
)

RECREATE = "Recreate"
ROLLING = "RollingUpdate"
SHARE = "25%"

_STRATEGY = SPEC / "strategy"
_ROLLING = _STRATEGY / "rollingUpdate"
_COUNTS = (
    "observedGeneration", "replicas", "updatedReplicas", "terminatingReplicas", "readyReplicas", "availableReplicas",
    "unavailableReplicas", "collisionCount",
)  # fmt: skip
_LIMITS = (
    *((part, "replicas", "cannot be greater than status.replicas") for part in ("updatedReplicas", "readyReplicas")),
    ("availableReplicas", "replicas", "cannot be greater than status.replicas"),
    ("availableReplicas", "readyReplicas", "cannot be greater than readyReplicas"),
)


def _rolling_errors(rolling: dict[str, Any]) -> list[FieldError]:
    """COMPAT: ValidateRollingUpdateDeployment."""
    unavailable, surge = rolling.get("maxUnavailable"), rolling.get("maxSurge")
    errors = positive_int_or_percent(_ROLLING / "maxUnavailable", unavailable)
    errors += positive_int_or_percent(_ROLLING / "maxSurge", surge)
    if _number(unavailable) == 0 and _number(surge) == 0:
        text = "may not be 0 when `maxSurge` is 0"
        errors.append(FieldError.invalid(_ROLLING / "maxUnavailable", unavailable, text))
    return errors + not_more_than_all(_ROLLING / "maxUnavailable", unavailable)


def _number(value: int | str | None) -> int:
    share = percent(value)
    if share is not None:
        return share
    return value if isinstance(value, int) else 0


def _strategy_errors(strategy: dict[str, Any]) -> list[FieldError]:
    kind, rolling = strategy.get("type", ""), strategy.get("rollingUpdate")
    if kind == RECREATE:
        if rolling is None:
            return []
        return [FieldError.forbidden(_ROLLING, "may not be specified when strategy `type` is 'Recreate'")]
    if kind == ROLLING:
        if rolling is None:
            return [FieldError.required(_ROLLING, "this should be defaulted and never be nil")]
        return _rolling_errors(rolling)
    # COMPAT: the value shown is the whole structure
    return [FieldError.not_supported(_STRATEGY, {"Type": kind, "RollingUpdate": rolling}, (RECREATE, ROLLING))]


class DeploymentStrategy(SpecStatusStrategy):
    """Rules of Deployments."""

    def default(self, obj: dict[str, Any]) -> None:
        spec = obj.setdefault("spec", {})
        for field, value in (("replicas", 1), ("revisionHistoryLimit", 10), ("progressDeadlineSeconds", 600)):
            if spec.get(field) is None:
                spec[field] = value
        strategy = spec.setdefault("strategy", {})
        strategy["type"] = strategy.get("type") or ROLLING
        if strategy["type"] == ROLLING:
            rolling = strategy["rollingUpdate"] = strategy.get("rollingUpdate") or {}
            for field in ("maxUnavailable", "maxSurge"):
                if rolling.get(field) is None:
                    rolling[field] = SHARE
        set_template_defaults(spec.setdefault("template", {}))

    def prepare_for_create(self, ctx: Context, obj: dict[str, Any]) -> None:
        super().prepare_for_create(ctx, obj)
        obj["status"] = {}

    def prepare_for_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> None:
        keep_status(obj, old)
        meta, before = obj["metadata"], old["metadata"]
        # COMPAT: a changed annotation counts as a change too
        changed = obj["spec"] != old["spec"] or (meta.get("annotations") or {}) != (before.get("annotations") or {})
        meta["generation"] = before.get("generation", 0) + changed

    def validate(self, ctx: Context, obj: dict[str, Any]) -> list[FieldError]:
        spec = obj["spec"]
        errors = nonnegative(SPEC / "replicas", spec.get("replicas"))
        errors += selected_template_errors(spec)
        errors += _strategy_errors(spec["strategy"])
        for field in ("minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"):
            errors += nonnegative(SPEC / field, spec.get(field))
        deadline = spec.get("progressDeadlineSeconds")
        if deadline is not None and deadline <= (spec.get("minReadySeconds") or 0):
            path = SPEC / "progressDeadlineSeconds"
            errors.append(FieldError.invalid(path, deadline, "must be greater than minReadySeconds"))
        return errors

    def validate_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        errors = self.validate(ctx, obj)
        return errors + immutable(
            SPEC / "selector", value_at(obj, "spec", "selector"), value_at(old, "spec", "selector")
        )


class DeploymentStatusStrategy(StatusStrategy):
    """Rules of ``/status``."""

    def prepare_for_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> None:
        super().prepare_for_update(ctx, obj, old)
        # COMPAT: labels are not the controller's to change, annotations are
        labels = old["metadata"].get("labels")
        if labels:
            obj["metadata"]["labels"] = labels
        else:
            obj["metadata"].pop("labels", None)

    def validate_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        return counted_status_errors(obj.get("status") or {}, _COUNTS, _LIMITS)


def _ready(obj: dict[str, Any]) -> str:
    return f"{value_at(obj, 'status', 'readyReplicas') or 0}/{value_at(obj, 'spec', 'replicas') or 0}"


@hookimpl
def apiserver_resources(server: Server) -> Iterable[Resource]:
    strategy = DeploymentStrategy()
    return [
        Resource(
            group="apps",
            version="v1",
            kind="Deployment",
            plural="deployments",
            short_names=("deploy",),
            categories=("all",),
            strategy=strategy,
            subresources=(scale_subresource(), Subresource("status", DeploymentStatusStrategy(strategy))),
            columns=(
                Column("Ready", _ready, description="Number of the pod with ready state"),
                Column("Up-to-date", cell("status", "updatedReplicas", default=0), field="status.updatedReplicas"),
                Column("Available", cell("status", "availableReplicas", default=0), field="status.availableReplicas"),
                AGE,
                *TEMPLATE_COLUMNS,
            ),
        )
    ]
