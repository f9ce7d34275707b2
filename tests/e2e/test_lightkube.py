"""The Python client ``lightkube``, unchanged, against a real server on each store."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from lightkube import ApiError, Client, KubeConfig
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.apps_v1 import Deployment
from lightkube.resources.core_v1 import ConfigMap
from lightkube.types import CascadeType, PatchType

from tests.server import ServerProcess


@pytest.fixture
def kube(server: ServerProcess, namespace: str) -> Iterator[Client]:
    with Client(KubeConfig.from_file(server.kubeconfig), namespace=namespace, field_manager="tester") as made:
        yield made


def configmap(name: str, **data: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, labels={"test": "mine"}), data=data)


def test_objects_are_created_listed_replaced_and_deleted(kube: Client) -> None:
    made = kube.create(configmap("one", colour="red"))
    assert made.data is not None
    made.data["colour"] = "blue"
    assert kube.replace(made).data == {"colour": "blue"}
    for number in range(7):
        kube.create(configmap(f"other-{number}"))
    listed = [item.metadata.name for item in kube.list(ConfigMap, labels={"test": "mine"}, chunk_size=3)]
    assert listed == ["one", *(f"other-{number}" for number in range(7))]
    kube.delete(ConfigMap, "one", cascade=CascadeType.BACKGROUND)
    with pytest.raises(ApiError) as gone:
        kube.get(ConfigMap, "one")
    assert gone.value.status.reason == "NotFound"
    kube.deletecollection(ConfigMap)
    assert not list(kube.list(ConfigMap, labels={"test": "mine"}))


@pytest.mark.parametrize(
    ("kind", "patch"),
    [
        (PatchType.MERGE, {"data": {"colour": "blue"}}),
        (PatchType.STRATEGIC, {"data": {"colour": "blue"}}),
        (PatchType.JSON, [{"op": "replace", "path": "/data/colour", "value": "blue"}]),
        (PatchType.APPLY, {"apiVersion": "v1", "kind": "ConfigMap", "data": {"colour": "blue"}}),
    ],
)
def test_objects_are_patched_in_each_way(kube: Client, kind: PatchType, patch: object) -> None:
    kube.create(configmap("patched", colour="red", size="big"))
    changed = kube.patch(ConfigMap, "patched", patch, patch_type=kind, force=kind is PatchType.APPLY)
    assert changed.data == {"colour": "blue", "size": "big"}


def test_an_applied_object_is_made_and_owned(kube: Client) -> None:
    applied = kube.apply(configmap("applied", colour="red"))
    assert applied.metadata is not None
    assert applied.metadata.managedFields is not None
    assert [(entry.manager, entry.operation) for entry in applied.metadata.managedFields] == [("tester", "Apply")]
    assert kube.apply(configmap("applied", size="big")).data == {"size": "big"}


def test_a_watch_tells_what_happens(kube: Client) -> None:
    seen = []
    kube.create(configmap("before"))
    for kind, obj in kube.watch(ConfigMap, labels={"test": "mine"}, server_timeout=20):
        assert obj.metadata is not None
        seen.append((kind, obj.metadata.name, obj.data))
        if len(seen) == 1:
            kube.create(configmap("during"))
        elif len(seen) == 2:
            kube.patch(ConfigMap, "during", {"data": {"n": "1"}}, patch_type=PatchType.MERGE)
        elif len(seen) == 3:
            kube.delete(ConfigMap, "before")
        else:
            break
    assert seen == [
        ("ADDED", "before", None), ("ADDED", "during", None), ("MODIFIED", "during", {"n": "1"}),
        ("DELETED", "before", None),
    ]  # fmt: skip


def test_a_deployment_is_scaled_through_its_subresource(kube: Client) -> None:
    labels = {"app": "web"}
    spec = {
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "web", "image": "nginx:1"}]}},
    }
    kube.create(Deployment.from_dict({"metadata": {"name": "web"}, "spec": spec}))
    scale = kube.get(Deployment.Scale, "web")
    assert scale.spec is not None
    scale.spec.replicas = 4
    assert kube.replace(scale, "web").spec == scale.spec
    assert kube.get(Deployment, "web").spec.replicas == 4  # type: ignore[union-attr]  # it was created with one
