"""StatefulSets, DaemonSets, ControllerRevisions, ReplicationControllers and PodTemplates."""

from __future__ import annotations

from typing import Any

import pytest

from apiserver.api.rest import Context
from apiserver_plugins.resources.apps_v1 import controllerrevisions, daemonsets, statefulsets
from apiserver_plugins.resources.core_v1 import podtemplates, replicationcontrollers
from tests.plugins.resources.cases import cells, having, pod_template
from tests.plugins.resources.rules import changed, created, errors_of

SELECTOR = {"matchLabels": {"app": "web"}}
SET: dict[str, Any] = {
    "metadata": {"name": "s", "namespace": "ns"},
    "spec": {"serviceName": "svc", "selector": SELECTOR, "template": pod_template()},
}
CLAIM = {
    "metadata": {"name": "data"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}
MISMATCH = 'spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`'


def test_a_stateful_set_gets_defaults(ctx: Context) -> None:
    spec = created(statefulsets.STRATEGY, ctx, having(SET, spec__volumeClaimTemplates=[CLAIM]))["spec"]
    assert spec["podManagementPolicy"] == "OrderedReady"
    assert spec["updateStrategy"] == {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}
    assert spec["persistentVolumeClaimRetentionPolicy"] == {"whenDeleted": "Retain", "whenScaled": "Retain"}
    assert (spec["replicas"], spec["revisionHistoryLimit"]) == (1, 10)
    claim = spec["volumeClaimTemplates"][0]
    assert (claim["kind"], claim["spec"]["volumeMode"], claim["status"]) == (
        "PersistentVolumeClaim", "Filesystem", {"phase": "Pending"},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {"spec__podManagementPolicy": "Random"},
            ["spec.podManagementPolicy: Invalid value: \"Random\": must be 'OrderedReady' or 'Parallel'"],
        ),
        (
            {"spec__updateStrategy": {"type": "OnDelete", "rollingUpdate": {}}},
            ["spec.updateStrategy.rollingUpdate: Invalid value: {}: only allowed for updateStrategy 'RollingUpdate'"],
        ),
        ({"spec__selector": {"matchLabels": {"app": "other"}}}, [MISMATCH]),
        (
            {"spec__selector": {}},
            ["spec.selector: Invalid value: {}: empty selector is invalid for statefulset"],
        ),
        (
            {"spec__template__spec__activeDeadlineSeconds": 5},
            [
                "spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in StatefulSet is not "
                "Supported"
            ],
        ),
        (
            {"spec__template__spec__containers__0__volumeMounts": [{"name": "data", "mountPath": "/d"}]},
            ['spec.template.spec.containers[0].volumeMounts[0].name: Not found: "data"'],
        ),
        (
            {"spec__volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {}}]},
            [
                "spec.volumeClaimTemplates[0].spec.accessModes: Required value: at least 1 access mode is required",
                "spec.volumeClaimTemplates[0].spec.resources[storage]: Required value",
            ],
        ),
    ],
)
def test_what_is_wrong_with_a_stateful_set(ctx: Context, changes: dict[str, Any], expected: list[str]) -> None:
    assert errors_of(statefulsets.STRATEGY, ctx, having(SET, **changes)) == expected


def test_containers_mount_the_claims_of_their_stateful_set(ctx: Context) -> None:
    mounts = [{"name": "data", "mountPath": "/d"}]
    obj = having(SET, spec__volumeClaimTemplates=[CLAIM], spec__template__spec__containers__0__volumeMounts=mounts)
    assert errors_of(statefulsets.STRATEGY, ctx, obj) == []


def test_only_some_fields_of_a_stateful_set_change(ctx: Context) -> None:
    old = created(statefulsets.STRATEGY, ctx, SET)
    new, errors = changed(statefulsets.STRATEGY, ctx, old, having(old, spec__replicas=3, spec__minReadySeconds=5))
    assert (errors, new["metadata"]["generation"]) == ([], 2)
    _, errors = changed(statefulsets.STRATEGY, ctx, old, having(old, spec__serviceName="other"))
    assert len(errors) == 1
    assert errors[0].startswith("spec: Forbidden: updates to statefulset spec for fields other than 'replicas'")


def test_a_negative_history_limit_of_a_stateful_set_is_warned_of(ctx: Context) -> None:
    obj = created(statefulsets.STRATEGY, ctx, having(SET, spec__revisionHistoryLimit=-1))
    assert statefulsets.STRATEGY.warnings_on_create(ctx, obj) == [statefulsets.HISTORY_WARNING]


def test_collisions_are_never_taken_back(ctx: Context) -> None:
    old = having(created(statefulsets.STRATEGY, ctx, SET), status__collisionCount=2)
    _, errors = changed(statefulsets.STATUS, ctx, old, having(old, status__collisionCount=1))
    assert errors == ["status.collisionCount: Invalid value: 1: cannot be decremented"]


def test_a_stateful_set_in_a_table(ctx: Context) -> None:
    obj = having(created(statefulsets.STRATEGY, ctx, SET), status__readyReplicas=1)
    assert cells(statefulsets.COLUMNS, obj) == {"Ready": "1/1", "Containers": "c", "Images": "x:1"}


DAEMONS = {"metadata": {"name": "d", "namespace": "ns"}, "spec": {"selector": SELECTOR, "template": pod_template()}}
GENERATION = daemonsets.TEMPLATE_GENERATION


def test_a_daemon_set_counts_changes_of_its_template(ctx: Context) -> None:
    old = created(daemonsets.STRATEGY, ctx, DAEMONS)
    assert old["metadata"]["annotations"] == {GENERATION: "1"}
    assert old["spec"]["updateStrategy"] == {
        "type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0},
    }  # fmt: skip
    images = {"spec__template__spec__containers__0__image": "y:2"}
    new, errors = changed(daemonsets.STRATEGY, ctx, old, having(old, **images))
    assert (errors, new["metadata"]["annotations"][GENERATION]) == ([], "2")
    same, _ = changed(daemonsets.STRATEGY, ctx, old, having(old, metadata__annotations={GENERATION: "77"}))
    assert same["metadata"]["annotations"][GENERATION] == "1"


ROLLING = "spec.updateStrategy.rollingUpdate"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {"spec__updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 1}}},
            [f"{ROLLING}.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero"],
        ),
        (
            {"spec__updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "0%"}}},
            [f"{ROLLING}.maxUnavailable: Required value: cannot be 0 when maxSurge is 0"],
        ),
        (
            {"spec__updateStrategy": {"type": "Slow"}},
            [
                'spec.updateStrategy: Unsupported value: {"Type":"Slow","RollingUpdate":null}: supported values: '
                '"RollingUpdate", "OnDelete"'
            ],
        ),
        ({"spec__selector": {}}, ["spec.selector: Invalid value: {}: empty selector is invalid for daemonset"]),
        (
            {"spec__minReadySeconds": -1},
            ["spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0"],
        ),
    ],
)
def test_what_is_wrong_with_a_daemon_set(ctx: Context, changes: dict[str, Any], expected: list[str]) -> None:
    assert errors_of(daemonsets.STRATEGY, ctx, having(DAEMONS, **changes)) == expected


def test_the_selector_of_a_daemon_set_is_fixed(ctx: Context) -> None:
    old = created(daemonsets.STRATEGY, ctx, DAEMONS)
    more = {"app": "web", "b": "c"}
    obj = having(old, spec__selector__matchLabels=more, spec__template__metadata__labels=more)
    _, errors = changed(daemonsets.STRATEGY, ctx, old, obj)
    assert errors == ['spec.selector: Invalid value: {"matchLabels":{"app":"web","b":"c"}}: field is immutable']


def test_a_daemon_set_in_a_table(ctx: Context) -> None:
    obj = created(daemonsets.STRATEGY, ctx, having(DAEMONS, spec__template__spec__nodeSelector={"disk": "ssd"}))
    row = cells(daemonsets.COLUMNS, having(obj, status__numberReady=3))
    assert (row["Ready"], row["Node Selector"], row["Selector"]) == (3, "disk=ssd", "app=web")


def test_the_data_of_a_controller_revision_is_fixed(ctx: Context) -> None:
    strategy = controllerrevisions.STRATEGY
    old = {"metadata": {"name": "r", "namespace": "ns"}, "revision": 1, "data": {"a": 1}}
    assert errors_of(strategy, ctx, having(old, data=None, revision=-1)) == [
        "data: Required value: data is mandatory",
        "revision: Invalid value: -1: must be greater than or equal to 0",
    ]
    assert changed(strategy, ctx, old, having(old, revision=2))[1] == []
    assert changed(strategy, ctx, old, having(old, data={"a": 2}))[1] == [
        'data: Invalid value: {"a":2}: field is immutable'
    ]


def test_who_controls_a_revision_is_shown() -> None:
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web", "controller": True}
    obj = {"metadata": {"ownerReferences": [{**owner, "controller": False}, owner]}, "revision": 3}
    assert cells(controllerrevisions.COLUMNS, obj) == {"Controller": "statefulset.apps/web", "Revision": 3}
    assert cells(controllerrevisions.COLUMNS, {"metadata": {}})["Controller"] == "<none>"


CONTROLLER = {"metadata": {"name": "rc", "namespace": "ns"}, "spec": {"template": pod_template()}}


def test_a_replication_controller_takes_labels_and_selector_from_its_template(ctx: Context) -> None:
    strategy = replicationcontrollers.STRATEGY
    stored = created(strategy, ctx, CONTROLLER)
    assert stored["metadata"]["labels"] == stored["spec"]["selector"] == {"app": "web"}
    assert stored["spec"]["replicas"] == 1
    assert strategy.default_propagation == "Orphan"
    assert strategy.selectable_fields(having(stored, status__replicas=4)) == {"status.replicas": "4"}
    assert cells(replicationcontrollers.COLUMNS, stored)["Selector"] == "app=web"


def test_a_replication_controller_needs_a_template_that_it_selects(ctx: Context) -> None:
    strategy = replicationcontrollers.STRATEGY
    assert errors_of(strategy, ctx, having(CONTROLLER, spec__selector={"z": "z"})) == [MISMATCH]
    assert errors_of(strategy, ctx, having(CONTROLLER, spec__template=None)) == [
        "spec.selector: Required value",
        "spec.template: Required value",
    ]


def test_a_pod_template_counts_its_changes(ctx: Context) -> None:
    strategy = podtemplates.STRATEGY
    old = created(strategy, ctx, {"metadata": {"name": "t", "namespace": "ns"}, "template": pod_template()})
    assert old["metadata"]["generation"] == 1
    new, _ = changed(strategy, ctx, old, having(old, template__metadata__labels={"app": "x"}))
    assert new["metadata"]["generation"] == 2
    assert cells(podtemplates.COLUMNS, new) == {"Containers": "c", "Images": "x:1", "Pod Labels": "app=x"}
