"""A HorizontalPodAutoscaler of ``autoscaling/v1`` has room for one CPU target; the rest is in annotations.

Stored as ``v2``; called by the registry for requests through ``v1``.

COMPAT: pkg/apis/autoscaling/v1 Convert_autoscaling_HorizontalPodAutoscaler_To_v1_HorizontalPodAutoscaler and back
"""

from __future__ import annotations

import json
from typing import Any

Object = dict[str, Any]

_PREFIX = "autoscaling.alpha.kubernetes.io/"
METRICS, CURRENT, CONDITIONS, BEHAVIOR = (
    f"{_PREFIX}{name}" for name in ("metrics", "current-metrics", "conditions", "behavior")
)
_ANNOTATIONS = (METRICS, CURRENT, CONDITIONS, BEHAVIOR)
_KINDS = ("object", "pods", "resource", "containerResource", "external")
_TYPES = {kind: kind[0].upper() + kind[1:] for kind in _KINDS}
# Where v1 keeps what v2 has in a metric's parts: kind -> ((v1 field, path in v2), ...), in the order of v1.
_TARGETS: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "object": (
        ("target", ("describedObject",)),
        ("metricName", ("metric", "name")),
        ("targetValue", ("target", "value")),
        ("selector", ("metric", "selector")),
        ("averageValue", ("target", "averageValue")),
    ),
    "pods": (
        ("metricName", ("metric", "name")),
        ("targetAverageValue", ("target", "averageValue")),
        ("selector", ("metric", "selector")),
    ),
    "resource": (
        ("name", ("name",)),
        ("targetAverageUtilization", ("target", "averageUtilization")),
        ("targetAverageValue", ("target", "averageValue")),
    ),
    "containerResource": (
        ("name", ("name",)),
        ("targetAverageUtilization", ("target", "averageUtilization")),
        ("targetAverageValue", ("target", "averageValue")),
        ("container", ("container",)),
    ),
    "external": (
        ("metricName", ("metric", "name")),
        ("metricSelector", ("metric", "selector")),
        ("targetValue", ("target", "value")),
        ("targetAverageValue", ("target", "averageValue")),
    ),
}
_CURRENTS: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "object": (
        ("target", ("describedObject",)),
        ("metricName", ("metric", "name")),
        ("currentValue", ("current", "value")),
        ("selector", ("metric", "selector")),
        ("averageValue", ("current", "averageValue")),
    ),
    "pods": (
        ("metricName", ("metric", "name")),
        ("currentAverageValue", ("current", "averageValue")),
        ("selector", ("metric", "selector")),
    ),
    "resource": (
        ("name", ("name",)),
        ("currentAverageUtilization", ("current", "averageUtilization")),
        ("currentAverageValue", ("current", "averageValue")),
    ),
    "containerResource": (
        ("name", ("name",)),
        ("currentAverageUtilization", ("current", "averageUtilization")),
        ("currentAverageValue", ("current", "averageValue")),
        ("container", ("container",)),
    ),
    "external": (
        ("metricName", ("metric", "name")),
        ("metricSelector", ("metric", "selector")),
        ("currentValue", ("current", "value")),
        ("currentAverageValue", ("current", "averageValue")),
    ),
}
_POLICY = (("Type", "type"), ("Value", "value"), ("PeriodSeconds", "periodSeconds"))


def _encode(value: Any) -> str:
    """JSON as Go writes it: characters that HTML knows are escaped."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _decode(annotations: Object, name: str) -> Any:
    """What an annotation says; None for nothing and for nonsense."""
    try:
        return json.loads(annotations[name])
    except (KeyError, ValueError, TypeError):
        return None


def _is_cpu(metric: Object, part: str) -> bool:
    resource = metric.get("resource") or {}
    utilization = (resource.get(part) or {}).get("averageUtilization")
    return metric.get("type") == "Resource" and resource.get("name") == "cpu" and utilization is not None


def _metric_to_v1(metric: Object, table: dict[str, Any]) -> Object:
    result: Object = {"type": metric.get("type", "")}
    for kind in _KINDS:
        source = metric.get(kind)
        if source is None:
            continue
        part: Object = {}
        for field, path in table[kind]:
            value: Any = source
            for step in path:
                value = value.get(step) if isinstance(value, dict) else None
            if value is not None:
                part[field] = value
        result[kind] = part
    return result


def _metric_from_v1(metric: Object, table: dict[str, Any]) -> Object:
    result: Object = {"type": metric.get("type", "")}
    for kind in _KINDS:
        source = metric.get(kind)
        if not isinstance(source, dict):
            continue
        part: Object = {}
        for field, path in table[kind]:
            if field not in source:
                continue
            where = part
            for step in path[:-1]:
                where = where.setdefault(step, {})
            where[path[-1]] = source[field]
        if "target" in part and table is _TARGETS:
            part["target"] = {"type": _target_type(part["target"]), **part["target"]}
        result[kind] = part
    return result


def _target_type(target: Object) -> str:
    if "averageUtilization" in target:
        return "Utilization"
    return "AverageValue" if "averageValue" in target and "value" not in target else "Value"


def _behavior_to_v1(behavior: Object) -> Object:
    """COMPAT: upstream writes its internal structure here."""

    def rules(given: Object | None) -> Object | None:
        if given is None:
            return None
        policies = given.get("policies")
        return {
            "StabilizationWindowSeconds": given.get("stabilizationWindowSeconds"),
            "SelectPolicy": given.get("selectPolicy"),
            "Policies": None if policies is None else [{go: p.get(f) for go, f in _POLICY} for p in policies],
            "Tolerance": given.get("tolerance"),
        }

    return {"ScaleUp": rules(behavior.get("scaleUp")), "ScaleDown": rules(behavior.get("scaleDown"))}


def _behavior_from_v1(behavior: Object) -> Object:
    result: Object = {}
    for go, name in (("ScaleUp", "scaleUp"), ("ScaleDown", "scaleDown")):
        given = behavior.get(go)
        if not isinstance(given, dict):
            continue
        rules: Object = {}
        for field, key in (
            ("StabilizationWindowSeconds", "stabilizationWindowSeconds"),
            ("SelectPolicy", "selectPolicy"),
            ("Tolerance", "tolerance"),
        ):
            if given.get(field) is not None:
                rules[key] = given[field]
        if isinstance(given.get("Policies"), list):
            rules["policies"] = [{f: p.get(go) for go, f in _POLICY} for p in given["Policies"]]
        result[name] = rules
    return result


def to_v1(obj: Object) -> None:
    """Turn an autoscaler of ``v2`` into one of ``v1``, in place."""
    spec, status, meta = dict(obj.get("spec") or {}), dict(obj.get("status") or {}), dict(obj["metadata"])
    annotations = {k: v for k, v in (meta.get("annotations") or {}).items() if k not in _ANNOTATIONS}
    metrics, current = spec.pop("metrics", None) or [], status.pop("currentMetrics", None) or []
    others = [metric for metric in metrics if not _is_cpu(metric, "target")]
    if others:
        annotations[METRICS] = _encode([_metric_to_v1(metric, _TARGETS) for metric in others])
    if len(others) < len(metrics):
        cpu = next(metric for metric in metrics if _is_cpu(metric, "target"))
        spec["targetCPUUtilizationPercentage"] = cpu["resource"]["target"]["averageUtilization"]
    measured = [metric for metric in current if not _is_cpu(metric, "current")]
    if measured:
        annotations[CURRENT] = _encode([_metric_to_v1(metric, _CURRENTS) for metric in measured])
    if len(measured) < len(current):
        cpu = next(metric for metric in current if _is_cpu(metric, "current"))
        status["currentCPUUtilizationPercentage"] = cpu["resource"]["current"]["averageUtilization"]
    conditions = status.pop("conditions", None)
    if conditions:
        annotations[CONDITIONS] = _encode(conditions)
    behavior = spec.pop("behavior", None)
    if behavior is not None:
        annotations[BEHAVIOR] = _encode(_behavior_to_v1(behavior))
    status.setdefault("currentReplicas", 0)
    status.setdefault("desiredReplicas", 0)
    _put(obj, meta, annotations, spec, status)


def to_v2(obj: Object) -> None:
    """Turn an autoscaler of ``v1`` into one of ``v2``, in place."""
    spec, status, meta = dict(obj.get("spec") or {}), dict(obj.get("status") or {}), dict(obj["metadata"])
    given = meta.get("annotations") or {}
    metrics = [_metric_from_v1(metric, _TARGETS) for metric in _decode(given, METRICS) or ()]
    percentage = spec.pop("targetCPUUtilizationPercentage", None)
    if percentage is not None:
        target = {"type": "Utilization", "averageUtilization": percentage}
        metrics.append({"type": "Resource", "resource": {"name": "cpu", "target": target}})
    if metrics:
        spec["metrics"] = metrics
    current = [_metric_from_v1(metric, _CURRENTS) for metric in _decode(given, CURRENT) or ()]
    used = status.pop("currentCPUUtilizationPercentage", None)
    if used is not None:
        current.append({"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": used}}})
    if status or current:
        status["currentMetrics"] = current or None
    conditions = _decode(given, CONDITIONS)
    if conditions:
        status["conditions"] = conditions
    behavior = _decode(given, BEHAVIOR)
    if isinstance(behavior, dict):
        spec["behavior"] = _behavior_from_v1(behavior)
    if not status.get("currentReplicas"):
        status.pop("currentReplicas", None)
    _put(obj, meta, {k: v for k, v in given.items() if k not in _ANNOTATIONS}, spec, status)


def _put(obj: Object, meta: Object, annotations: Object, spec: Object, status: Object) -> None:
    if annotations:
        meta["annotations"] = annotations
    else:
        meta.pop("annotations", None)
    obj["metadata"] = meta
    obj["spec"] = spec
    if status or "status" in obj:
        obj["status"] = status
