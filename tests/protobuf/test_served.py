"""Bodies as Go clients send them, through the whole server: written, read both ways, listed, watched, deleted."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from apiserver.schema.protobuf.codec import codec
from tests.protobuf import wire
from tests.protobuf.objects import OBJECTS, Sent
from tests.server import ServerProcess

PROTOBUF = "application/vnd.kubernetes.protobuf"
ASK = {"Accept": PROTOBUF}
SEND = {"Content-Type": PROTOBUF, **ASK}
_numbers = itertools.count()


def decoded(answer: httpx.Response, status: int = 200) -> dict[str, Any]:
    """The object of an answer in protobuf. That our decoder reads as Go does is shown in test_recorded.py."""
    assert answer.status_code == status, answer.content
    assert answer.headers["Content-Type"] == PROTOBUF
    return codec().decode(answer.content, ("", ""))


def has(found: Any, sent: Any) -> bool:
    """Whether all that was sent is in what was found."""
    if isinstance(sent, dict):
        return isinstance(found, dict) and all(has(found.get(key), value) for key, value in sent.items())
    if isinstance(sent, list):
        return isinstance(found, list) and len(found) == len(sent) and all(map(has, found, sent))
    return bool(found == sent)


@pytest.fixture(params=OBJECTS, ids=lambda one: f"{one.api_version}-{one.kind}")
def sent(request: pytest.FixtureRequest) -> Sent:
    one: Sent = request.param
    return one


@pytest.fixture
def name() -> str:
    return f"sent-{next(_numbers)}"


def events(answer: httpx.Response) -> Iterator[tuple[str, bytes]]:
    """Type and object of each event in a stream."""
    waiting = b""
    for part in answer.iter_bytes():
        waiting += part
        while len(waiting) >= 4 and len(waiting) >= 4 + (size := int.from_bytes(waiting[:4], "big")):
            event, waiting = wire.read(waiting[4 : 4 + size]), waiting[4 + size :]
            (kind,), (extension,) = event[1], event[2]
            yield kind.decode(), wire.read(extension)[1][0]


def test_what_is_sent_is_stored_and_read_back(server: ServerProcess, namespace: str, sent: Sent, name: str) -> None:
    path = sent.path(namespace)
    made = decoded(server.client.post(path, content=sent.body(name, namespace), headers=SEND), 201)
    assert has(made, sent.json), made
    assert (made["apiVersion"], made["kind"]) == (sent.api_version, sent.kind)
    as_json = server.get(f"{path}/{name}").json()
    assert has(as_json, sent.json)
    answer = server.get(f"{path}/{name}", headers=ASK)
    assert decoded(answer) == made
    # Bytes by hand, with field numbers of the published files: metadata is 1, its name 1.
    api_version, kind, fields = wire.unwrap(answer.content)
    assert (api_version, kind) == (sent.api_version, sent.kind)
    assert wire.read(fields[1][0])[1] == [name.encode()]
    assert codec().encode(as_json) == codec().encode(made)


def test_an_unchanged_update_changes_nothing_and_an_old_one_is_refused(
    server: ServerProcess, namespace: str, sent: Sent, name: str
) -> None:
    path = sent.path(namespace)
    first = server.client.post(path, content=sent.body(name, namespace), headers=SEND)
    made = decoded(first, 201)
    again = decoded(server.client.put(f"{path}/{name}", content=first.content, headers=SEND))
    assert again["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]
    old = server.client.put(f"{path}/{name}", content=sent.body(name, namespace, "1"), headers=SEND)
    status = decoded(old, 409)
    assert (status["kind"], status["reason"], status["details"]["name"]) == ("Status", "Conflict", name)


def test_they_are_listed_and_watched(server: ServerProcess, namespace: str, sent: Sent, name: str) -> None:
    path = sent.path(namespace)
    made = decoded(server.client.post(path, content=sent.body(name, namespace), headers=SEND), 201)
    selector = {"fieldSelector": f"metadata.name={name}"}
    listed = server.get(path, headers=ASK, params=selector)
    found = decoded(listed)
    assert found["kind"] == f"{sent.kind}List"
    (item,) = found["items"]
    assert {**item, "apiVersion": sent.api_version, "kind": sent.kind} == made
    # Items of a list are messages without envelopes, in field 2.
    _, _, fields = wire.unwrap(listed.content)
    assert wire.read(wire.read(fields[2][0])[1][0])[1] == [name.encode()]

    query = {"watch": "true", "timeoutSeconds": "20", **selector}
    accept = {"Accept": f"{PROTOBUF};stream=watch,{PROTOBUF}"}
    with server.connect() as client, client.stream("GET", path, params=query, headers=accept) as stream:
        assert stream.headers["Content-Type"] == f"{PROTOBUF};stream=watch"
        seen = events(stream)
        kind, data = next(seen)
        assert (kind, codec().decode(data, ("", ""))) == ("ADDED", made)
        patched = server.patch(f"{path}/{name}", {"metadata": {"labels": {"new": "yes"}}})
        assert patched.status_code == 200, patched.text
        kind, data = next(seen)
        assert (kind, codec().decode(data, ("", ""))["metadata"]["labels"]["new"]) == ("MODIFIED", "yes")
        if sent.kind == "Namespace":  # it ends only when it is empty
            return
        options = wire.body("v1", "DeleteOptions", {1: 0, 2: wire.message({1: "another-uid"})})
        refused = decoded(server.client.request("DELETE", f"{path}/{name}", content=options, headers=SEND), 409)
        assert f"the UID in record ({made['metadata']['uid']})" in refused["message"]
        options = wire.body(
            "v1", "DeleteOptions", {1: 0, 2: wire.message({1: made["metadata"]["uid"]}), 4: "Background"}
        )
        gone = server.client.request("DELETE", f"{path}/{name}", content=options, headers=SEND)
        assert decoded(gone)["kind"] in ("Status", sent.kind)
        # A pod is told when it has to go, even when that is now.
        kind, data = next(event for event in seen if event[0] != "MODIFIED")
        assert (kind, codec().decode(data, ("", ""))["metadata"]["uid"]) == ("DELETED", made["metadata"]["uid"])


def test_a_status_of_a_deletion_is_a_message(server: ServerProcess, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    server.post(path, {"metadata": {"name": "a"}})
    api_version, kind, fields = wire.unwrap(server.delete(f"{path}/a", headers=ASK).content)
    # Status: status = 2, reason = 4, details = 5 (name = 1, kind = 3, uid = 6), code = 6
    assert (api_version, kind, fields[2]) == ("v1", "Status", [b"Success"])
    details = wire.read(fields[5][0])
    assert (details[1], details[3]) == ([b"a"], [b"configmaps"])
    _, kind, fields = wire.unwrap(server.get(f"{path}/a", headers=ASK).content)
    assert (kind, fields[2], fields[4], fields[6]) == ("Status", [b"Failure"], [b"NotFound"], [404])
    assert fields[3] == [b'configmaps "a" not found']


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (
            wire.body("apps/v1beta1", "Deployment", {1: wire.message({1: "a"})}),
            "the API version in the data (apps/v1beta1) does not match the expected API version (apps/v1)",
        ),
        (
            wire.body("v1", "Pod", {1: wire.message({1: "a"})}),
            'Pod in version "v1" cannot be handled as a Deployment: '
            "converting (v1.Pod) to (apps.Deployment): unknown conversion",
        ),
        (
            wire.body("example.com/v1", "Toy", {1: wire.message({1: "a"})}),
            'Toy in version "v1" cannot be handled as a Deployment: no kind "Toy" is registered for version '
            '"example.com/v1" in scheme "pkg/api/legacyscheme/scheme.go:30"',
        ),
    ],
)  # fmt: skip
def test_a_message_of_another_kind_is_refused(server: ServerProcess, namespace: str, body: bytes, text: str) -> None:
    answer = server.client.post(f"/apis/apps/v1/namespaces/{namespace}/deployments", content=body, headers=SEND)
    assert decoded(answer, 400)["message"] == text


def test_fields_that_came_later_are_passed_over(server: ServerProcess, namespace: str) -> None:
    data = wire.body("v1", "ConfigMap", {1: wire.message({1: "later", 900: "x"}), 2: {"a": "b"}, 900: "new"})
    path = f"/api/v1/namespaces/{namespace}/configmaps?fieldValidation=Strict"
    assert decoded(server.client.post(path, content=data, headers=SEND), 201)["data"] == {"a": "b"}
