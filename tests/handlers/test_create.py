"""POST: creating objects."""

from __future__ import annotations

import json
import re

import pytest

from tests.handlers.kit import created, deployment, named, refused, warnings
from tests.server import ServerProcess

UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"


def test_a_created_object_comes_back_with_what_the_server_adds(
    server: ServerProcess, namespace: str, configmaps: str
) -> None:
    answer = server.post(configmaps, named("a", data={"x": "1"}))
    assert answer.status_code == 201
    made = answer.json()
    assert (made["kind"], made["apiVersion"], made["data"]) == ("ConfigMap", "v1", {"x": "1"})
    metadata = made["metadata"]
    assert (metadata["name"], metadata["namespace"]) == ("a", namespace)
    assert re.fullmatch(UUID, metadata["uid"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", metadata["creationTimestamp"])
    assert int(metadata["resourceVersion"]) > 0
    assert server.get(f"{configmaps}/a").json() == made


def test_what_only_the_server_says_is_replaced(server: ServerProcess, configmaps: str) -> None:
    body = named("a")
    body["metadata"] |= {
        "uid": "mine",
        "creationTimestamp": "2001-01-01T00:00:00Z",
        "deletionTimestamp": "2001-01-01T00:00:00Z",
        "deletionGracePeriodSeconds": 5,
        "selfLink": "/mine",
    }
    metadata = created(server, configmaps, body)["metadata"]
    assert metadata["uid"] != "mine"
    assert not metadata["creationTimestamp"].startswith("2001")
    assert not {"deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"} & set(metadata)


def test_a_version_can_not_be_chosen(server: ServerProcess, configmaps: str) -> None:
    body = named("a")
    body["metadata"]["resourceVersion"] = "7"
    status = refused(server.post(configmaps, body), 500, "")
    assert status["message"] == "resourceVersion should not be set on objects to be created"


def test_defaults_are_filled_in(server: ServerProcess, deployments: str) -> None:
    made = created(server, deployments, deployment("web"))
    assert made["spec"]["replicas"] == 1
    assert made["spec"]["strategy"] == {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"},
    }
    assert made["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] == 30
    assert made["metadata"]["generation"] == 1
    assert made["status"] == {}


def test_a_name_is_given_once(server: ServerProcess, configmaps: str) -> None:
    created(server, configmaps, named("a"))
    status = refused(server.post(configmaps, named("a")), 409, "AlreadyExists")
    assert status["message"] == 'configmaps "a" already exists'
    assert status["details"] == {"name": "a", "kind": "configmaps"}


def test_a_name_is_generated_from_its_beginning(server: ServerProcess, configmaps: str) -> None:
    found = {created(server, configmaps, {"metadata": {"generateName": "job-"}})["metadata"]["name"] for _ in range(5)}
    assert len(found) == 5
    assert all(re.fullmatch("job-[bcdfghjklmnpqrstvwxz2456789]{5}", name) for name in found)


def test_the_beginning_of_a_generated_name_is_cut(server: ServerProcess, configmaps: str) -> None:
    name = created(server, configmaps, {"metadata": {"generateName": "x" * 80}})["metadata"]["name"]
    assert (len(name), name[:58]) == (63, "x" * 58)


def test_an_object_needs_a_name(server: ServerProcess, configmaps: str) -> None:
    status = refused(server.post(configmaps, {"metadata": {}}), 422, "Invalid")
    assert (
        status["message"] == 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required'
    )
    assert status["details"]["causes"] == [
        {
            "reason": "FieldValueRequired",
            "message": "Required value: name or generateName is required",
            "field": "metadata.name",
        }
    ]


@pytest.mark.parametrize("name", ["A", "a_b", "-a", "a.", "a" * 254, "a/b"])
def test_a_name_is_a_dns_name(server: ServerProcess, configmaps: str, name: str) -> None:
    status = refused(server.post(configmaps, named(name)), 422, "Invalid")
    assert status["details"]["causes"][0]["field"] == "metadata.name"


def test_the_namespace_of_the_object_is_that_of_the_path(server: ServerProcess, configmaps: str) -> None:
    body = named("a")
    body["metadata"]["namespace"] = "other"
    status = refused(server.post(configmaps, body), 400, "BadRequest")
    assert status["message"] == "the namespace of the provided object does not match the namespace sent on the request"


def test_the_namespace_must_be_there(server: ServerProcess) -> None:
    status = refused(server.post("/api/v1/namespaces/nowhere/configmaps", named("a")), 404, "NotFound")
    assert status["message"] == 'namespaces "nowhere" not found'


def test_a_dry_run_answers_as_if_and_stores_nothing(server: ServerProcess, configmaps: str) -> None:
    metadata = created(server, configmaps, named("a"), params={"dryRun": "All"})["metadata"]
    assert metadata["uid"]
    assert "resourceVersion" not in metadata
    assert server.get(f"{configmaps}/a").status_code == 404


@pytest.mark.parametrize(("option", "field"), [("dryRun=Some", "dryRun"), ("fieldValidation=Loose", "fieldValidation")])
def test_options_have_known_values(server: ServerProcess, configmaps: str, option: str, field: str) -> None:
    status = refused(server.post(f"{configmaps}?{option}", named("a")), 422, "Invalid")
    assert status["message"].startswith(f'CreateOptions.meta.k8s.io "" is invalid: {field}: Unsupported value')


def test_unknown_fields_are_warned_of_and_dropped(server: ServerProcess, configmaps: str) -> None:
    answer = server.post(configmaps, named("a", colour="red"))
    assert answer.status_code == 201
    assert warnings(answer) == ['"unknown field \\"colour\\""']
    assert "colour" not in answer.json()


def test_unknown_fields_can_be_ignored_or_refused(server: ServerProcess, configmaps: str) -> None:
    body = named("a", colour="red")
    status = refused(server.post(f"{configmaps}?fieldValidation=Strict", body), 400, "BadRequest")
    assert status["message"] == (
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "colour"'
    )
    ignored = server.post(f"{configmaps}?fieldValidation=Ignore", body)
    assert (ignored.status_code, warnings(ignored)) == (201, [])


def test_repeated_fields_are_warned_of(server: ServerProcess, configmaps: str) -> None:
    headers = {"Content-Type": "application/json"}
    text = '{"metadata": {"name": "a"}, "data": {"x": "1"}, "data": {"x": "2"}}'
    answer = server.client.post(configmaps, content=text, headers=headers)
    assert warnings(answer) == ['"duplicate field \\"data\\""']
    assert answer.json()["data"] == {"x": "2"}


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"apiVersion": "apps/v1", "kind": "Deployment"}, "cannot be handled as a ConfigMap"),
        ({"apiVersion": "v2", "kind": "ConfigMap"}, 'no kind "ConfigMap" is registered for version "v2"'),
        ({"apiVersion": "v1", "kind": "Secret"}, "Secret"),
        ({"apiVersion": "a/b/c", "kind": "ConfigMap"}, "a/b/c"),
    ],
)
def test_kind_and_version_are_those_of_the_path(
    server: ServerProcess, configmaps: str, said: dict[str, str], message: str
) -> None:
    status = refused(server.post(configmaps, {**named("a"), **said}), 400, "BadRequest")
    assert message in status["message"]


def test_a_body_need_not_say_what_it_is(server: ServerProcess, configmaps: str) -> None:
    assert created(server, configmaps, named("a"))["kind"] == "ConfigMap"


@pytest.mark.parametrize("text", ["{", "[]", "7", '{"metadata": 7}', '{"metadata": {"name": "a"}, "data": {"x": 1}}'])
def test_a_body_that_is_no_such_object_is_a_bad_request(server: ServerProcess, configmaps: str, text: str) -> None:
    answer = server.client.post(configmaps, content=text, headers={"Content-Type": "application/json"})
    refused(answer, 400, "BadRequest")


def test_a_body_has_a_limit(server: ServerProcess, configmaps: str) -> None:
    answer = server.post(configmaps, named("a", data={"x": "x" * (3 << 20)}))
    status = refused(answer, 413, "RequestEntityTooLarge")
    assert status["message"] == "Request entity too large: limit is 3145728"


def test_annotations_have_a_limit(server: ServerProcess, configmaps: str) -> None:
    body = named("a")
    body["metadata"]["annotations"] = {"x": "x" * (256 << 10)}
    status = refused(server.post(configmaps, body), 422, "Invalid")
    assert "metadata.annotations: Too long: may not be more than 262144 bytes" in status["message"]


def test_other_formats_are_refused(server: ServerProcess, configmaps: str) -> None:
    answer = server.client.post(
        configmaps, content="a=b", headers={"Content-Type": "application/x-www-form-urlencoded"}
    )
    status = refused(answer, 415, "UnsupportedMediaType")
    assert "the body of the request was in an unknown format - accepted media types include: " in status["message"]


def test_what_can_not_be_created_at_a_path_is_not_allowed(
    server: ServerProcess, namespace: str, configmaps: str
) -> None:
    created(server, configmaps, named("a"))
    for path in (f"{configmaps}/a", "/api/v1/configmaps", "/api/v1/componentstatuses"):
        status = refused(server.post(path, named("a")), 405, "MethodNotAllowed")
        assert status["message"] == "the server does not allow this method on the requested resource"


def test_an_owner_counts_once(server: ServerProcess, configmaps: str) -> None:
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "1"}
    body = named("a")
    body["metadata"]["ownerReferences"] = [owner, dict(owner)]
    answer = server.post(configmaps, body)
    assert answer.json()["metadata"]["ownerReferences"] == [owner]
    assert ".metadata.ownerReferences contains duplicate entries" in warnings(answer)[0]


def test_who_set_which_field_is_remembered(server: ServerProcess, configmaps: str) -> None:
    headers = {"User-Agent": "tool/1.2 (linux)"}
    entry = created(server, configmaps, named("a", data={"x": "1"}), headers=headers)["metadata"]["managedFields"][0]
    assert (entry["manager"], entry["operation"], entry["apiVersion"]) == ("tool", "Update", "v1")
    assert entry["fieldsV1"] == {"f:data": {".": {}, "f:x": {}}}
    chosen = created(server, f"{configmaps}?fieldManager=me", named("b", data={"x": "1"}))["metadata"]["managedFields"]
    assert chosen[0]["manager"] == "me"


def test_objects_keep_all_text_and_large_numbers(server: ServerProcess, configmaps: str, leases: str) -> None:
    data = {"text": 'line\n"quoted" \\ \u00e9 \u2028 \U0001f600', "empty": ""}
    assert created(server, configmaps, named("a", data=data))["data"] == data
    assert json.loads(server.get(f"{configmaps}/a").content)["data"] == data
    lease = created(server, leases, named("a", spec={"leaseTransitions": 2147483647, "leaseDurationSeconds": 1}))
    assert lease["spec"]["leaseTransitions"] == 2147483647


def test_a_client_that_sends_too_much_reads_why_it_is_refused(server: ServerProcess, configmaps: str) -> None:
    for _ in range(3):
        answer = server.post(configmaps, {"metadata": {"name": "big"}, "data": {"a": "0123456789abcdef" * 200_000}})
        assert answer.status_code == 413
        assert answer.json()["reason"] == "RequestEntityTooLarge"
    assert server.post(configmaps, {"metadata": {"name": "small"}}).status_code == 201
