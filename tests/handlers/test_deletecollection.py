"""DELETE of a collection."""

from __future__ import annotations

import pytest

from tests.handlers.kit import created, labelled, named, names, refused
from tests.server import ServerProcess


@pytest.fixture
def filled(server: ServerProcess, secrets: str) -> str:
    for name, colour in (("a", "red"), ("b", "blue"), ("c", "red")):
        created(server, secrets, labelled(name, colour=colour))
    return secrets


def test_a_collection_is_emptied_and_told(server: ServerProcess, filled: str) -> None:
    before = server.get(filled).json()["items"]
    answer = server.delete(filled)
    assert answer.status_code == 200
    assert answer.json()["kind"] == "SecretList"
    assert [item["metadata"]["uid"] for item in answer.json()["items"]] == [o["metadata"]["uid"] for o in before]
    assert names(server.get(filled)) == []


def test_an_empty_collection_can_be_emptied(server: ServerProcess, secrets: str) -> None:
    assert server.delete(secrets).json()["items"] == []


@pytest.mark.parametrize(
    ("query", "left"),
    [
        ({"labelSelector": "colour=red"}, ["b"]),
        ({"labelSelector": "colour=green"}, ["a", "b", "c"]),
        ({"fieldSelector": "metadata.name=a"}, ["b", "c"]),
        ({"fieldSelector": "metadata.name!=a", "labelSelector": "colour=red"}, ["a", "b"]),
    ],
)
def test_only_what_is_selected_goes(server: ServerProcess, filled: str, query: dict[str, str], left: list[str]) -> None:
    assert server.delete(filled, params=query).status_code == 200
    assert names(server.get(filled)) == left


def test_other_namespaces_are_not_touched(server: ServerProcess, namespace: str, filled: str) -> None:
    other = f"/api/v1/namespaces/{server.namespace(f'{namespace}-other')}/secrets"
    created(server, other, named("a"))
    server.delete(filled)
    assert names(server.get(other)) == ["a"]


def test_objects_with_finalizers_stay_until_those_are_gone(server: ServerProcess, filled: str) -> None:
    server.patch(f"{filled}/b", {"metadata": {"finalizers": ["example.com/keep"]}})
    server.delete(filled)
    (waiting,) = server.get(filled).json()["items"]
    assert waiting["metadata"]["name"] == "b"
    assert waiting["metadata"]["deletionTimestamp"]


@pytest.mark.parametrize("body", [None, {"dryRun": ["All"]}])
def test_a_dry_run_deletes_nothing(server: ServerProcess, filled: str, body: dict[str, list[str]] | None) -> None:
    answer = server.delete(filled if body else f"{filled}?dryRun=All", body)
    assert [item["metadata"]["name"] for item in answer.json()["items"]] == ["a", "b", "c"]
    assert names(server.get(filled)) == ["a", "b", "c"]


def test_options_hold_for_each_object(server: ServerProcess, filled: str) -> None:
    version = server.get(filled).json()["metadata"]["resourceVersion"]
    server.delete(filled, {"propagationPolicy": "Foreground"}, params={"labelSelector": "colour=red"})
    found: dict[str, list[str]] = {}
    events = server.watch(filled, resourceVersion=version)
    while len(found) < 2:  # what a garbage collector does next is not told here
        metadata = next(events)["object"]["metadata"]
        found.setdefault(metadata["name"], metadata.get("finalizers"))
    events.close()
    assert found == {"a": ["foregroundDeletion"], "c": ["foregroundDeletion"]}


def test_bad_selectors_delete_nothing(server: ServerProcess, filled: str) -> None:
    for query in ("labelSelector=a b", "fieldSelector=data.x=1"):
        refused(server.delete(f"{filled}?{query}"), 400, "BadRequest")
    assert len(names(server.get(filled))) == 3


def test_each_deletion_is_watched(server: ServerProcess, filled: str) -> None:
    version = server.get(filled).json()["metadata"]["resourceVersion"]
    events = server.watch(filled, resourceVersion=version)
    server.delete(filled)
    created(server, filled, named("last"))
    seen = []
    for event in events:
        seen.append((event["type"], event["object"]["metadata"]["name"]))
        if seen[-1][1] == "last":
            break
    events.close()
    assert seen == [("DELETED", "a"), ("DELETED", "b"), ("DELETED", "c"), ("ADDED", "last")]


def test_all_namespaces_at_once_are_not_allowed(server: ServerProcess) -> None:
    refused(server.delete("/api/v1/secrets"), 405, "MethodNotAllowed")
    refused(server.delete("/api/v1/namespaces"), 405, "MethodNotAllowed")
