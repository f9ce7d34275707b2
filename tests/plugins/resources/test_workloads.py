"""Deployments and ReplicaSets, and their scale."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from apiserver.api.rest import Context
from apiserver_plugins.resources.apps_v1.deployments import DeploymentStatusStrategy, DeploymentStrategy
from apiserver_plugins.resources.apps_v1.replicasets import ReplicaSetStatusStrategy, ReplicaSetStrategy
from apiserver_plugins.resources.common.scale import scale_subresource
from tests.plugins.resources.rules import changed, created, errors_of

DEPLOYMENT = DeploymentStrategy()
REPLICA_SET = ReplicaSetStrategy()
Change = Callable[[dict[str, Any]], object]


def workload(change: Change | None = None) -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "x"}]}}
    spec = {"selector": {"matchLabels": {"app": "web"}}, "template": template}
    obj = {"metadata": {"name": "d", "namespace": "ns"}, "spec": spec}
    if change is not None:
        change(obj["spec"])
    return obj


def setting(path: str, value: Any) -> Change:
    def change(spec: dict[str, Any]) -> None:
        *steps, last = path.split(".")
        for step in steps:
            spec = spec.setdefault(step, {})
        spec[last] = value

    return change


def test_a_deployment_gets_defaults(ctx: Context) -> None:
    stored = created(DEPLOYMENT, ctx, workload())
    spec = {k: v for k, v in stored["spec"].items() if k not in ("selector", "template")}
    assert spec == {
        "replicas": 1, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600,
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
    }  # fmt: skip
    assert stored["status"] == {}
    assert stored["metadata"]["generation"] == 1
    assert "enableServiceLinks" not in stored["spec"]["template"]["spec"]
    assert stored["spec"]["template"]["spec"]["schedulerName"] == "default-scheduler"


def test_explicit_zeros_stay(ctx: Context) -> None:
    obj = workload(lambda spec: spec.update(replicas=0, revisionHistoryLimit=0))
    stored = created(DEPLOYMENT, ctx, obj)
    assert (stored["spec"]["replicas"], stored["spec"]["revisionHistoryLimit"]) == (0, 0)


def test_recreate_has_no_rolling_update(ctx: Context) -> None:
    stored = created(DEPLOYMENT, ctx, workload(setting("strategy", {"type": "Recreate"})))
    assert stored["spec"]["strategy"] == {"type": "Recreate"}


MISMATCH = "`selector` does not match template `labels`"
ROLLING = "spec.strategy.rollingUpdate"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            lambda spec: spec.pop("selector"),
            [
                "spec.selector: Required value",
                f'spec.template.metadata.labels: Invalid value: {{"app":"web"}}: {MISMATCH}',
            ],
        ),
        (setting("selector", {}), ["spec.selector: Invalid value: {}: empty selector is invalid for deployment"]),
        (
            setting("template.metadata.labels", {"app": "other"}),
            [f'spec.template.metadata.labels: Invalid value: {{"app":"other"}}: {MISMATCH}'],
        ),
        (setting("replicas", -3), ["spec.replicas: Invalid value: -3: must be greater than or equal to 0"]),
        (
            setting("strategy", {"type": "Recreate", "rollingUpdate": {"maxSurge": 1}}),
            [f"{ROLLING}: Forbidden: may not be specified when strategy `type` is 'Recreate'"],
        ),
        (
            setting("strategy", {"type": "Fancy"}),
            [
                'spec.strategy: Unsupported value: {"Type":"Fancy","RollingUpdate":null}: supported values: '
                '"Recreate", "RollingUpdate"'
            ],
        ),
        (
            setting("strategy", {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}),
            [f"{ROLLING}.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0"],
        ),
        (
            setting("strategy", {"rollingUpdate": {"maxUnavailable": "150%"}}),
            [f'{ROLLING}.maxUnavailable: Invalid value: "150%": must not be greater than 100%'],
        ),
        (
            setting("strategy", {"rollingUpdate": {"maxSurge": "abc"}}),
            [
                f'{ROLLING}.maxSurge: Invalid value: "abc": a valid percent string must be a numeric string followed '
                "by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"
            ],
        ),
        (
            setting("minReadySeconds", 600),
            ["spec.progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds"],
        ),
        (
            setting("template.spec.restartPolicy", "Never"),
            ['spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"'],
        ),
        (
            lambda spec: spec.pop("template"),
            [
                "spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`",
                "spec.template.spec.containers: Required value",
            ],
        ),
    ],
)
def test_validation_of_deployments(ctx: Context, change: Change, expected: list[str]) -> None:
    assert errors_of(DEPLOYMENT, ctx, workload(change)) == expected


def test_an_expression_that_makes_no_selector_is_told_once_more(ctx: Context) -> None:
    change = setting("selector.matchExpressions", [{"key": "app", "operator": "In", "values": []}])
    values, selector = errors_of(DEPLOYMENT, ctx, workload(change))
    text = "must be specified when `operator` is 'In' or 'NotIn'"
    assert values == f"spec.selector.matchExpressions[0].values: Required value: {text}"
    assert selector.startswith("spec.selector: Invalid value: ")
    assert selector.endswith(": invalid label selector")


@pytest.mark.parametrize("strategy", [DEPLOYMENT, REPLICA_SET])
def test_the_selector_stays(ctx: Context, strategy: DeploymentStrategy | ReplicaSetStrategy) -> None:
    old = created(strategy, ctx, workload())
    new = workload(
        lambda spec: (
            spec["selector"]["matchLabels"].update(z="z"),
            spec["template"]["metadata"]["labels"].update(z="z"),
        )
    )
    _, errors = changed(strategy, ctx, old, new)
    assert len(errors) == 1
    assert errors[0].startswith("spec.selector: Invalid value: ")
    assert errors[0].endswith(": field is immutable")


@pytest.mark.parametrize(
    ("strategy", "field", "generation"),
    [
        (DEPLOYMENT, "labels", 1),
        (DEPLOYMENT, "annotations", 2),
        (REPLICA_SET, "labels", 1),
        (REPLICA_SET, "annotations", 1),
    ],
)
def test_what_counts_as_a_new_generation(ctx: Context, strategy: Any, field: str, generation: int) -> None:
    old = created(strategy, ctx, workload())
    new = copy.deepcopy(old)
    new["metadata"][field] = {"x": "y"}
    obj, errors = changed(strategy, ctx, old, new)
    assert (errors, obj["metadata"]["generation"]) == ([], generation)


def test_status_writes_change_no_spec(ctx: Context) -> None:
    old = created(DEPLOYMENT, ctx, workload())
    new = copy.deepcopy(old)
    new["spec"]["replicas"] = 77
    new["metadata"]["labels"] = {"from": "status"}
    new["status"] = {"replicas": 4, "readyReplicas": 2}
    obj, errors = changed(DeploymentStatusStrategy(DEPLOYMENT), ctx, old, new)
    assert errors == []
    assert (obj["spec"]["replicas"], obj["status"], "labels" in obj["metadata"]) == (1, new["status"], False)


@pytest.mark.parametrize(
    ("strategy", "text"),
    [
        (DeploymentStatusStrategy(DEPLOYMENT), "cannot be greater than status.replicas"),
        (ReplicaSetStatusStrategy(REPLICA_SET), "cannot be greater than replicas"),
    ],
)
def test_no_more_pods_are_ready_than_there_are(ctx: Context, strategy: Any, text: str) -> None:
    old = created(REPLICA_SET, ctx, workload())
    new = {**old, "status": {"replicas": 1, "readyReplicas": 5}}
    assert changed(strategy, ctx, old, new)[1] == [f"status.readyReplicas: Invalid value: 5: {text}"]


def test_a_new_replica_set_has_no_replicas_yet(ctx: Context) -> None:
    assert created(REPLICA_SET, ctx, workload())["status"] == {"replicas": 0}


def test_the_scale_shows_the_selector_as_text(ctx: Context) -> None:
    paths = scale_subresource().scale
    assert paths is not None
    assert paths.selector(created(REPLICA_SET, ctx, workload())) == "app=web"
