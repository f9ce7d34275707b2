"""ReplicaSets.

COMPAT: pkg/apis/apps/validation ValidateReplicaSet; pkg/registry/apps/replicaset
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from apiserver import hookimpl
from apiserver.api.fields import FieldError
from apiserver.api.resource import Column, Resource, Subresource
from apiserver.api.rest import Context
from apiserver.api.server import Server
from apiserver.api.strategy import SpecStatusStrategy, StatusStrategy
from apiserver_plugins.resources.common.columns import AGE, cell, value_at
from apiserver_plugins.resources.common.pod_defaults import set_template_defaults
from apiserver_plugins.resources.common.scale import scale_subresource
from apiserver_plugins.resources.common.values import immutable, nonnegative
from apiserver_plugins.resources.common.workloads import (
    SPEC,
    TEMPLATE_COLUMNS,
    counted_status_errors,
    selected_template_errors,
)

_COUNTS = ("replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration")
_LIMITS = (
    ("fullyLabeledReplicas", "replicas", "cannot be greater than replicas"),
    ("readyReplicas", "replicas", "cannot be greater than replicas"),
    ("availableReplicas", "replicas", "cannot be greater than replicas"),
    ("availableReplicas", "readyReplicas", "cannot be greater than readyReplicas"),
)


class ReplicaSetStrategy(SpecStatusStrategy):
    """Rules of ReplicaSets."""

    def default(self, obj: dict[str, Any]) -> None:
        spec = obj.setdefault("spec", {})
        if spec.get("replicas") is None:
            spec["replicas"] = 1
        set_template_defaults(spec.setdefault("template", {}))

    def prepare_for_create(self, ctx: Context, obj: dict[str, Any]) -> None:
        super().prepare_for_create(ctx, obj)
        obj["status"] = {"replicas": 0}

    def validate(self, ctx: Context, obj: dict[str, Any]) -> list[FieldError]:
        spec = obj["spec"]
        errors = nonnegative(SPEC / "replicas", spec.get("replicas"))
        errors += nonnegative(SPEC / "minReadySeconds", spec.get("minReadySeconds"))
        return errors + selected_template_errors(spec)

    def validate_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        errors = self.validate(ctx, obj)
        return errors + immutable(
            SPEC / "selector", value_at(obj, "spec", "selector"), value_at(old, "spec", "selector")
        )


class ReplicaSetStatusStrategy(StatusStrategy):
    """Rules of ``/status``."""

    def validate_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        return counted_status_errors(obj.get("status") or {}, _COUNTS, _LIMITS)


@hookimpl
def apiserver_resources(server: Server) -> Iterable[Resource]:
    strategy = ReplicaSetStrategy()
    return [
        Resource(
            group="apps",
            version="v1",
            kind="ReplicaSet",
            plural="replicasets",
            short_names=("rs",),
            categories=("all",),
            strategy=strategy,
            subresources=(scale_subresource(), Subresource("status", ReplicaSetStatusStrategy(strategy))),
            columns=(
                Column("Desired", cell("spec", "replicas", default=0), "integer", field="spec.replicas"),
                Column("Current", cell("status", "replicas", default=0), "integer", field="status.replicas"),
                Column("Ready", cell("status", "readyReplicas", default=0), "integer", field="status.readyReplicas"),
                AGE,
                *TEMPLATE_COLUMNS,
            ),
        )
    ]
