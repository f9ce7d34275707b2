"""The garbage collector, on real servers with either store, and on several processes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from apiserver import Resource
from apiserver.api.names import GroupResource
from apiserver.api.rest import DeleteOptions, WriteOptions
from apiserver.testing.server import LocalServer
from tests.plugins.controllers.owning import Namespace, eventually, reference
from tests.server import ServerProcess

DEMO = {"apiVersion": "demo.example.com/v1", "kind": "Demo"}


@pytest.fixture
def maps(server: ServerProcess, namespace: str) -> Namespace:
    return Namespace(server, namespace)


def owners(obj: dict[str, Any] | None) -> list[str]:
    assert obj is not None
    return [ref["name"] for ref in obj["metadata"].get("ownerReferences", [])]


def test_dependents_are_deleted_after_their_owner_to_any_depth(maps: Namespace) -> None:
    owner = maps.make("owner")
    child = maps.make("child", reference(owner))
    maps.make("grandchild", reference(child))
    maps.delete("owner")
    assert maps.gone("child", "grandchild")


def test_what_has_another_owner_stays_and_loses_the_reference(maps: Namespace) -> None:
    first, second = maps.make("first"), maps.make("second")
    maps.make("child", reference(first), reference(second))
    maps.delete("first")
    assert eventually(lambda: owners(maps.get("child")) == ["second"])
    maps.delete("second")
    assert maps.gone("child")


def test_an_owner_that_never_existed_takes_its_dependents_with_it(maps: Namespace) -> None:
    never = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "never", "uid": "11111111"}}
    maps.make("child", reference(never))
    assert maps.gone("child")


def test_an_owner_of_the_same_name_but_another_uid_does_not_count(maps: Namespace) -> None:
    owner = maps.make("owner")
    maps.make("child", reference(owner, uid="22222222"))
    maps.make("sound", reference(owner))
    assert maps.gone("child")
    assert owners(maps.get("sound")) == ["owner"]


def test_an_owner_that_comes_again_under_its_name_is_another_one(maps: Namespace) -> None:
    owner = maps.make("owner")
    maps.make("child", reference(owner))
    maps.delete("owner")
    maps.make("owner")
    assert maps.gone("child")


def test_orphans_lose_the_reference_and_stay(maps: Namespace) -> None:
    owner = maps.make("owner")
    maps.make("child", reference(owner))
    answer = maps.delete("owner", "Orphan")
    assert answer["metadata"]["finalizers"] == ["orphan"]
    assert maps.gone("owner")
    child = maps.get("child")
    assert owners(child) == []
    maps.settle()
    assert maps.get("child") == child


def test_an_orphans_reference_is_nobodys_field_any_more(maps: Namespace) -> None:
    owner = maps.make("owner")
    child = maps.make("child", reference(owner))
    assert "f:ownerReferences" in str(child["metadata"]["managedFields"])
    maps.delete("owner", "Orphan")
    assert maps.gone("owner")
    left = maps.get("child")
    assert left is not None
    assert "f:ownerReferences" not in str(left["metadata"].get("managedFields"))


def test_a_foreground_deletion_waits_for_dependents_that_block(maps: Namespace) -> None:
    owner = maps.make("owner")
    maps.make("held", reference(owner, blocking=True), finalizers=("example.com/hold",))
    maps.make("free", reference(owner, blocking=True))
    answer = maps.delete("owner", "Foreground")
    assert answer["metadata"]["finalizers"] == ["foregroundDeletion"]
    assert maps.gone("free")
    maps.settle()
    waiting, held = maps.get("owner"), maps.get("held")
    assert waiting is not None
    assert waiting["metadata"]["finalizers"] == ["foregroundDeletion"]
    assert held is not None
    assert "deletionTimestamp" in held["metadata"]
    maps.server.patch(f"{maps.path}/held", {"metadata": {"finalizers": None}})
    assert maps.gone("held", "owner")


def test_a_foreground_deletion_does_not_wait_for_dependents_that_do_not_block(maps: Namespace) -> None:
    owner = maps.make("owner")
    maps.make("held", reference(owner), finalizers=("example.com/hold",))
    maps.delete("owner", "Foreground")
    assert maps.gone("owner")
    assert maps.get("held") is not None
    maps.server.patch(f"{maps.path}/held", {"metadata": {"finalizers": None}})
    assert maps.gone("held")


def test_a_dependent_that_no_longer_blocks_lets_its_owner_go(maps: Namespace) -> None:
    owner, other = maps.make("owner"), maps.make("other")
    maps.make("held", reference(owner, blocking=True), reference(other), finalizers=("example.com/hold",))
    maps.delete("owner", "Foreground")
    # It has another owner: it loses the one that waits for it.
    assert maps.gone("owner")
    assert owners(maps.get("held")) == ["other"]


def test_a_foreground_deletion_goes_down_the_tree_from_the_leaves(maps: Namespace) -> None:
    owner = maps.make("owner")
    child = maps.make("child", reference(owner, blocking=True))
    maps.make("leaf", reference(child, blocking=True), finalizers=("example.com/hold",))
    maps.delete("owner", "Foreground")

    def descended() -> bool:
        leaf = maps.get("leaf")
        return leaf is not None and "deletionTimestamp" in leaf["metadata"]

    assert eventually(descended)
    middle = maps.get("child")
    assert middle is not None
    assert middle["metadata"]["finalizers"] == ["foregroundDeletion"]
    assert maps.get("owner") is not None
    maps.server.patch(f"{maps.path}/leaf", {"metadata": {"finalizers": None}})
    assert maps.gone("leaf", "child", "owner")


def test_owners_in_a_circle_are_deleted(maps: Namespace) -> None:
    first = maps.make("first")
    second = maps.make("second", reference(first, blocking=True))
    maps.server.patch(
        f"{maps.path}/first", {"metadata": {"ownerReferences": [reference(second, blocking=True)]}}
    ).raise_for_status()
    maps.delete("first", "Foreground")
    assert maps.gone("first", "second")


def test_a_cluster_scoped_owner_has_dependents_in_namespaces(maps: Namespace) -> None:
    name = f"owner-{maps.name}"
    made = maps.server.post("/api/v1/namespaces", {"metadata": {"name": name}}).json()
    maps.make("child", reference({"apiVersion": "v1", "kind": "Namespace", **made}))
    maps.settle()
    assert maps.get("child") is not None
    maps.server.delete(f"/api/v1/namespaces/{name}").raise_for_status()
    assert maps.gone("child")


def reasons(maps: Namespace, namespace: str, uid: str) -> list[dict[str, Any]]:
    found = maps.server.get(f"/api/v1/namespaces/{namespace}/events").json()["items"]
    return [e for e in found if e["involvedObject"].get("uid") == uid and e["reason"] == "OwnerRefInvalidNamespace"]


def test_an_owner_in_another_namespace_is_reported_and_does_not_count(maps: Namespace) -> None:
    elsewhere = Namespace(maps.server, maps.server.namespace(f"{maps.name}-other"))
    owner = elsewhere.make("owner")
    child = maps.make("child", reference(owner))
    assert maps.gone("child")
    (event,) = eventually(lambda: reasons(maps, maps.name, child["metadata"]["uid"]))
    uid = owner["metadata"]["uid"]
    assert event["message"] == (
        f"ownerRef [v1/ConfigMap, namespace: {maps.name}, name: owner, uid: {uid}] does not exist in namespace "
        f'"{maps.name}"'
    )
    assert event["type"] == "Warning"
    assert event["source"] == {"component": "garbage-collector-controller"}


def test_a_cluster_scoped_object_with_an_owner_in_a_namespace_is_reported_and_stays(maps: Namespace) -> None:
    owner = maps.make("owner")
    body = {"metadata": {"name": f"child-{maps.name}", "ownerReferences": [reference(owner)]}}
    child = maps.server.post("/api/v1/namespaces", body).json()
    assert eventually(lambda: reasons(maps, "default", child["metadata"]["uid"]))
    maps.delete("owner")
    maps.settle()
    found = maps.server.get(f"/api/v1/namespaces/child-{maps.name}").json()
    assert "deletionTimestamp" not in found["metadata"]


def test_owners_of_kinds_that_are_not_served_hold_their_dependents(maps: Namespace) -> None:
    unknown = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w", "uid": "33333333"}}
    maps.make("child", reference(unknown))
    maps.settle()
    assert owners(maps.get("child")) == ["w"]


def test_what_vanished_while_nobody_looked_is_collected_at_the_next_start(tmp_path: Path) -> None:
    off = ServerProcess(tmp_path, "--controllers=")
    with off:
        maps = Namespace(off, off.namespace("n"))
        owner = maps.make("owner")
        maps.make("child", reference(owner))
        other = maps.make("other")
        maps.make("orphan", reference(other))
        maps.delete("owner")
        maps.delete("other", "Orphan")
    with ServerProcess(tmp_path) as on:
        maps = Namespace(on, "n")
        assert maps.gone("child", "other")
        assert owners(maps.get("orphan")) == []


def test_without_controllers_nothing_is_collected(tmp_path: Path) -> None:
    with ServerProcess(tmp_path, "--controllers=*,-garbage-collector-controller") as server:
        maps = Namespace(server, server.namespace("n"))
        owner = maps.make("owner")
        maps.make("child", reference(owner))
        maps.delete("owner")
        # The controller for service accounts has made its round meanwhile.
        assert eventually(lambda: server.get("/api/v1/namespaces/n/serviceaccounts/default").status_code == 200)
        assert maps.get("child") is not None


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server of two worker processes."""
    with ServerProcess(tmp_path_factory.mktemp("pair"), "--workers=2") as server:
        yield server


def test_several_processes_collect_each_object_once(pair: ServerProcess) -> None:
    maps = Namespace(pair, pair.namespace(f"many-{os.getpid()}"))
    owner = maps.make("owner")
    for i in range(40):
        maps.make(f"child-{i:02}", reference(owner, blocking=True))
    version = pair.get(maps.path).json()["metadata"]["resourceVersion"]
    maps.delete("owner", "Foreground")
    assert maps.gone("owner")
    deleted = []
    for event in pair.watch(maps.path, resourceVersion=version, timeoutSeconds=5):
        if event["type"] == "DELETED":
            deleted.append(event["object"]["metadata"]["name"])
        if event["object"]["metadata"]["name"] == "owner" and event["type"] == "DELETED":
            break
    assert sorted(deleted) == sorted(["owner", *(f"child-{i:02}" for i in range(40))])
    assert deleted[-1] == "owner"
    assert "Traceback" not in pair.log.read_text()


def test_kinds_that_are_served_later_are_followed_from_then_on() -> None:
    maps, demos = "/api/v1/namespaces/default/configmaps", GroupResource("demo.example.com", "demos")
    with LocalServer() as local:
        server = local.server
        metadata = {"name": "child", "ownerReferences": [{**DEMO, "name": "none", "uid": "44444444"}]}
        assert local.post(maps, {"metadata": metadata}).status == 201
        declared = Resource("demo.example.com", "v1", "Demo", "demos", schema={"type": "object"}, namespaced=False)
        server.kinds.add([declared])
        server.installation.add([declared])
        assert eventually(lambda: local.get(f"{maps}/child").status == 404)
        body = {**DEMO, "metadata": {"name": "owner"}}
        context = server.system_context()
        owner = server.store(demos).create(context, body, WriteOptions(), lambda _obj, _old: None).decode()
        metadata = {"name": "child", "ownerReferences": [reference(owner)]}
        assert local.post(maps, {"metadata": metadata}).status == 201
        server.store(demos).delete(context, "owner", DeleteOptions(), lambda _obj: None)
        assert eventually(lambda: local.get(f"{maps}/child").status == 404)
