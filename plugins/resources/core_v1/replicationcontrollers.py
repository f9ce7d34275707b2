"""ReplicationControllers: what ReplicaSets were before, with a plain map for a selector.

COMPAT: pkg/apis/core/v1 SetDefaults_ReplicationController; pkg/apis/core/validation
ValidateReplicationControllerSpec; pkg/registry/core/replicationcontroller
"""

from __future__ import annotations

from typing import Any

from apiserver.api.fields import FieldError
from apiserver.api.resource import Column
from apiserver.api.rest import Context
from apiserver.api.strategy import SpecStatusStrategy, StatusStrategy
from apiserver_plugins.resources.common.columns import AGE, cell, format_labels, value_at
from apiserver_plugins.resources.common.pod_defaults import set_template_defaults
from apiserver_plugins.resources.common.pod_validation import template_errors
from apiserver_plugins.resources.common.selectors import matches
from apiserver_plugins.resources.common.values import nonnegative
from apiserver_plugins.resources.common.workloads import SPEC, TEMPLATE_COLUMNS, counted_status_errors

_COUNTS = ("replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration")
_LIMITS = (
    ("fullyLabeledReplicas", "replicas", "cannot be greater than replicas"),
    ("readyReplicas", "replicas", "cannot be greater than replicas"),
    ("availableReplicas", "replicas", "cannot be greater than replicas"),
    ("availableReplicas", "readyReplicas", "cannot be greater than readyReplicas"),
)


def _template_errors(spec: dict[str, Any]) -> list[FieldError]:
    template, path = spec.get("template"), SPEC / "template"
    if template is None:
        return [FieldError.required(path)]
    errors: list[FieldError] = []
    chosen, labels = spec.get("selector") or {}, value_at(template, "metadata", "labels")
    if chosen and not matches({"matchLabels": chosen}, labels):
        text = "`selector` does not match template `labels`"
        errors.append(FieldError.invalid(path / "metadata" / "labels", labels, text))
    errors += template_errors(template, path)
    pod = template.get("spec") or {}
    if pod.get("restartPolicy") != "Always":
        policy = pod.get("restartPolicy") or ""
        errors.append(FieldError.not_supported(path / "spec" / "restartPolicy", policy, ("Always",)))
    if pod.get("activeDeadlineSeconds") is not None:
        text = "activeDeadlineSeconds in ReplicationController is not Supported"
        errors.append(FieldError.forbidden(path / "spec" / "activeDeadlineSeconds", text))
    return errors


class ReplicationControllerStrategy(SpecStatusStrategy):
    """Rules of ReplicationControllers."""

    default_propagation = "Orphan"

    def default(self, obj: dict[str, Any]) -> None:
        spec = obj.setdefault("spec", {})
        labels = value_at(spec, "template", "metadata", "labels")
        if labels:
            spec["selector"] = spec.get("selector") or dict(labels)
            meta = obj["metadata"]
            meta["labels"] = meta.get("labels") or dict(labels)
        if spec.get("replicas") is None:
            spec["replicas"] = 1
        if spec.get("template") is not None:
            set_template_defaults(spec["template"])

    def prepare_for_create(self, ctx: Context, obj: dict[str, Any]) -> None:
        super().prepare_for_create(ctx, obj)
        obj["status"] = {"replicas": 0}

    def validate(self, ctx: Context, obj: dict[str, Any]) -> list[FieldError]:
        spec = obj["spec"]
        errors = nonnegative(SPEC / "minReadySeconds", spec.get("minReadySeconds"))
        if not spec.get("selector"):
            errors.append(FieldError.required(SPEC / "selector"))
        errors += nonnegative(SPEC / "replicas", spec.get("replicas"))
        return errors + _template_errors(spec)

    def selectable_fields(self, obj: dict[str, Any]) -> dict[str, str]:
        return {"status.replicas": str(value_at(obj, "status", "replicas") or 0)}


class ReplicationControllerStatusStrategy(StatusStrategy):
    """Rules of ``/status``."""

    def validate_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        return counted_status_errors(obj.get("status") or {}, _COUNTS, _LIMITS)


def _selector(obj: dict[str, Any]) -> str:
    return format_labels(value_at(obj, "spec", "selector"))


STRATEGY = ReplicationControllerStrategy()
STATUS = ReplicationControllerStatusStrategy(STRATEGY)
COLUMNS = (
    Column("Desired", cell("spec", "replicas", default=0), "integer", field="spec.replicas"),
    Column("Current", cell("status", "replicas", default=0), "integer", field="status.replicas"),
    Column("Ready", cell("status", "readyReplicas", default=0), "integer", field="status.readyReplicas"),
    AGE,
    *TEMPLATE_COLUMNS[:2],
    Column("Selector", _selector, priority=1, field="spec.selector"),
)
