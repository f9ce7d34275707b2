"""DaemonSets. Their template's generation is counted in an annotation.

COMPAT: pkg/apis/apps/v1 SetDefaults_DaemonSet; pkg/apis/apps/validation; pkg/registry/apps/daemonset
"""

from __future__ import annotations

from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.resource import Column
from apiserver.api.rest import Context
from apiserver.api.strategy import SpecStatusStrategy, StatusStrategy
from apiserver_plugins.resources.common.columns import AGE, cell, format_labels, value_at
from apiserver_plugins.resources.common.pod_defaults import set_template_defaults
from apiserver_plugins.resources.common.pod_validation import template_errors
from apiserver_plugins.resources.common.selectors import is_empty, matches, selector_errors
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
    decremented,
    unusable_selector,
)

TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"
ROLLING, ON_DELETE = "RollingUpdate", "OnDelete"
_COUNTS = (
    "currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady", "observedGeneration",
    "updatedNumberScheduled", "numberAvailable", "numberUnavailable", "collisionCount",
)  # fmt: skip
_EMPTY_STATUS = ("currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady")


def _template_generation(obj: dict[str, Any]) -> int:
    text = value_at(obj, "metadata", "annotations", TEMPLATE_GENERATION) or "0"
    try:
        return int(text)
    except ValueError:
        return 0


def _set_template_generation(obj: dict[str, Any], value: int) -> None:
    meta = obj["metadata"]
    meta["annotations"] = {**(meta.get("annotations") or {}), TEMPLATE_GENERATION: str(value)}


def _is_set(value: int | str | None) -> bool:
    """Whether a number or percentage is more than nothing."""
    share = percent(value)
    return bool(share if share is not None else isinstance(value, int) and value)


def _rolling_errors(rolling: dict[str, Any], path: Path) -> list[FieldError]:
    unavailable, surge = rolling.get("maxUnavailable"), rolling.get("maxSurge")
    errors = positive_int_or_percent(path / "maxUnavailable", unavailable)
    errors += positive_int_or_percent(path / "maxSurge", surge)
    errors += not_more_than_all(path / "maxUnavailable", unavailable)
    errors += not_more_than_all(path / "maxSurge", surge)
    if _is_set(unavailable) and _is_set(surge):
        text = "may not be set when maxUnavailable is non-zero"
        errors.append(FieldError.invalid(path / "maxSurge", surge, text))
    elif not _is_set(unavailable) and not _is_set(surge):
        errors.append(FieldError.required(path / "maxUnavailable", "cannot be 0 when maxSurge is 0"))
    return errors


def _update_errors(strategy: dict[str, Any], path: Path) -> list[FieldError]:
    kind, rolling = strategy.get("type"), strategy.get("rollingUpdate")
    if kind == ON_DELETE:
        return []
    if kind != ROLLING:
        # COMPAT: the value shown is the whole structure
        shown = {"Type": kind or "", "RollingUpdate": rolling}
        return [FieldError.not_supported(path, shown, (ROLLING, ON_DELETE))]
    if rolling is None:
        return [FieldError.required(path / "rollingUpdate")]
    return _rolling_errors(rolling, path / "rollingUpdate")


def _template_errors(spec: dict[str, Any]) -> list[FieldError]:
    chosen, template, where = spec.get("selector"), spec.get("template") or {}, SPEC / "template"
    errors = selector_errors(SPEC / "selector", chosen)
    labels = value_at(template, "metadata", "labels")
    if not unusable_selector(chosen) and not matches(chosen, labels):
        text = "`selector` does not match template `labels`"
        errors.append(FieldError.invalid(where / "metadata" / "labels", labels, text))
    if chosen is not None and is_empty(chosen):
        errors.append(FieldError.invalid(SPEC / "selector", chosen, "empty selector is invalid for daemonset"))
    errors += template_errors(template, where)
    pod = template.get("spec") or {}
    if pod.get("restartPolicy") != "Always":
        policy = pod.get("restartPolicy") or ""
        errors.append(FieldError.not_supported(where / "spec" / "restartPolicy", policy, ("Always",)))
    if pod.get("activeDeadlineSeconds") is not None:
        text = "activeDeadlineSeconds in DaemonSet is not Supported"
        errors.append(FieldError.forbidden(where / "spec" / "activeDeadlineSeconds", text))
    return errors


class DaemonSetStrategy(SpecStatusStrategy):
    """Rules of DaemonSets."""

    def default(self, obj: dict[str, Any]) -> None:
        spec = obj.setdefault("spec", {})
        strategy = spec["updateStrategy"] = spec.get("updateStrategy") or {}
        strategy["type"] = strategy.get("type") or ROLLING
        if strategy["type"] == ROLLING:
            rolling = strategy["rollingUpdate"] = strategy.get("rollingUpdate") or {}
            for field, value in (("maxUnavailable", 1), ("maxSurge", 0)):
                if rolling.get(field) is None:
                    rolling[field] = value
        if spec.get("revisionHistoryLimit") is None:
            spec["revisionHistoryLimit"] = 10
        set_template_defaults(spec.setdefault("template", {}))

    def prepare_for_create(self, ctx: Context, obj: dict[str, Any]) -> None:
        super().prepare_for_create(ctx, obj)
        obj["status"] = dict.fromkeys(_EMPTY_STATUS, 0)
        _set_template_generation(obj, _template_generation(obj) or 1)

    def prepare_for_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> None:
        super().prepare_for_update(ctx, obj, old)
        before = _template_generation(old)
        changed = obj["spec"].get("template") != old["spec"].get("template")
        # COMPAT: what clients say about the template's generation does not count
        _set_template_generation(obj, before + changed)

    def validate(self, ctx: Context, obj: dict[str, Any]) -> list[FieldError]:
        spec = obj["spec"]
        errors = _template_errors(spec)
        errors += nonnegative(SPEC / "minReadySeconds", spec.get("minReadySeconds"))
        errors += _update_errors(spec["updateStrategy"], SPEC / "updateStrategy")
        return errors + nonnegative(SPEC / "revisionHistoryLimit", spec.get("revisionHistoryLimit"))

    def validate_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        errors = self.validate(ctx, obj)
        return errors + immutable(SPEC / "selector", obj["spec"].get("selector"), old["spec"].get("selector"))


class DaemonSetStatusStrategy(StatusStrategy):
    """Rules of ``/status``."""

    def validate_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        return counted_status_errors(obj.get("status") or {}, _COUNTS, ()) + decremented(obj, old)


def _node_selector(obj: dict[str, Any]) -> str:
    return format_labels(value_at(obj, "spec", "template", "spec", "nodeSelector"))


def _counted(name: str, field: str) -> Column:
    return Column(name, cell("status", field, default=0), "integer", field=f"status.{field}")


STRATEGY = DaemonSetStrategy()
STATUS = DaemonSetStatusStrategy(STRATEGY)
COLUMNS = (
    _counted("Desired", "desiredNumberScheduled"),
    _counted("Current", "currentNumberScheduled"),
    _counted("Ready", "numberReady"),
    _counted("Up-to-date", "updatedNumberScheduled"),
    _counted("Available", "numberAvailable"),
    Column("Node Selector", _node_selector, field="spec.template.spec.nodeSelector"),
    AGE,
    *TEMPLATE_COLUMNS,
)
