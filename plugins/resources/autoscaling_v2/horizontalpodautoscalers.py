"""HorizontalPodAutoscalers.

COMPAT: pkg/apis/autoscaling/v2 defaults; pkg/apis/autoscaling/validation; printHorizontalPodAutoscaler
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.resource import Column
from apiserver.api.rest import Context
from apiserver.api.strategy import StatusStrategy, Strategy, keep_status
from apiserver.api.validation import path_segment
from apiserver_plugins.resources.autoscaling_v2.conversion import to_v2
from apiserver_plugins.resources.common.columns import AGE, NONE, UNSET, value_at
from apiserver_plugins.resources.common.quantities import amount
from apiserver_plugins.resources.common.values import invalid, nonnegative

Object = dict[str, Any]

SHOWN = 2
UNKNOWN = "<unknown>"
_SPEC = Path("spec")
_CPU_TARGET = 80
_PERCENT = {"type": "Percent", "value": 100, "periodSeconds": 15}
_PODS = {"type": "Pods", "value": 4, "periodSeconds": 15}
_TYPES = frozenset(("ContainerResource", "External", "Object", "Pods", "Resource"))
_SELECT = frozenset(("Disabled", "Max", "Min"))
_POLICY_TYPES = frozenset(("Percent", "Pods"))
_LONGEST_WINDOW, _LONGEST_PERIOD = 3600, 1800


# -- rules ------------------------------------------------------------------------------------------------------------


def _reference_errors(reference: Object, path: Path, *, group: bool = True) -> list[FieldError]:
    errors: list[FieldError] = []
    for field in ("kind", "name"):
        value = reference.get(field) or ""
        problems = invalid(path / field, value, path_segment(value))
        errors += problems if value else [FieldError.required(path / field)]
    version = reference.get("apiVersion") or ""
    if group and "/" not in version and reference.get("kind") != "ReplicationController":
        errors.append(FieldError.invalid(path / "apiVersion", version, "apiVersion must specify API group"))
    return errors


def _target_errors(target: Object, path: Path) -> list[FieldError]:
    kind = target.get("type") or ""
    errors = [] if kind else [FieldError.required(path / "type", "must specify a metric target type")]
    if kind not in ("Utilization", "Value", "AverageValue"):
        text = "must be either Utilization, Value, or AverageValue"
        errors.append(FieldError.invalid(path / "type", kind, text))
    given = [field for field in ("value", "averageValue") if target.get(field) is not None]
    wrong = [field for field in given if amount(target[field]) <= 0]
    errors += [FieldError.invalid(path / field, target[field], "must be positive") for field in wrong]
    utilization = target.get("averageUtilization")
    if utilization is not None and utilization < 1:
        errors.append(FieldError.invalid(path / "averageUtilization", utilization, "must be greater than 0"))
    return errors


def _metric_errors(metric: Object, path: Path) -> list[FieldError]:
    name = metric.get("name") or ""
    if not name:
        return [FieldError.required(path / "name", "must specify a metric name")]
    return invalid(path / "name", name, path_segment(name))


def _missing(target: Object, fields: Sequence[str], path: Path, text: str) -> list[FieldError]:
    """An error about the last of ``fields`` when none of them is set."""
    return [] if any(target.get(f) is not None for f in fields) else [FieldError.required(path / fields[-1], text)]


def _object(source: Object, path: Path) -> list[FieldError]:
    target, where = source.get("target") or {}, path / "target"
    errors = _reference_errors(source.get("describedObject") or {}, path / "describedObject", group=False)
    errors += _metric_errors(source.get("metric") or {}, path / "metric") + _target_errors(target, where)
    return errors + _missing(target, ("value", "averageValue"), where, "must set either a target value or averageValue")


def _external(source: Object, path: Path) -> list[FieldError]:
    target, where = source.get("target") or {}, path / "target"
    errors = _metric_errors(source.get("metric") or {}, path / "metric") + _target_errors(target, where)
    text = "must set either a target value for metric or a per-pod target"
    errors += _missing(target, ("value", "averageValue"), where, text)
    if target.get("value") is not None and target.get("averageValue") is not None:
        text = "may not set both a target value for metric and a per-pod target"
        errors.append(FieldError.forbidden(where / "value", text))
    return errors


def _pods(source: Object, path: Path) -> list[FieldError]:
    target, where = source.get("target") or {}, path / "target"
    errors = _metric_errors(source.get("metric") or {}, path / "metric") + _target_errors(target, where)
    return errors + _missing(target, ("averageValue",), where, "must specify a positive target averageValue")


def _resource(source: Object, path: Path) -> list[FieldError]:
    target, where = source.get("target") or {}, path / "target"
    errors = [] if source.get("name") else [FieldError.required(path / "name", "must specify a resource name")]
    errors += _target_errors(target, where)
    text = "must set either a target raw value or a target utilization"
    errors += _missing(target, ("averageValue", "averageUtilization"), where, text)
    if target.get("averageUtilization") is not None and target.get("averageValue") is not None:
        text = "may not set both a target raw value and a target utilization"
        errors.append(FieldError.forbidden(where / "averageValue", text))
    return errors


def _container_resource(source: Object, path: Path) -> list[FieldError]:
    name = source.get("container") or ""
    if not name:
        errors = [FieldError.required(path / "container", "must specify a container")]
    else:
        errors = invalid(path / "container", name, path_segment(name))
    return errors + _resource(source, path)


_SOURCES: dict[str, Callable[[Object, Path], list[FieldError]]] = {
    "object": _object,
    "external": _external,
    "pods": _pods,
    "resource": _resource,
    "containerResource": _container_resource,
}


def _spec_of_metric_errors(metric: Object, path: Path) -> list[FieldError]:
    kind = metric.get("type") or ""
    errors: list[FieldError] = []
    if not kind:
        errors.append(FieldError.required(path / "type", "must specify a metric source type"))
    if kind not in _TYPES:
        errors.append(FieldError.not_supported(path / "type", kind, _TYPES))
    present = [name for name in _SOURCES if metric.get(name) is not None]
    if present:
        errors += _SOURCES[present[0]](metric[present[0]], path / present[0])
    expected = kind[:1].lower() + kind[1:]
    if kind in _TYPES and expected not in present:
        text = "must populate information for the given metric source"
        errors.append(FieldError.required(path / expected, text))
    if len(present) != 1:
        text = "must populate the given metric source only"
        errors += [FieldError.forbidden(path / name, text) for name in present if name != expected]
    return errors


def _scaling_errors(rules: Object | None, path: Path) -> list[FieldError]:
    if rules is None:
        return []
    window, select = rules.get("stabilizationWindowSeconds"), rules.get("selectPolicy")
    errors: list[FieldError] = []
    where = path / "stabilizationWindowSeconds"
    if window is not None and window < 0:
        errors.append(FieldError.invalid(where, window, "must be greater than or equal to zero"))
    if window is not None and window > _LONGEST_WINDOW:
        errors.append(FieldError.invalid(where, window, f"must be less than or equal to {_LONGEST_WINDOW}"))
    if select is not None and select not in _SELECT:
        errors.append(FieldError.not_supported(path / "selectPolicy", select, _SELECT))
    policies = rules.get("policies") or ()
    if not policies:
        errors.append(FieldError.required(path / "policies", "must specify at least one Policy"))
    for i, policy in enumerate(policies):
        errors += _policy_errors(policy, path / "policies" / i)
    if rules.get("tolerance") is not None and amount(rules["tolerance"]) < 0:
        text = "must be greater than or equal to 0"
        errors.append(FieldError.invalid(path / "tolerance", rules["tolerance"], text))
    return errors


def _policy_errors(policy: Object, path: Path) -> list[FieldError]:
    kind, period = policy.get("type") or "", policy.get("periodSeconds") or 0
    errors = [] if kind in _POLICY_TYPES else [FieldError.not_supported(path / "type", kind, _POLICY_TYPES)]
    numbers = [(field, policy.get(field) or 0) for field in ("value", "periodSeconds")]
    errors += [
        FieldError.invalid(path / f, number, "must be greater than zero") for f, number in numbers if number <= 0
    ]
    if period > _LONGEST_PERIOD:
        text = f"must be less than or equal to {_LONGEST_PERIOD}"
        errors.append(FieldError.invalid(path / "periodSeconds", period, text))
    return errors


def _replica_errors(spec: Object) -> list[FieldError]:
    low, high = spec.get("minReplicas"), spec.get("maxReplicas") or 0
    errors: list[FieldError] = []
    if low is not None and low < 1:
        errors.append(FieldError.invalid(_SPEC / "minReplicas", low, "must be greater than or equal to 1"))
    if high < 1:
        errors.append(FieldError.required(_SPEC / "maxReplicas", "must be set and greater than 0"))
    if low is not None and high < low:
        text = "must be greater than or equal to `minReplicas`"
        errors.append(FieldError.invalid(_SPEC / "maxReplicas", high, text))
    return errors


class HorizontalPodAutoscalerStrategy(Strategy):
    """Rules of HorizontalPodAutoscalers, stored as ``v2``."""

    def default(self, obj: Object) -> None:
        spec = obj.setdefault("spec", {})
        if spec.get("minReplicas") is None:
            spec["minReplicas"] = 1
        if not spec.get("metrics"):
            target = {"type": "Utilization", "averageUtilization": _CPU_TARGET}
            spec["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
        behavior = spec.get("behavior")
        if behavior is None:
            return
        up: Object = {"stabilizationWindowSeconds": 0, "selectPolicy": "Max", "policies": [_PODS, _PERCENT]}
        down: Object = {"selectPolicy": "Max", "policies": [_PERCENT]}
        for name, rules in (("scaleUp", up), ("scaleDown", down)):
            given = {k: v for k, v in (behavior.get(name) or {}).items() if v is not None}
            behavior[name] = {**rules, **given}

    def prepare_for_create(self, ctx: Context, obj: Object) -> None:
        obj["status"] = {"desiredReplicas": 0, "currentMetrics": None}

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        keep_status(obj, old)

    def validate(self, ctx: Context, obj: Object) -> list[FieldError]:
        spec = obj["spec"]
        errors = _replica_errors(spec)
        errors += _reference_errors(spec.get("scaleTargetRef") or {}, _SPEC / "scaleTargetRef")
        metrics = spec.get("metrics") or ()
        for i, metric in enumerate(metrics):
            errors += _spec_of_metric_errors(metric, _SPEC / "metrics" / i)
        if spec.get("minReplicas") == 0 and not any(m.get("type") in ("Object", "External") for m in metrics):
            text = "must specify at least one Object or External metric to support scaling to zero replicas"
            errors.append(FieldError.forbidden(_SPEC / "metrics", text))
        for field in ("scaleUp", "scaleDown"):
            errors += _scaling_errors(value_at(spec, "behavior", field), _SPEC / "behavior" / field)
        return errors


class HorizontalPodAutoscalerStatusStrategy(StatusStrategy):
    """Rules of ``/status``."""

    def validate_update(self, ctx: Context, obj: Object, old: Object) -> list[FieldError]:
        status, path = obj.get("status") or {}, Path("status")
        errors = nonnegative(path / "currentReplicas", status.get("currentReplicas"))
        return errors + nonnegative(path / "desiredReplicas", status.get("desiredReplicas"))


# -- columns; objects of v1 are looked at as ones of v2 ----------------------------------------------------------------


def _as_v2(obj: Object) -> Object:
    if not str(obj.get("apiVersion", "")).endswith("/v1"):
        return obj
    copy = dict(obj)
    to_v2(copy)
    return copy


def _reference(obj: Object) -> str:
    reference = value_at(obj, "spec", "scaleTargetRef") or {}
    return f"{reference.get('kind', '')}/{reference.get('name', '')}"


def _amounts(target: Object, current: Object, field: str) -> str:
    now = current.get(field)
    return f"{UNKNOWN if now is None else now}/{target.get(field) or '0'}"


def _resource_metric(source: Object, current: Object) -> str:
    target = source.get("target") or {}
    if target.get("averageValue") is not None:
        return f"{source.get('name', '')}: {_amounts(target, current, 'averageValue')}"
    now, wanted = current.get("averageUtilization"), target.get("averageUtilization")
    shown = UNKNOWN if now is None else f"{now}%"
    return f"{source.get('name', '')}: {shown}/{'<auto>' if wanted is None else f'{wanted}%'}"


def _metric(metric: Object, status: Object) -> str:
    kind = metric.get("type") or ""
    name = kind[:1].lower() + kind[1:]
    source, current = metric.get(name), value_at(status, name, "current") or {}
    if kind not in _TYPES or source is None:
        return "<unknown type>"
    if kind in ("Resource", "ContainerResource"):
        return _resource_metric(source, current)
    target = source.get("target") or {}
    if kind == "Pods":
        return _amounts(target, current, "averageValue")
    average = target.get("averageValue") is not None
    return f"{_amounts(target, current, 'averageValue')} (avg)" if average else _amounts(target, current, "value")


def _targets(obj: Object) -> str:
    """COMPAT: formatHPAMetrics."""
    obj = _as_v2(obj)
    metrics = value_at(obj, "spec", "metrics") or ()
    if not metrics:
        return NONE
    statuses = value_at(obj, "status", "currentMetrics") or ()
    shown = [_metric(metric, statuses[i] if i < len(statuses) else {}) for i, metric in enumerate(metrics)]
    text = ", ".join(shown[:SHOWN])
    return f"{text} + {len(shown) - SHOWN} more..." if len(shown) > SHOWN else text


def _min(obj: Object) -> str:
    low = value_at(obj, "spec", "minReplicas")
    return UNSET if low is None else str(low)


def _max(obj: Object) -> int:
    return value_at(obj, "spec", "maxReplicas") or 0


def _replicas(obj: Object) -> int:
    return value_at(obj, "status", "currentReplicas") or 0


_TARGETS_TEXT = (
    "metrics contains the specifications for which to use to calculate the desired replica count (the maximum replica "
    "count across all metrics will be used).  The desired replica count is calculated multiplying the ratio between "
    "the target value and the current value by the current number of pods.  Ergo, metrics used must decrease as the "
    "pod count is increased, and vice-versa.  See the individual metric source types for more information about how "
    "each type of metric must respond. If not set, the default metric will be set to 80% average CPU utilization."
)

STRATEGY = HorizontalPodAutoscalerStrategy()
STATUS = HorizontalPodAutoscalerStatusStrategy(STRATEGY)
COLUMNS = (
    Column("Reference", _reference, field="spec.scaleTargetRef"),
    Column("Targets", _targets, description=_TARGETS_TEXT),
    Column("MinPods", _min, field="spec.minReplicas"),
    Column("MaxPods", _max, field="spec.maxReplicas"),
    Column("Replicas", _replicas, field="status.currentReplicas"),
    AGE,
)
