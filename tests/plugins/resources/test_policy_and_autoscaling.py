"""PodDisruptionBudgets, PriorityClasses, RuntimeClasses, and HorizontalPodAutoscalers in both versions."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from apiserver.api.rest import Context
from apiserver_plugins.resources.autoscaling_v2 import conversion
from apiserver_plugins.resources.autoscaling_v2 import horizontalpodautoscalers as autoscalers
from apiserver_plugins.resources.node_v1 import runtimeclasses
from apiserver_plugins.resources.policy_v1 import poddisruptionbudgets as budgets
from apiserver_plugins.resources.scheduling_v1 import priorityclasses
from tests.plugins.resources.cases import cells, having
from tests.plugins.resources.rules import changed, created, errors_of

BUDGET: dict[str, Any] = {"metadata": {"name": "b", "namespace": "ns"}, "spec": {"maxUnavailable": "20%"}}


def test_a_budget_begins_with_nothing_allowed(ctx: Context) -> None:
    stored = created(budgets.STRATEGY, ctx, BUDGET)
    assert set(stored["status"].values()) == {0}
    assert cells(budgets.COLUMNS, stored) == {
        "Min Available": "N/A", "Max Unavailable": "20%", "Allowed Disruptions": 0,
    }  # fmt: skip
    assert not budgets.STRATEGY.allow_unconditional_update


def test_counts_of_a_budget_are_not_negative(ctx: Context) -> None:
    old = created(budgets.STRATEGY, ctx, BUDGET)
    assert changed(budgets.STATUS, ctx, old, having(old, status__expectedPods=-1))[1] == [
        "status.expectedPods: Invalid value: -1: must be greater than or equal to 0"
    ]


@pytest.mark.parametrize(
    ("name", "value", "default", "problem"),
    [
        ("system-node-critical", 2_000_001_000, False, None),
        ("system-node-critical", 5, False, "value of system-node-critical PriorityClass must be 2000001000"),
        ("system-node-critical", 2_000_001_000, True,
         "globalDefault of system-node-critical PriorityClass must be false"),
        ("system-x", 5, False, "system-x is not a known system priority class"),
    ],
)  # fmt: skip
def test_names_of_the_system(ctx: Context, name: str, value: int, default: bool, problem: str | None) -> None:
    obj = {"metadata": {"name": name}, "value": value, "globalDefault": default}
    head = (
        "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: "
    )
    assert errors_of(priorityclasses.STRATEGY, ctx, obj) == ([head + problem] if problem else [])


def test_a_priority_class_keeps_its_value(ctx: Context) -> None:
    old = created(priorityclasses.STRATEGY, ctx, {"metadata": {"name": "p"}, "value": 5})
    assert old["preemptionPolicy"] == "PreemptLowerPriority"
    assert changed(priorityclasses.STRATEGY, ctx, old, having(old, value=6, preemptionPolicy="Never"))[1] == [
        'preemptionPolicy: Invalid value: "Never": field is immutable',
        "value: Forbidden: may not be changed in an update.",
    ]


def test_a_runtime_class_keeps_its_handler(ctx: Context) -> None:
    old = {"metadata": {"name": "r"}, "handler": "kata"}
    assert changed(runtimeclasses.STRATEGY, ctx, old, having(old, handler="other"))[1] == [
        'handler: Invalid value: "other": field is immutable'
    ]
    tolerations = [{"key": "a", "operator": "Exists"}] * 2
    assert errors_of(runtimeclasses.STRATEGY, ctx, having(old, scheduling={"tolerations": tolerations})) == [
        'scheduling.tolerations[1]: Duplicate value: {"key":"a","operator":"Exists"}'
    ]


SCALER: dict[str, Any] = {
    "apiVersion": "autoscaling/v2",
    "metadata": {"name": "h", "namespace": "ns"},
    "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}, "maxReplicas": 5},
}


def metric(kind: str, **source: Any) -> dict[str, Any]:
    return {"type": kind, kind[0].lower() + kind[1:]: source}


CPU = metric("Resource", name="cpu", target={"type": "Utilization", "averageUtilization": 60})
RPS = metric("Pods", metric={"name": "rps"}, target={"type": "AverageValue", "averageValue": "10"})
QUEUE = metric("External", metric={"name": "queue"}, target={"type": "Value", "value": "30"})
MEMORY = metric(
    "ContainerResource", name="memory", container="c", target={"type": "AverageValue", "averageValue": "1Gi"}
)
HITS = metric(
    "Object",
    describedObject={"kind": "Service", "name": "s"},
    metric={"name": "hits", "selector": {"matchLabels": {"a": "b"}}},
    target={"type": "Value", "value": "2k"},
)


def test_an_autoscaler_aims_at_80_percent_of_the_cpu(ctx: Context) -> None:
    stored = created(autoscalers.STRATEGY, ctx, SCALER)
    assert stored["spec"]["minReplicas"] == 1
    assert cells(autoscalers.COLUMNS, stored) == {
        "Reference": "Deployment/d", "Targets": "cpu: <unknown>/80%", "MinPods": "1", "MaxPods": 5, "Replicas": 0,
    }  # fmt: skip


def test_behavior_is_completed(ctx: Context) -> None:
    obj = having(SCALER, spec__behavior={"scaleUp": {"policies": [{"type": "Pods", "value": 1, "periodSeconds": 9}]}})
    behavior = created(autoscalers.STRATEGY, ctx, obj)["spec"]["behavior"]
    assert behavior["scaleUp"] == {
        "stabilizationWindowSeconds": 0, "selectPolicy": "Max",
        "policies": [{"type": "Pods", "value": 1, "periodSeconds": 9}],
    }  # fmt: skip
    assert behavior["scaleDown"]["policies"] == [{"type": "Percent", "value": 100, "periodSeconds": 15}]


@pytest.mark.parametrize(
    ("metrics", "expected"),
    [
        ([{"type": "Pods", "resource": CPU["resource"]}],
         ["spec.metrics[0].pods: Required value: must populate information for the given metric source",
          ]),
        ([{**CPU, "pods": RPS["pods"]}],
         ["spec.metrics[0].pods: Forbidden: must populate the given metric source only"]),
        ([metric("Pods", metric={}, target={"type": "Sum", "averageValue": "-1"})],
         ["spec.metrics[0].pods.metric.name: Required value: must specify a metric name",
          'spec.metrics[0].pods.target.averageValue: Invalid value: "-1": must be positive',
          'spec.metrics[0].pods.target.type: Invalid value: "Sum": must be either Utilization, Value, or '
          "AverageValue"]),
        ([metric("External", metric={"name": "q"}, target={"type": "Value", "value": "1", "averageValue": "1"})],
         ["spec.metrics[0].external.target.value: Forbidden: may not set both a target value for metric and a per-pod "
          "target"]),
        ([metric("Object", describedObject={}, metric={"name": "q"}, target={"type": "Value"})],
         ["spec.metrics[0].object.describedObject.kind: Required value",
          "spec.metrics[0].object.describedObject.name: Required value",
          "spec.metrics[0].object.target.averageValue: Required value: must set either a target value or "
          "averageValue"]),
        ([metric("ContainerResource", name="cpu", target={"type": "Utilization", "averageUtilization": 5})],
         ["spec.metrics[0].containerResource.container: Required value: must specify a container"]),
    ],
)  # fmt: skip
def test_what_is_wrong_with_metrics(ctx: Context, metrics: list[Any], expected: list[str]) -> None:
    assert errors_of(autoscalers.STRATEGY, ctx, having(SCALER, spec__metrics=metrics)) == expected


def rich() -> dict[str, Any]:
    current = [
        {"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": 7, "averageValue": "3m"}}},
        {"type": "Pods", "pods": {"metric": {"name": "rps"}, "current": {"averageValue": "4"}}},
    ]
    conditions = [{"type": "AbleToScale", "status": "True", "message": "a<b"}]
    obj = having(SCALER, spec__metrics=[RPS, QUEUE, MEMORY, HITS, CPU], spec__minReplicas=1)
    obj["spec"]["behavior"] = {"scaleUp": {"selectPolicy": "Min", "tolerance": "1"}}
    obj["status"] = {"desiredReplicas": 2, "currentReplicas": 1, "currentMetrics": current, "conditions": conditions}
    return obj


def test_what_the_older_version_has_no_room_for_goes_through_annotations() -> None:
    obj = rich()
    conversion.to_v1(obj)
    annotations = obj["metadata"]["annotations"]
    assert obj["spec"]["targetCPUUtilizationPercentage"] == 60
    assert obj["status"] == {"desiredReplicas": 2, "currentReplicas": 1, "currentCPUUtilizationPercentage": 7}
    assert json.loads(annotations[conversion.METRICS])[1] == {
        "type": "External", "external": {"metricName": "queue", "targetValue": "30"},
    }  # fmt: skip
    assert "a\\u003cb" in annotations[conversion.CONDITIONS]
    conversion.to_v2(obj)
    expected = rich()
    # The older version keeps the utilization of the CPU alone, and puts it last.
    del expected["status"]["currentMetrics"][0]["resource"]["current"]["averageValue"]
    expected["status"]["currentMetrics"].reverse()
    assert obj == expected


def test_the_older_version_is_shown_like_the_newer_one(ctx: Context) -> None:
    newer = rich()
    older = copy.deepcopy(newer)
    conversion.to_v1(older)
    older["apiVersion"] = "autoscaling/v1"
    text = "4/10, <unknown>/30 + 3 more..."
    assert cells(autoscalers.COLUMNS, older)["Targets"].endswith("+ 3 more...")
    reordered = having(newer, status__currentMetrics=list(reversed(newer["status"]["currentMetrics"])))
    assert cells(autoscalers.COLUMNS, reordered)["Targets"] == cells(autoscalers.COLUMNS, older)["Targets"] == text


@pytest.mark.parametrize(
    ("spec", "status", "text"),
    [
        (HITS, {}, "<unknown>/2k"),
        (MEMORY, {"containerResource": {"current": {"averageValue": "5Mi"}}}, "memory: 5Mi/1Gi"),
        (CPU, {"resource": {"current": {"averageUtilization": 12}}}, "cpu: 12%/60%"),
        (metric("External", target={"averageValue": "3"}), {}, "<unknown>/3 (avg)"),
        ({"type": "Smell"}, {}, "<unknown type>"),
    ],
)
def test_metrics_in_a_table(spec: dict[str, Any], status: dict[str, Any], text: str) -> None:
    obj = {"spec": {"metrics": [spec]}, "status": {"currentMetrics": [status]}}
    assert cells(autoscalers.COLUMNS, obj)["Targets"] == text


def test_nonsense_in_annotations_is_nothing() -> None:
    obj = having(SCALER, metadata__annotations={conversion.METRICS: "[", conversion.BEHAVIOR: "5", "own": "x"})
    conversion.to_v2(obj)
    assert obj["metadata"]["annotations"] == {"own": "x"}
    assert "metrics" not in obj["spec"]
