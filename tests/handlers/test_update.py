"""PUT: replacing objects."""

from __future__ import annotations

import pytest

from tests.handlers.kit import Object, created, deployment, named, refused
from tests.server import ServerProcess

MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"


def changed(obj: Object, **fields: object) -> Object:
    return {**obj, **fields}


def with_metadata(obj: Object, **fields: object) -> Object:
    return {**obj, "metadata": {**obj["metadata"], **fields}}


def test_an_object_is_replaced_as_a_whole(server: ServerProcess, configmaps: str) -> None:
    made = created(server, configmaps, named("a", data={"x": "1", "y": "2"}))
    answer = server.put(f"{configmaps}/a", changed(made, data={"x": "3"}))
    assert answer.status_code == 200
    stored = answer.json()
    assert stored["data"] == {"x": "3"}
    assert int(stored["metadata"]["resourceVersion"]) > int(made["metadata"]["resourceVersion"])
    assert stored["metadata"]["uid"] == made["metadata"]["uid"]
    assert stored["metadata"]["creationTimestamp"] == made["metadata"]["creationTimestamp"]
    assert server.get(f"{configmaps}/a").json() == stored


def test_without_a_version_the_last_write_wins(server: ServerProcess, configmaps: str) -> None:
    made = created(server, configmaps, named("a"))
    server.put(f"{configmaps}/a", changed(made, data={"x": "1"}))
    answer = server.put(f"{configmaps}/a", named("a", data={"x": "2"}))
    assert (answer.status_code, answer.json()["data"]) == (200, {"x": "2"})


def test_an_old_version_is_a_conflict(server: ServerProcess, configmaps: str) -> None:
    made = created(server, configmaps, named("a"))
    server.put(f"{configmaps}/a", changed(made, data={"x": "1"}))
    status = refused(server.put(f"{configmaps}/a", changed(made, data={"x": "2"})), 409, "Conflict")
    assert status["message"] == f'Operation cannot be fulfilled on configmaps "a": {MODIFIED}'
    assert status["details"] == {"name": "a", "kind": "configmaps"}
    assert server.get(f"{configmaps}/a").json()["data"] == {"x": "1"}


def test_a_version_is_a_number(server: ServerProcess, configmaps: str) -> None:
    made = created(server, configmaps, named("a"))
    assert server.put(f"{configmaps}/a", with_metadata(made, resourceVersion="abc")).status_code == 500


def test_what_is_not_there_is_not_found(server: ServerProcess, configmaps: str) -> None:
    status = refused(server.put(f"{configmaps}/a", named("a")), 404, "NotFound")
    assert status["message"] == 'configmaps "a" not found'


def test_some_kinds_are_created_by_a_put(server: ServerProcess, leases: str) -> None:
    answer = server.put(f"{leases}/a", named("a", spec={"holderIdentity": "me"}))
    assert (answer.status_code, answer.json()["spec"]) == (201, {"holderIdentity": "me"})
    assert server.put(f"{leases}/a", answer.json()).status_code == 200


def test_the_name_is_that_of_the_path(server: ServerProcess, configmaps: str) -> None:
    created(server, configmaps, named("a"))
    status = refused(server.put(f"{configmaps}/a", named("b")), 400, "BadRequest")
    assert status["message"] == "the name of the object (b) does not match the name on the URL (a)"


def test_another_object_of_that_name_is_a_conflict(server: ServerProcess, configmaps: str) -> None:
    made = created(server, configmaps, named("a"))
    body = with_metadata(named("a"), uid="11111111-1111-4111-8111-111111111111")
    status = refused(server.put(f"{configmaps}/a", body), 409, "Conflict")
    assert f"UID in object meta: {made['metadata']['uid']}" in status["message"]


def test_nothing_changed_is_nothing_written(server: ServerProcess, configmaps: str) -> None:
    made = created(server, configmaps, named("a", data={"x": "1"}))
    assert server.put(f"{configmaps}/a", made).json() == made
    assert server.put(f"{configmaps}/a", named("a", data={"x": "1"})).json() == made


def test_the_generation_counts_changes_of_the_spec(server: ServerProcess, deployments: str) -> None:
    made = created(server, deployments, deployment("web"))
    labelled = server.put(f"{deployments}/web", with_metadata(made, labels={"x": "y"})).json()
    assert labelled["metadata"]["generation"] == 1
    scaled = server.put(f"{deployments}/web", changed(labelled, spec={**labelled["spec"], "replicas": 3})).json()
    assert scaled["metadata"]["generation"] == 2


def test_the_status_has_a_path_of_its_own(server: ServerProcess, deployments: str) -> None:
    made = created(server, deployments, deployment("web"))
    both = changed(made, spec={**made["spec"], "replicas": 7}, status={"observedGeneration": 1, "replicas": 1})
    after = server.put(f"{deployments}/web/status", both).json()
    assert (after["spec"]["replicas"], after["status"]["replicas"]) == (1, 1)
    assert after["metadata"]["generation"] == 1
    both = changed(after, spec={**after["spec"], "replicas": 7}, status={})
    after = server.put(f"{deployments}/web", both).json()
    assert (after["spec"]["replicas"], after["status"]["replicas"]) == (7, 1)


def test_the_scale_has_a_path_of_its_own(server: ServerProcess, deployments: str) -> None:
    created(server, deployments, deployment("web"))
    scale = server.get(f"{deployments}/web/scale").json()
    scale["spec"]["replicas"] = 4
    answer = server.put(f"{deployments}/web/scale", scale)
    assert (answer.status_code, answer.json()["spec"]) == (200, {"replicas": 4})
    assert server.get(f"{deployments}/web").json()["spec"]["replicas"] == 4
    refused(server.put(f"{deployments}/web/scale", scale), 409, "Conflict")


def test_what_may_not_change_is_invalid(server: ServerProcess, deployments: str, secrets: str) -> None:
    made = created(server, deployments, deployment("web"))
    other = {**made["spec"], "selector": {"matchLabels": {"app": "other"}}}
    other["template"] = {**other["template"], "metadata": {"labels": {"app": "other"}}}
    status = refused(server.put(f"{deployments}/web", changed(made, spec=other)), 422, "Invalid")
    assert "spec.selector: Invalid value" in status["message"]
    assert "field is immutable" in status["message"]
    made = created(server, secrets, named("s", type="example.com/a"))
    status = refused(server.put(f"{secrets}/s", changed(made, type="example.com/b")), 422, "Invalid")
    assert status["details"]["causes"][0]["field"] == "type"


def test_immutable_configmaps_keep_their_data(server: ServerProcess, configmaps: str) -> None:
    made = created(server, configmaps, named("a", data={"x": "1"}, immutable=True))
    refused(server.put(f"{configmaps}/a", changed(made, data={"x": "2"})), 422, "Invalid")
    refused(server.put(f"{configmaps}/a", changed(made, immutable=False)), 422, "Invalid")
    assert server.put(f"{configmaps}/a", with_metadata(made, labels={"l": "1"})).status_code == 200


def test_a_dry_run_answers_as_if_and_stores_nothing(server: ServerProcess, configmaps: str) -> None:
    made = created(server, configmaps, named("a"))
    answer = server.put(f"{configmaps}/a", changed(made, data={"x": "1"}), params={"dryRun": "All"})
    assert (answer.status_code, answer.json()["data"]) == (200, {"x": "1"})
    assert server.get(f"{configmaps}/a").json() == made


def test_the_last_finalizer_gone_completes_the_deletion(server: ServerProcess, configmaps: str) -> None:
    created(server, configmaps, with_metadata(named("a"), finalizers=["example.com/keep"]))
    waiting = server.delete(f"{configmaps}/a").json()
    answer = server.put(f"{configmaps}/a", with_metadata(waiting, finalizers=[]))
    assert answer.status_code == 200
    assert server.get(f"{configmaps}/a").status_code == 404


def test_collections_are_not_replaced(server: ServerProcess, configmaps: str) -> None:
    refused(server.put(configmaps, named("a")), 405, "MethodNotAllowed")


@pytest.mark.parametrize("field", ["labels", "annotations"])
def test_metadata_can_be_taken_away(server: ServerProcess, configmaps: str, field: str) -> None:
    made = created(server, configmaps, with_metadata(named("a"), **{field: {"x": "y"}}))
    del made["metadata"][field]
    assert field not in server.put(f"{configmaps}/a", made).json()["metadata"]
