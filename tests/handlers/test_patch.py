"""PATCH in its four forms."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.handlers.kit import Object, created, deployment, named, refused, warnings
from tests.server import ServerProcess


def configmap(name: str, **data: str) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", **named(name, data=data)}


def test_a_merge_patch_sets_and_removes(server: ServerProcess, configmaps: str) -> None:
    made = created(server, configmaps, named("a", data={"x": "1", "y": "2"}))
    answer = server.patch(f"{configmaps}/a", {"data": {"x": None, "z": "3"}})
    assert (answer.status_code, answer.json()["data"]) == (200, {"y": "2", "z": "3"})
    assert answer.json()["metadata"]["uid"] == made["metadata"]["uid"]


def test_a_json_patch_is_applied_in_order(server: ServerProcess, configmaps: str) -> None:
    created(server, configmaps, named("a", data={"x": "1"}))
    operations = [
        {"op": "test", "path": "/data/x", "value": "1"},
        {"op": "add", "path": "/data/y", "value": "2"},
        {"op": "move", "from": "/data/x", "path": "/data/z"},
        {"op": "copy", "from": "/data/y", "path": "/data/copied"},
        {"op": "remove", "path": "/data/y"},
    ]
    assert server.patch(f"{configmaps}/a", operations, "json").json()["data"] == {"z": "1", "copied": "2"}


def test_a_json_patch_whose_test_fails_changes_nothing(server: ServerProcess, configmaps: str) -> None:
    made = created(server, configmaps, named("a", data={"x": "1"}))
    operations = [
        {"op": "add", "path": "/data/y", "value": "2"},
        {"op": "test", "path": "/data/x", "value": "other"},
    ]
    status = refused(server.patch(f"{configmaps}/a", operations, "json"), 422, "Invalid")
    assert status["message"] == "the server rejected our request due to an error in our request"
    assert server.get(f"{configmaps}/a").json() == made


def test_a_strategic_patch_knows_lists_by_their_keys(server: ServerProcess, deployments: str) -> None:
    created(server, deployments, deployment("web"))
    containers = [{"name": "side", "image": "side:1"}, {"name": "main", "image": "nginx:2"}]
    patch = {"spec": {"template": {"spec": {"containers": containers}}}}
    changed = server.patch(f"{deployments}/web", patch, "strategic").json()
    found = {c["name"]: c["image"] for c in changed["spec"]["template"]["spec"]["containers"]}
    assert found == {"main": "nginx:2", "side": "side:1"}
    patch = {"spec": {"template": {"spec": {"containers": [{"name": "side", "$patch": "delete"}]}}}}
    changed = server.patch(f"{deployments}/web", patch, "strategic").json()
    assert [c["name"] for c in changed["spec"]["template"]["spec"]["containers"]] == ["main"]


def test_a_merge_patch_replaces_lists(server: ServerProcess, deployments: str) -> None:
    created(server, deployments, deployment("web"))
    patch = {"spec": {"template": {"spec": {"containers": [{"name": "other", "image": "other:1"}]}}}}
    changed = server.patch(f"{deployments}/web", patch).json()
    assert [c["name"] for c in changed["spec"]["template"]["spec"]["containers"]] == ["other"]


@pytest.mark.parametrize(
    ("kind", "patch"),
    [("merge", {"data": {"x": "1"}}), ("strategic", {"data": {"x": "1"}}), ("json", [])],
)
def test_what_changes_nothing_is_not_written(server: ServerProcess, configmaps: str, kind: str, patch: Any) -> None:
    made = created(server, configmaps, named("a", data={"x": "1"}))
    assert server.patch(f"{configmaps}/a", patch, kind).json() == made


def test_what_is_not_there_is_not_found(server: ServerProcess, configmaps: str) -> None:
    for kind in ("merge", "strategic"):
        refused(server.patch(f"{configmaps}/a", {}, kind), 404, "NotFound")


def test_a_patch_without_a_version_never_conflicts(server: ServerProcess, configmaps: str) -> None:
    created(server, configmaps, named("a"))

    def patch(number: int) -> list[int]:
        with server.connect() as client:
            headers = {"Content-Type": "application/merge-patch+json"}
            bodies = [{"data": {f"k{number}-{step}": "x"}} for step in range(8)]
            return [client.patch(f"{configmaps}/a", json=body, headers=headers).status_code for body in bodies]

    with ThreadPoolExecutor(6) as threads:
        assert all(code == 200 for codes in threads.map(patch, range(6)) for code in codes)
    assert len(server.get(f"{configmaps}/a").json()["data"]) == 48


def test_a_patch_with_an_old_version_is_a_conflict(server: ServerProcess, configmaps: str) -> None:
    version = created(server, configmaps, named("a"))["metadata"]["resourceVersion"]
    patch = {"metadata": {"resourceVersion": version}, "data": {"x": "1"}}
    assert server.patch(f"{configmaps}/a", patch).status_code == 200
    refused(server.patch(f"{configmaps}/a", {**patch, "data": {"x": "2"}}), 409, "Conflict")


@pytest.mark.parametrize(("field", "value"), [("name", "b"), ("namespace", "other")])
def test_an_object_is_not_moved(server: ServerProcess, configmaps: str, field: str, value: str) -> None:
    created(server, configmaps, named("a"))
    refused(server.patch(f"{configmaps}/a", {"metadata": {field: value}}), 400, "BadRequest")


def test_the_identity_does_not_change(server: ServerProcess, configmaps: str) -> None:
    created(server, configmaps, named("a"))
    status = refused(server.patch(f"{configmaps}/a", {"metadata": {"uid": "other"}}), 422, "Invalid")
    assert "metadata.uid: Invalid value" in status["message"]


def test_the_content_type_says_which_form_it_is(server: ServerProcess, configmaps: str) -> None:
    created(server, configmaps, named("a"))
    for media in ("application/json", "application/yaml", "text/plain"):
        answer = server.client.patch(f"{configmaps}/a", content="{}", headers={"Content-Type": media})
        refused(answer, 415, "UnsupportedMediaType")


@pytest.mark.parametrize("kind", ["merge", "json", "strategic"])
def test_a_patch_must_be_json(server: ServerProcess, configmaps: str, kind: str) -> None:
    created(server, configmaps, named("a"))
    media = "merge-patch" if kind == "merge" else "json-patch" if kind == "json" else "strategic-merge-patch"
    headers = {"Content-Type": f"application/{media}+json"}
    refused(server.client.patch(f"{configmaps}/a", content="{", headers=headers), 400, "BadRequest")


def test_a_patch_of_ten_thousand_operations_is_the_longest(server: ServerProcess, configmaps: str) -> None:
    created(server, configmaps, named("a", data={"x": "1"}))
    operations = [{"op": "test", "path": "/data/x", "value": "1"}] * 10001
    status = refused(server.patch(f"{configmaps}/a", operations, "json"), 413, "RequestEntityTooLarge")
    assert "The allowed maximum operations in a JSON patch is 10000, got 10001" in status["message"]


def test_unknown_fields_of_a_patch_are_warned_of(server: ServerProcess, configmaps: str) -> None:
    created(server, configmaps, named("a"))
    answer = server.patch(f"{configmaps}/a", {"colour": "red", "data": {"x": "1"}})
    assert warnings(answer) == ['"unknown field \\"colour\\""']
    assert "colour" not in answer.json()
    refused(server.patch(f"{configmaps}/a?fieldValidation=Strict", {"colour": "red"}), 422, "Invalid")


def test_the_status_is_patched_at_its_own_path(server: ServerProcess, deployments: str) -> None:
    created(server, deployments, deployment("web"))
    patch = {"status": {"replicas": 2}, "spec": {"replicas": 9}}
    changed = server.patch(f"{deployments}/web/status", patch).json()
    assert (changed["status"]["replicas"], changed["spec"]["replicas"]) == (2, 1)


def test_a_dry_run_answers_as_if_and_stores_nothing(server: ServerProcess, configmaps: str) -> None:
    made = created(server, configmaps, named("a"))
    answer = server.patch(f"{configmaps}/a?dryRun=All", {"data": {"x": "1"}})
    assert answer.json()["data"] == {"x": "1"}
    assert server.get(f"{configmaps}/a").json() == made


@pytest.mark.parametrize(
    ("kind", "query", "text"),
    [
        ("merge", "force=true", "force: Forbidden: may not be specified for non-apply patch"),
        ("apply", "", "fieldManager: Required value: is required for apply patch"),
        ("merge", f"fieldManager={'m' * 129}", "fieldManager: Too long"),
        ("merge", "dryRun=Some", "dryRun: Unsupported value"),
    ],
)
def test_options_are_checked(server: ServerProcess, configmaps: str, kind: str, query: str, text: str) -> None:
    created(server, configmaps, named("a"))
    status = refused(server.patch(f"{configmaps}/a?{query}", configmap("a"), kind), 422, "Invalid")
    assert status["message"].startswith(f'PatchOptions.meta.k8s.io "" is invalid: {text}')


# -- apply -----------------------------------------------------------------------------------------------------------


def test_an_apply_creates_what_is_missing_and_owns_it(server: ServerProcess, configmaps: str) -> None:
    answer = server.patch(f"{configmaps}/a?fieldManager=me", configmap("a", x="1"), "apply")
    assert answer.status_code == 201
    (entry,) = answer.json()["metadata"]["managedFields"]
    assert (entry["manager"], entry["operation"], entry["fieldsV1"]) == ("me", "Apply", {"f:data": {"f:x": {}}})
    again = server.patch(f"{configmaps}/a?fieldManager=me", configmap("a", x="1"), "apply")
    assert (again.status_code, again.json()) == (200, answer.json())


def test_an_apply_removes_what_its_manager_does_not_say_any_more(server: ServerProcess, configmaps: str) -> None:
    server.patch(f"{configmaps}/a?fieldManager=me", configmap("a", x="1", y="2"), "apply")
    server.patch(f"{configmaps}/a", {"data": {"z": "3"}})
    changed = server.patch(f"{configmaps}/a?fieldManager=me", configmap("a", x="1"), "apply").json()
    assert changed["data"] == {"x": "1", "z": "3"}


def test_what_another_manager_owns_is_a_conflict_unless_forced(server: ServerProcess, configmaps: str) -> None:
    server.patch(f"{configmaps}/a?fieldManager=first", configmap("a", x="1"), "apply")
    path = f"{configmaps}/a?fieldManager=second"
    status = refused(server.patch(path, configmap("a", x="2"), "apply"), 409, "Conflict")
    assert status["message"] == 'Apply failed with 1 conflict: conflict with "first": .data.x'
    cause = {"reason": "FieldManagerConflict", "message": 'conflict with "first"', "field": ".data.x"}
    assert status["details"]["causes"] == [cause]
    forced = server.patch(f"{path}&force=true", configmap("a", x="2"), "apply")
    assert forced.json()["data"] == {"x": "2"}
    owners = {entry["manager"]: entry["fieldsV1"] for entry in forced.json()["metadata"]["managedFields"]}
    assert owners["second"] == {"f:data": {"f:x": {}}}
    assert "f:x" not in owners.get("first", {}).get("f:data", {})


def test_an_applied_object_brings_no_managers(server: ServerProcess, configmaps: str) -> None:
    body = configmap("a")
    body["metadata"]["managedFields"] = [{"manager": "me"}]
    status = refused(server.patch(f"{configmaps}/a?fieldManager=me", body, "apply"), 400, "BadRequest")
    assert status["message"] == "metadata.managedFields must be nil"
