"""DELETE of one object: at once, with finalizers, with grace, with preconditions."""

from __future__ import annotations

from typing import Any

import pytest

from tests.handlers.kit import Object, created, named, pod, refused
from tests.server import ServerProcess


def finalized(name: str, *finalizers: str) -> Object:
    return {"metadata": {"name": name, "finalizers": list(finalizers)}}


def test_a_deleted_object_is_gone_and_a_status_says_which_it_was(server: ServerProcess, configmaps: str) -> None:
    made = created(server, configmaps, named("a"))
    answer = server.delete(f"{configmaps}/a")
    assert answer.status_code == 200
    assert answer.json() == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {"name": "a", "kind": "configmaps", "uid": made["metadata"]["uid"]},
    }
    assert server.get(f"{configmaps}/a").status_code == 404
    refused(server.delete(f"{configmaps}/a"), 404, "NotFound")


def test_some_kinds_answer_with_the_object(server: ServerProcess, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts"
    made = created(server, path, named("a"))
    answer = server.delete(f"{path}/a").json()
    assert (answer["kind"], answer["metadata"]["uid"]) == ("ServiceAccount", made["metadata"]["uid"])


def test_a_name_is_free_again(server: ServerProcess, configmaps: str) -> None:
    first = created(server, configmaps, named("a"))
    server.delete(f"{configmaps}/a")
    assert created(server, configmaps, named("a"))["metadata"]["uid"] != first["metadata"]["uid"]


# -- finalizers ------------------------------------------------------------------------------------------------------


def test_an_object_with_finalizers_waits_for_them(server: ServerProcess, configmaps: str) -> None:
    created(server, configmaps, finalized("a", "example.com/one", "example.com/two"))
    answer = server.delete(f"{configmaps}/a")
    waiting = answer.json()
    assert (answer.status_code, waiting["kind"]) == (200, "ConfigMap")
    assert waiting["metadata"]["deletionTimestamp"]
    assert waiting["metadata"]["deletionGracePeriodSeconds"] == 0
    assert server.get(f"{configmaps}/a").json() == waiting
    again = server.delete(f"{configmaps}/a").json()
    assert again["metadata"]["deletionTimestamp"] == waiting["metadata"]["deletionTimestamp"]
    server.patch(f"{configmaps}/a", {"metadata": {"finalizers": ["example.com/two"]}})
    assert server.get(f"{configmaps}/a").status_code == 200
    last = server.patch(f"{configmaps}/a", {"metadata": {"finalizers": None}})
    assert last.status_code == 200
    assert server.get(f"{configmaps}/a").status_code == 404


def test_a_waiting_object_gets_no_more_finalizers_and_its_name_stays_taken(
    server: ServerProcess, configmaps: str
) -> None:
    created(server, configmaps, finalized("a", "example.com/one"))
    server.delete(f"{configmaps}/a")
    patch = {"metadata": {"finalizers": ["example.com/one", "example.com/more"]}}
    status = refused(server.patch(f"{configmaps}/a", patch), 422, "Invalid")
    assert "no new finalizers can be added if the object is being deleted" in status["message"]
    status = refused(server.post(configmaps, named("a")), 409, "AlreadyExists")
    assert status["message"] == 'object is being deleted: configmaps "a" already exists'


@pytest.mark.parametrize(
    ("options", "finalizers"),
    [
        ({"propagationPolicy": "Foreground"}, ["foregroundDeletion"]),
        ({"propagationPolicy": "Orphan"}, ["orphan"]),
        ({"orphanDependents": True}, ["orphan"]),
    ],
)
def test_what_happens_to_dependents_is_a_finalizer(
    server: ServerProcess, configmaps: str, options: dict[str, Any], finalizers: list[str]
) -> None:
    created(server, configmaps, named("a"))
    answer = server.delete(f"{configmaps}/a", options)
    assert (answer.status_code, answer.json()["metadata"]["finalizers"]) == (200, finalizers)


def test_dependents_that_are_deleted_later_need_none(server: ServerProcess, configmaps: str) -> None:
    created(server, configmaps, named("a"))
    server.delete(f"{configmaps}/a", {"propagationPolicy": "Background"})
    assert server.get(f"{configmaps}/a").status_code == 404


# -- preconditions ---------------------------------------------------------------------------------------------------


def test_another_object_of_that_name_is_not_deleted(server: ServerProcess, configmaps: str) -> None:
    made = created(server, configmaps, named("a"))
    status = refused(server.delete(f"{configmaps}/a", {"preconditions": {"uid": "other"}}), 409, "Conflict")
    text = f"the UID in the precondition (other) does not match the UID in record ({made['metadata']['uid']})."
    assert text in status["message"]
    assert server.delete(f"{configmaps}/a", {"preconditions": {"uid": made["metadata"]["uid"]}}).status_code == 200


def test_a_newer_version_is_not_deleted(server: ServerProcess, configmaps: str) -> None:
    old = created(server, configmaps, named("a"))["metadata"]["resourceVersion"]
    new = server.patch(f"{configmaps}/a", {"data": {"x": "1"}}).json()["metadata"]["resourceVersion"]
    options = {"preconditions": {"resourceVersion": old}}
    refused(server.delete(f"{configmaps}/a", options), 409, "Conflict")
    assert server.delete(f"{configmaps}/a", {"preconditions": {"resourceVersion": new}}).status_code == 200


# -- options ---------------------------------------------------------------------------------------------------------


def test_options_may_stand_in_the_query(server: ServerProcess, configmaps: str) -> None:
    created(server, configmaps, named("a"))
    answer = server.delete(f"{configmaps}/a?propagationPolicy=Foreground")
    assert answer.json()["metadata"]["finalizers"] == ["foregroundDeletion"]


def test_a_body_makes_the_query_count_for_nothing(server: ServerProcess, configmaps: str) -> None:
    created(server, configmaps, named("a"))
    server.delete(f"{configmaps}/a?dryRun=All", {"propagationPolicy": "Background"})
    assert server.get(f"{configmaps}/a").status_code == 404


@pytest.mark.parametrize("body", [None, {"dryRun": ["All"]}])
def test_a_dry_run_deletes_nothing(server: ServerProcess, configmaps: str, body: Any) -> None:
    created(server, configmaps, named("a"))
    assert server.delete(f"{configmaps}/a{'' if body else '?dryRun=All'}", body).json()["status"] == "Success"
    assert server.get(f"{configmaps}/a").status_code == 200


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"propagationPolicy": "Sideways"}, "propagationPolicy: Unsupported value"),
        ({"propagationPolicy": "Orphan", "orphanDependents": True}, "cannot be both set"),
        ({"dryRun": ["Some"]}, "dryRun: Unsupported value"),
    ],
)
def test_options_are_checked(server: ServerProcess, configmaps: str, options: dict[str, Any], text: str) -> None:
    created(server, configmaps, named("a"))
    status = refused(server.delete(f"{configmaps}/a", options), 422, "Invalid")
    assert status["details"]["kind"] == "DeleteOptions"
    assert text in status["message"]


@pytest.mark.parametrize("body", [{"kind": "ConfigMap", "apiVersion": "v1"}, {"gracePeriodSeconds": "soon"}, []])
def test_a_body_holds_options(server: ServerProcess, configmaps: str, body: Any) -> None:
    created(server, configmaps, named("a"))
    refused(server.delete(f"{configmaps}/a", body), 400, "BadRequest")


# -- grace -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def pods(namespace: str) -> str:
    return f"/api/v1/namespaces/{namespace}/pods"


def test_a_pod_on_a_node_is_given_time(server: ServerProcess, pods: str) -> None:
    created(server, pods, pod("a", nodeName="node-1"))
    waiting = server.delete(f"{pods}/a").json()
    assert waiting["metadata"]["deletionGracePeriodSeconds"] == 30
    assert server.get(f"{pods}/a").json() == waiting
    shorter = server.delete(f"{pods}/a", {"gracePeriodSeconds": 5}).json()
    assert shorter["metadata"]["deletionGracePeriodSeconds"] == 5
    assert shorter["metadata"]["deletionTimestamp"] < waiting["metadata"]["deletionTimestamp"]
    longer = server.delete(f"{pods}/a", {"gracePeriodSeconds": 50}).json()
    assert longer["metadata"]["deletionGracePeriodSeconds"] == 5
    server.delete(f"{pods}/a", {"gracePeriodSeconds": 0})
    assert server.get(f"{pods}/a").status_code == 404


def test_a_pod_that_runs_nowhere_is_deleted_at_once(server: ServerProcess, pods: str) -> None:
    created(server, pods, pod("a"))
    assert server.delete(f"{pods}/a", {"gracePeriodSeconds": 60}).json()["kind"] == "Pod"
    assert server.get(f"{pods}/a").status_code == 404


def test_negative_grace_is_a_second(server: ServerProcess, pods: str) -> None:
    created(server, pods, pod("a", nodeName="node-1"))
    waiting = server.delete(f"{pods}/a", {"gracePeriodSeconds": -5}).json()
    assert waiting["metadata"]["deletionGracePeriodSeconds"] == 1


# -- namespaces ------------------------------------------------------------------------------------------------------


def test_a_namespace_is_emptied_before_it_goes(server: ServerProcess, namespace: str, configmaps: str) -> None:
    created(server, configmaps, finalized("a", "example.com/keep"))
    waiting = server.delete(f"/api/v1/namespaces/{namespace}").json()
    assert (waiting["kind"], waiting["status"]["phase"]) == ("Namespace", "Terminating")
    status = refused(server.post(configmaps, named("b")), 403, "Forbidden")
    assert "because it is being terminated" in status["message"]
    assert status["details"]["causes"][0]["reason"] == "NamespaceTerminating"
    assert server.get(f"/api/v1/namespaces/{namespace}").status_code == 200
    events = server.watch("/api/v1/namespaces", fieldSelector=f"metadata.name={namespace}")
    server.patch(f"{configmaps}/a", {"metadata": {"finalizers": None}})
    assert any(event["type"] == "DELETED" for event in events)
    events.close()
    assert server.get(f"/api/v1/namespaces/{namespace}").status_code == 404


@pytest.mark.parametrize("name", ["default", "kube-system", "kube-public"])
def test_some_namespaces_stay(server: ServerProcess, name: str) -> None:
    status = refused(server.delete(f"/api/v1/namespaces/{name}"), 403, "Forbidden")
    assert status["message"] == f'namespaces "{name}" is forbidden: this namespace may not be deleted'
