from __future__ import annotations

from typing import Any

from apiserver.registry.managedfields import record_update, scale
from tests.registry.managedfields.kinds import kind

PATHS = {"apps/v1": ("spec", "replicas"), "apps/v0": None}
SCALE = kind("autoscaling", "v1", "Scale")
T0, T1 = "2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"


def entry(manager: str, operation: str, fields: Any, **more: str) -> dict[str, Any]:
    made = {"manager": manager, "operation": operation, "apiVersion": "apps/v1", "time": T0}
    return {**made, "fieldsType": "FieldsV1", "fieldsV1": fields, **more}


def test_the_scale_shows_who_owns_the_replicas():
    parent = [
        entry("one", "Apply", {"f:spec": {"f:replicas": {}, "f:selector": {}}}),
        entry("old", "Update", {"f:spec": {"f:replicas": {}}}, apiVersion="apps/v0"),
        entry("two", "Update", {"f:spec": {"f:selector": {}}}),
    ]
    assert scale.to_scale(parent, PATHS) == [
        entry("one", "Apply", {"f:spec": {"f:replicas": {}}}, apiVersion="autoscaling/v1")
    ]
    assert scale.to_scale(None, PATHS) == []


def scaled(parent: list[dict[str, Any]], replicas: int, manager: str = "hpa") -> list[dict[str, Any]]:
    """The parent's entries after somebody set the replicas through the scale endpoint; they were 1."""
    live: dict[str, Any] = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "d", "uid": "u"}}
    live["metadata"]["managedFields"] = scale.to_scale(parent, PATHS)
    new = {**live, "metadata": dict(live["metadata"]), "spec": {"replicas": replicas}}
    live["spec"] = {"replicas": 1}
    record_update(live, new, manager=manager, api_version="autoscaling/v1", now=T1, type=SCALE, subresource="scale")
    return scale.to_parent(parent, new["metadata"].get("managedFields"), "apps/v1", PATHS)


def test_scaling_takes_the_replicas_without_a_time():
    parent = [entry("one", "Apply", {"f:spec": {"f:replicas": {}, "f:selector": {}}})]
    hpa = entry("hpa", "Update", {"f:spec": {"f:replicas": {}}}, subresource="scale")
    del hpa["time"]
    assert scaled(parent, 5) == [entry("one", "Apply", {"f:spec": {"f:selector": {}}}), hpa]
    assert scaled([*parent, hpa], 6) == [entry("one", "Apply", {"f:spec": {"f:selector": {}}}), hpa]


def test_an_owner_of_nothing_but_the_replicas_goes():
    parent = [entry("one", "Apply", {"f:spec": {"f:replicas": {}}})]
    assert [e["manager"] for e in scaled(parent, 5)] == ["hpa"]


def test_scaling_to_the_same_number_changes_no_applier():
    parent = [entry("one", "Apply", {"f:spec": {"f:replicas": {}, "f:selector": {}}})]
    assert scaled(parent, 1) == parent


def test_entries_of_unknown_versions_are_dropped():
    assert scaled([entry("x", "Update", {"f:spec": {}}, apiVersion="apps/v9")], 1) == []
