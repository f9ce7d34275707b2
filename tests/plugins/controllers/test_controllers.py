"""Controllers against a real server on each store, and their parts alone."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, cast

import pytest

from apiserver.api.names import GroupResource
from apiserver.api.server import Server
from apiserver.api.settings import Config
from apiserver_plugins.controllers.controllers import enabled
from apiserver_plugins.controllers.namespace_conditions import conditions_of
from apiserver_plugins.controllers.system_namespaces import ensure
from tests.plugins.resources.fake_server import FakeServer
from tests.server import ServerProcess

PATIENCE = 20.0


def eventually(look: Callable[[], Any]) -> Any:
    """What ``look`` returns as soon as it is true."""
    deadline = time.monotonic() + PATIENCE
    while True:
        found = look()
        if found or time.monotonic() > deadline:
            return found
        time.sleep(0.05)


def status(server: ServerProcess, path: str) -> int:
    return server.client.get(path).status_code


@pytest.mark.parametrize("name", ["default", "kube-system", "kube-public", "kube-node-lease"])
def test_system_namespaces_exist(server: ServerProcess, name: str) -> None:
    assert status(server, f"/api/v1/namespaces/{name}") == 200


def test_missing_system_namespaces_are_made_and_present_ones_left_alone() -> None:
    server = FakeServer()
    namespaces = server.serve("", "namespaces")
    mine = {"metadata": {"name": "default", "labels": {"mine": "yes"}}}
    namespaces.add(mine)
    ensure(cast(Server, server))
    assert {name for _, name in namespaces.objects} == {"default", "kube-system", "kube-public", "kube-node-lease"}
    assert namespaces.objects["", "default"] is mine


def test_a_new_namespace_gets_an_account_and_the_certificate_authority(server: ServerProcess, namespace: str) -> None:
    base = f"/api/v1/namespaces/{namespace}"
    assert eventually(lambda: status(server, f"{base}/serviceaccounts/default") == 200)
    assert eventually(lambda: status(server, f"{base}/configmaps/kube-root-ca.crt") == 200)
    bundle = server.client.get(f"{base}/configmaps/kube-root-ca.crt").json()["data"]["ca.crt"]
    assert bundle == server.ca.read_text()


def test_a_deleted_account_comes_back(server: ServerProcess, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/default"
    assert eventually(lambda: status(server, path) == 200)
    first = server.client.get(path).json()["metadata"]["uid"]
    server.client.delete(path).raise_for_status()
    assert eventually(lambda: server.client.get(path).json()["metadata"].get("uid", first) != first)


def test_a_deleted_namespace_is_emptied_and_goes(server: ServerProcess, namespace: str) -> None:
    base = f"/api/v1/namespaces/{namespace}"
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}
    server.client.post(f"{base}/configmaps", json=body).raise_for_status()
    server.client.delete(base).raise_for_status()
    assert eventually(lambda: status(server, base) == 404)
    assert status(server, f"{base}/configmaps/c") == 404


def test_a_finalizer_inside_holds_a_namespace(server: ServerProcess, namespace: str) -> None:
    base = f"/api/v1/namespaces/{namespace}"
    metadata = {"name": "held", "finalizers": ["example.com/x"]}
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
    server.client.post(f"{base}/configmaps", json=body).raise_for_status()
    server.client.delete(base).raise_for_status()

    def remaining() -> str:
        conditions = server.client.get(base).json()["status"].get("conditions") or ()
        found = [c["message"] for c in conditions if c["type"] == "NamespaceFinalizersRemaining"]
        return found[0] if found else ""

    assert eventually(remaining) == (
        "Some content in the namespace has finalizers remaining: example.com/x in 1 resource instances"
    )
    server.client.patch(
        f"{base}/configmaps/held",
        json={"metadata": {"finalizers": None}},
        headers={"Content-Type": "application/merge-patch+json"},
    ).raise_for_status()
    assert eventually(lambda: status(server, base) == 404)


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        (("*",), True),
        ((), False),
        (("-*",), False),
        (("*", "-namespace-controller"), False),
        (("namespace-controller",), True),
        (("-*", "namespace-controller"), True),
        (("*", "-other"), True),
    ],
)
def test_which_controllers_run(chosen: tuple[str, ...], expected: bool) -> None:
    assert enabled(Config({"controllers": chosen}), "namespace-controller") is expected


def test_conditions_tell_what_remains() -> None:
    first = conditions_of([], {GroupResource("", "pods"): 2}, {"example.com/x": 1}, ["no"])
    told = {c["type"]: (c["status"], c["reason"], c["message"]) for c in first}
    assert told["NamespaceContentRemaining"] == (
        "True",
        "SomeResourcesRemain",
        "Some resources are remaining: pods. has 2 resource instances",
    )
    assert told["NamespaceDeletionContentFailure"][1] == "ContentDeletionFailed"
    assert told["NamespaceDeletionDiscoveryFailure"][0] == "False"


def test_a_condition_that_stays_keeps_its_time() -> None:
    old = conditions_of([], {}, {}, [])
    for condition in old:
        condition["lastTransitionTime"] = "2020-01-01T00:00:00Z"
    new = conditions_of(old, {GroupResource("", "pods"): 1}, {}, [])
    times = {c["type"]: c["lastTransitionTime"] for c in new}
    assert times["NamespaceFinalizersRemaining"] == "2020-01-01T00:00:00Z"
    assert times["NamespaceContentRemaining"] != "2020-01-01T00:00:00Z"
