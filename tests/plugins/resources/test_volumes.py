"""PersistentVolumes, their claims, and the kinds of storage.k8s.io."""

from __future__ import annotations

from typing import Any

import pytest

from apiserver.api.rest import Context
from apiserver_plugins.resources.core_v1 import persistentvolumeclaims as claims
from apiserver_plugins.resources.core_v1 import persistentvolumes as volumes
from apiserver_plugins.resources.storage_v1 import (
    csidrivers,
    csinodes,
    csistoragecapacities,
    storageclasses,
    volumeattachments,
    volumeattributesclasses,
)
from tests.plugins.resources.cases import cells, having
from tests.plugins.resources.rules import changed, created, errors_of

VOLUME: dict[str, Any] = {
    "metadata": {"name": "v"},
    "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/data"}},
}
CLAIM: dict[str, Any] = {
    "metadata": {"name": "c", "namespace": "ns"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}


def test_a_volume_gets_defaults(ctx: Context) -> None:
    stored = created(volumes.STRATEGY, ctx, VOLUME)
    spec = stored["spec"]
    assert (spec["persistentVolumeReclaimPolicy"], spec["volumeMode"]) == ("Retain", "Filesystem")
    assert spec["hostPath"] == {"path": "/data", "type": ""}
    assert stored["status"]["phase"] == "Pending"
    assert stored["status"]["lastPhaseTransitionTime"].endswith("Z")
    rbd = having(VOLUME, spec__hostPath=None, spec__rbd={"monitors": ["m"], "image": "i", "pool": "p"})
    assert created(volumes.STRATEGY, ctx, rbd)["spec"]["rbd"]["user"] == "admin"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"spec__hostPath__path": "/a/../b"},
         ['spec.hostPath.path: Invalid value: "/a/../b": must not contain \'..\'']),
        ({"spec__hostPath": None, "spec__nfs": {"path": "x"}},
         ['spec.nfs.path: Invalid value: "x": must be an absolute path', "spec.nfs.server: Required value"]),
        ({"spec__hostPath": None, "spec__csi": {}},
         ["spec.csi.driver: Required value", "spec.csi.volumeHandle: Required value"]),
        ({"spec__capacity": {"storage": "1Gi", "cpu": "1"}},
         ['spec.capacity: Unsupported value: {"storage":"1Gi","cpu":"1"}: supported values: "storage"']),
        ({"spec__nodeAffinity": {}},
         ["spec.nodeAffinity.required: Required value: must specify required node constraints"]),
        ({"spec__storageClassName": "A B"}, None),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_volume(ctx: Context, changes: dict[str, Any], expected: list[str] | None) -> None:
    errors = errors_of(volumes.STRATEGY, ctx, having(VOLUME, **changes))
    assert errors == expected if expected is not None else len(errors) == 1


def test_the_affinity_of_a_volume_is_set_once(ctx: Context) -> None:
    affinity = {"required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Exists"}]}]}}
    old = created(volumes.STRATEGY, ctx, VOLUME)
    new, errors = changed(volumes.STRATEGY, ctx, old, having(old, spec__nodeAffinity=affinity))
    assert errors == []
    _, errors = changed(volumes.STRATEGY, ctx, new, having(new, spec__nodeAffinity=None))
    assert errors == ["nodeAffinity: Invalid value: null: field is immutable"]


def test_the_time_of_a_new_phase_is_noted(ctx: Context) -> None:
    old = having(created(volumes.STRATEGY, ctx, VOLUME), status__lastPhaseTransitionTime="2020-01-01T00:00:00Z")
    new, _ = changed(volumes.STATUS, ctx, old, having(old, status__phase="Bound"))
    assert new["status"]["lastPhaseTransitionTime"] > "2020-01-01T00:00:00Z"
    same, _ = changed(volumes.STATUS, ctx, old, having(old, status__message="x"))
    assert same["status"]["lastPhaseTransitionTime"] == "2020-01-01T00:00:00Z"


def test_a_volume_in_a_table(ctx: Context) -> None:
    obj = having(created(volumes.STRATEGY, ctx, VOLUME), spec__claimRef={"namespace": "a", "name": "b"})
    row = cells(volumes.COLUMNS, having(obj, spec__accessModes=["ReadWriteMany", "ReadWriteOnce"]))
    assert (row["Capacity"], row["Access Modes"], row["Claim"], row["Status"]) == ("1Gi", "RWO,RWX", "a/b", "Pending")
    assert cells(volumes.COLUMNS, having(obj, metadata__deletionTimestamp="x"))["Status"] == "Terminating"


def test_data_sources_of_a_claim_agree(ctx: Context) -> None:
    source = {"kind": "PersistentVolumeClaim", "name": "other"}
    spec = created(claims.STRATEGY, ctx, having(CLAIM, spec__dataSource=source))["spec"]
    assert spec["dataSourceRef"] == source
    reference = {"apiGroup": "x.example.com", "kind": "Y", "name": "z", "namespace": "elsewhere"}
    spec = created(claims.STRATEGY, ctx, having(CLAIM, spec__dataSourceRef=reference))["spec"]
    del reference["namespace"]
    assert spec["dataSource"] == spec["dataSourceRef"] == reference
    both = having(CLAIM, spec__dataSource=source, spec__dataSourceRef={**source, "name": "third"})
    assert errors_of(claims.STRATEGY, ctx, both) == ['spec: Invalid value: "dataSource": must match dataSourceRef']


def test_a_bound_claim_grows_and_shrinks_down_to_its_capacity(ctx: Context) -> None:
    stored = created(claims.STRATEGY, ctx, CLAIM)
    bound = having(stored, spec__volumeName="v", status={"phase": "Bound", "capacity": {"storage": "1Gi"}})
    size = {"spec__resources__requests__storage": "5Gi"}
    larger, errors = changed(claims.STRATEGY, ctx, bound, having(bound, **size))
    assert errors == []
    size = {"spec__resources__requests__storage": "1Gi"}
    assert changed(claims.STRATEGY, ctx, larger, having(larger, **size))[1] == [
        "spec.resources.requests.storage: Forbidden: field can not be less than status.capacity"
    ]
    unbound = having(stored, spec__resources__requests__storage="5Gi")
    assert changed(claims.STRATEGY, ctx, stored, unbound)[1] == [f"spec: Forbidden: {claims._IMMUTABLE}"]


def test_the_volume_of_a_claim_is_set_once(ctx: Context) -> None:
    old = created(claims.STRATEGY, ctx, CLAIM)
    new, errors = changed(claims.STRATEGY, ctx, old, having(old, spec__volumeName="v", spec__storageClassName="late"))
    assert errors == []
    assert len(changed(claims.STRATEGY, ctx, new, having(new, spec__volumeName="w"))[1]) == 1


def test_a_claim_in_a_table(ctx: Context) -> None:
    obj = created(claims.STRATEGY, ctx, CLAIM)
    assert cells(claims.COLUMNS, obj) == {
        "Status": "Pending", "Volume": "", "Capacity": "", "Access Modes": "", "StorageClass": "",
        "VolumeAttributesClass": "<unset>", "VolumeMode": "Filesystem",
    }  # fmt: skip
    status = {"phase": "Bound", "capacity": {"storage": "2Gi"}, "accessModes": ["ReadWriteOncePod"]}
    row = cells(claims.COLUMNS, having(obj, spec__volumeName="v", spec__storageClassName="fast", status=status))
    assert list(row.values())[:5] == ["Bound", "v", "2Gi", "RWOP", "fast"]


CLASS = {"metadata": {"name": "fast"}, "provisioner": "example.com/p"}


def test_the_default_class_is_marked_in_tables(ctx: Context) -> None:
    obj = created(storageclasses.STRATEGY, ctx, CLASS)
    assert (obj["reclaimPolicy"], obj["volumeBindingMode"]) == ("Delete", "Immediate")
    name = storageclasses.COLUMNS[0].cell
    assert name(obj) == "fast"
    annotations = {"storageclass.kubernetes.io/is-default-class": "true"}
    assert name(having(obj, metadata__annotations=annotations)) == "fast (default)"


def test_topologies_of_a_class_name_each_key_once(ctx: Context) -> None:
    expressions = [{"key": "zone", "values": ["a", "a"]}, {"key": "zone", "values": []}]
    obj = having(CLASS, allowedTopologies=[{"matchLabelExpressions": expressions}])
    path = "allowedTopologies[0].matchLabelExpressions"
    assert errors_of(storageclasses.STRATEGY, ctx, obj) == [
        f'{path}[0].values[1]: Duplicate value: "a"',
        f'{path}[1].key: Duplicate value: "zone"',
        f"{path}[1].values: Required value",
    ]


def test_drivers(ctx: Context) -> None:
    old = created(csidrivers.STRATEGY, ctx, {"metadata": {"name": "d.example.com"}, "spec": {}})
    requests = [{"audience": "a"}, {"audience": "a", "expirationSeconds": 5}]
    wrong = having(old, spec__tokenRequests=requests, spec__volumeLifecycleModes=["Now"], spec__fsGroupPolicy="X")
    assert errors_of(csidrivers.STRATEGY, ctx, wrong) == [
        'spec.fsGroupPolicy: Unsupported value: "X": supported values: "File", "None", "ReadWriteOnceWithFSType"',
        'spec.tokenRequests[1].audience: Duplicate value: "a"',
        "spec.tokenRequests[1].expirationSeconds: Invalid value: 5: may not specify a duration less than 10 minutes",
        'spec.volumeLifecycleModes: Unsupported value: "Now": supported values: "Persistent", "Ephemeral"',
    ]
    assert changed(csidrivers.STRATEGY, ctx, old, having(old, spec__attachRequired=False))[1] == [
        "spec.attachedRequired: Invalid value: false: field is immutable"
    ]
    assert cells(csidrivers.COLUMNS, old) == {
        "AttachRequired": True, "PodInfoOnMount": False, "StorageCapacity": False, "TokenRequests": "<unset>",
        "RequiresRepublish": False, "Modes": "Persistent",
    }  # fmt: skip


def test_what_a_node_has_drivers_for_stays(ctx: Context) -> None:
    driver = {"name": "d", "nodeID": "n", "allocatable": {"count": 3}}
    old = {"metadata": {"name": "n"}, "spec": {"drivers": [driver]}}
    more = having(old, spec__drivers=[{**driver, "allocatable": {"count": 4}}, {"name": "e", "nodeID": "m"}])
    assert changed(csinodes.STRATEGY, ctx, old, more)[1] == []
    errors = changed(csinodes.STRATEGY, ctx, old, having(old, spec__drivers=[{**driver, "nodeID": "x"}]))[1]
    assert [error.split(":")[0] for error in errors] == ["CSINode.spec.drivers"]
    assert cells(csinodes.COLUMNS, more) == {"Drivers": 2}


def test_attachments(ctx: Context) -> None:
    strategy = volumeattachments.STRATEGY
    spec = {"attacher": "example.com", "nodeName": "n", "source": {"persistentVolumeName": "v"}}
    old = created(strategy, ctx, {"metadata": {"name": "a"}, "spec": spec, "status": {"attached": True}})
    assert old["status"] == {"attached": False}
    text = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
    assert errors_of(strategy, ctx, having(old, spec__source={})) == [f"spec.source: Required value: {text}"]
    assert errors_of(strategy, ctx, having(old, spec__source__inlineVolumeSpec={})) == [
        f"spec.source: Forbidden: {text}"
    ]
    assert cells(volumeattachments.COLUMNS, old) == {
        "Attacher": "example.com", "PV": "v", "Node": "n", "Attached": False,
    }  # fmt: skip


def test_capacities_and_attribute_classes_keep_what_they_are_about(ctx: Context) -> None:
    capacity = {"metadata": {"name": "c", "namespace": "ns"}, "storageClassName": "fast", "capacity": "1Gi"}
    assert errors_of(csistoragecapacities.STRATEGY, ctx, having(capacity, capacity="-1")) == [
        'capacity: Invalid value: "-1": must be greater than or equal to 0'
    ]
    assert changed(csistoragecapacities.STRATEGY, ctx, capacity, having(capacity, storageClassName="slow"))[1] == [
        'storageClassName: Invalid value: "slow": field is immutable'
    ]
    attributes = {"metadata": {"name": "gold"}, "driverName": "d.example.com", "parameters": {"iops": "9"}}
    assert errors_of(volumeattributesclasses.STRATEGY, ctx, having(attributes, parameters={})) == [
        "parameters: Required value: must contain at least one name/value pair"
    ]
    assert changed(volumeattributesclasses.STRATEGY, ctx, attributes, having(attributes, driverName="e"))[1] == [
        'driverName: Invalid value: "e": field is immutable'
    ]
