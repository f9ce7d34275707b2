"""The scale of a workload: what it shows, and what writing it changes."""

from __future__ import annotations

from typing import Any, cast

import pytest

from apiserver.api.encoded import EncodedObject
from apiserver.api.errors import ApiError
from apiserver.api.request import Request
from apiserver.api.resource import Resource, ScalePaths
from apiserver.api.rest import Context, GetOptions, WriteOptions
from apiserver.registry.scale import ScaleStore
from apiserver.registry.store import Store

CTX = Context(Request({"REQUEST_METHOD": "PUT"}), "ns")


class OneObject:
    """A store of one object."""

    resource = Resource(group="apps", version="v1", kind="ReplicaSet", plural="replicasets")

    def __init__(self, obj: dict[str, Any]) -> None:
        self.object = EncodedObject.of(obj)

    def get(self, _ctx: Context, _name: str, _options: GetOptions) -> EncodedObject:
        return self.object

    def seen(self, obj: dict[str, Any]) -> dict[str, Any]:
        return obj

    def update(self, _ctx: Context, _name: str, transform: Any, _options: Any, validate: Any) -> Any:
        old = self.object.decode()
        new = transform(old, self.object)
        assert old == self.object.decode()
        validate(new, old)
        self.object = EncodedObject.of(new)
        return self.object, False


@pytest.fixture
def stored() -> OneObject:
    metadata = {"name": "r", "namespace": "ns", "uid": "u", "resourceVersion": "7", "labels": {"x": "y"}}
    return OneObject({"metadata": metadata, "spec": {"replicas": 1, "other": True}, "status": {}})


@pytest.fixture
def scale(stored: OneObject) -> ScaleStore:
    return ScaleStore(cast(Store, stored), ScalePaths(selector=lambda _obj: "app=web"))


def with_replicas(count: int) -> Any:
    def transform(_old: Any, encoded: EncodedObject | None) -> dict[str, Any]:
        assert encoded is not None
        return {**encoded.decode(), "spec": {"replicas": count}, "status": {"replicas": 99}}

    return transform


def test_a_scale_shows_replicas_and_selector(scale: ScaleStore) -> None:
    assert scale.get(CTX, "r", GetOptions()).decode() == {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {"name": "r", "namespace": "ns", "uid": "u", "resourceVersion": "7"},
        "spec": {"replicas": 1},
        "status": {"replicas": 0, "selector": "app=web"},
    }


def test_scaling_changes_replicas_and_nothing_else(scale: ScaleStore, stored: OneObject) -> None:
    expected = stored.object.decode()
    expected["spec"]["replicas"] = 2
    seen: list[str] = []

    def validate(new: dict[str, Any], old: dict[str, Any] | None) -> None:
        assert old is not None
        seen.extend((new["kind"], old["kind"]))

    result, _ = scale.update(CTX, "r", with_replicas(2), WriteOptions(), validate)
    assert result.decode()["spec"] == {"replicas": 2}
    assert stored.object.decode() == {"kind": None, "apiVersion": None, **expected}
    assert seen == ["Scale", "Scale"]


def test_zero_replicas_are_left_out(scale: ScaleStore) -> None:
    result, _ = scale.update(CTX, "r", with_replicas(0), WriteOptions(), lambda _new, _old: None)
    assert result.decode()["spec"] == {}


def test_a_negative_scale_is_refused_as_a_scale(scale: ScaleStore) -> None:
    with pytest.raises(ApiError) as caught:
        scale.update(CTX, "r", with_replicas(-1), WriteOptions(), lambda _new, _old: None)
    assert caught.value.message == (
        'Scale.autoscaling "r" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0'
    )
