"""Watches: where they begin, what they tell, how they end."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.handlers.kit import Object, created, labelled, named, refused
from tests.server import ServerProcess

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
PARTIAL = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"


def version_of(obj: Object) -> str:
    version: str = obj["metadata"]["resourceVersion"]
    return version


def now(server: ServerProcess, path: str) -> str:
    """The newest version."""
    return version_of(server.get(path).json())


def told(events: Iterator[Object], count: int) -> list[tuple[str, str]]:
    """Type and name of the next events."""
    return [(event["type"], event["object"]["metadata"]["name"]) for event in itertools.islice(events, count)]


def events_with(server: ServerProcess, path: str, accept: str, **query: Any) -> list[Object]:
    """All events of a short watch in another form."""
    params = {"watch": "1", "timeoutSeconds": 1, **query}
    answer = server.get(path, params=params, headers={"Accept": accept})
    assert answer.status_code == 200, answer.text
    return [json.loads(line) for line in answer.text.splitlines()]


# -- the beginning ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("query", [{}, {"resourceVersion": "0"}, {"resourceVersion": ""}])
def test_without_a_version_a_watch_begins_with_what_is_there(
    server: ServerProcess, secrets: str, query: dict[str, str]
) -> None:
    made = [created(server, secrets, named(name)) for name in "ba"]
    events = server.watch(secrets, **query)
    first = list(itertools.islice(events, 2))
    assert [event["type"] for event in first] == ["ADDED", "ADDED"]
    assert [event["object"] for event in first] == [made[1], made[0]]
    created(server, secrets, named("c"))
    assert told(events, 1) == [("ADDED", "c")]
    events.close()


def test_after_a_version_come_only_later_changes(server: ServerProcess, secrets: str) -> None:
    created(server, secrets, named("a"))
    version = version_of(created(server, secrets, named("b")))
    changed = server.patch(f"{secrets}/a", labelled("a", x="y")).json()
    created(server, secrets, named("c"))
    server.delete(f"{secrets}/b")
    events = server.watch(secrets, resourceVersion=version)
    first = next(events)
    assert (first["type"], first["object"]) == ("MODIFIED", changed)
    assert told(events, 2) == [("ADDED", "c"), ("DELETED", "b")]
    events.close()


def test_a_deleted_object_comes_with_the_version_of_its_deletion(server: ServerProcess, secrets: str) -> None:
    made = created(server, secrets, named("a"))
    events = server.watch(secrets, resourceVersion=version_of(made))
    server.delete(f"{secrets}/a")
    event = next(events)
    events.close()
    assert event["type"] == "DELETED"
    assert int(version_of(event["object"])) > int(version_of(made))
    assert event["object"]["metadata"]["uid"] == made["metadata"]["uid"]
    assert list(server.watch(secrets, resourceVersion=version_of(event["object"]), timeoutSeconds=1)) == []


def test_initial_events_end_with_a_bookmark(server: ServerProcess, secrets: str) -> None:
    made = [created(server, secrets, named(name)) for name in "ab"]
    query = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "allowWatchBookmarks": "true"}
    events = server.watch(secrets, **query)
    assert told(events, 2) == [("ADDED", "a"), ("ADDED", "b")]
    bookmark = next(events)
    assert bookmark["type"] == "BOOKMARK"
    metadata = bookmark["object"]["metadata"]
    assert metadata["annotations"] == {"k8s.io/initial-events-end": "true"}
    assert (bookmark["object"]["kind"], bookmark["object"]["apiVersion"]) == ("Secret", "v1")
    assert int(metadata["resourceVersion"]) >= int(version_of(made[1]))
    created(server, secrets, named("c"))
    assert told(events, 1) == [("ADDED", "c")]
    events.close()


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ({"sendInitialEvents": "true"}, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"),
        (
            {"resourceVersionMatch": "NotOlderThan", "resourceVersion": "1"},
            "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
        ),
        (
            {"sendInitialEvents": "true", "resourceVersionMatch": "Exact", "resourceVersion": "1"},
            'Unsupported value: "Exact"',
        ),
        (
            {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "continue": "x"},
            "resourceVersionMatch is forbidden when continue is provided",
        ),
    ],
)
def test_options_that_do_not_go_together_are_invalid(
    server: ServerProcess, secrets: str, query: dict[str, str], text: str
) -> None:
    status = refused(server.get(secrets, params={"watch": "true", **query}), 422, "Invalid")
    assert text in status["message"]


# -- selection -------------------------------------------------------------------------------------------------------


def test_what_begins_or_ends_to_be_selected_is_added_or_deleted(server: ServerProcess, secrets: str) -> None:
    created(server, secrets, labelled("a", colour="red"))
    version = version_of(created(server, secrets, labelled("b", colour="blue")))
    events = server.watch(secrets, resourceVersion=version, labelSelector="colour=red")
    for colour in ("blue", "green", "red"):
        server.patch(f"{secrets}/a", labelled("a", colour=colour))
    server.patch(f"{secrets}/a", labelled("a", colour="red", size="big"))
    server.patch(f"{secrets}/b", labelled("b", colour="red"))
    server.delete(f"{secrets}/b")
    server.patch(f"{secrets}/a", labelled("a", colour="blue"))
    server.delete(f"{secrets}/a")
    created(server, secrets, labelled("c", colour="red"))
    assert told(events, 7) == [
        ("DELETED", "a"), ("ADDED", "a"), ("MODIFIED", "a"), ("ADDED", "b"), ("DELETED", "b"), ("DELETED", "a"),
        ("ADDED", "c"),
    ]  # fmt: skip
    events.close()


def test_an_object_that_is_not_selected_any_more_comes_as_it_was(server: ServerProcess, secrets: str) -> None:
    made = created(server, secrets, labelled("a", colour="red"))
    events = server.watch(secrets, resourceVersion=version_of(made), labelSelector="colour=red")
    changed = server.patch(f"{secrets}/a", labelled("a", colour="blue")).json()
    event = next(events)
    events.close()
    assert event["object"]["metadata"]["labels"] == {"colour": "red"}
    assert version_of(event["object"]) == version_of(changed)


@pytest.mark.parametrize("query", [{"fieldSelector": "metadata.name=b"}, {"path": "/b"}])
def test_one_object_can_be_watched(server: ServerProcess, namespace: str, secrets: str, query: dict[str, str]) -> None:
    version = now(server, secrets)
    path = f"/api/v1/watch/namespaces/{namespace}/secrets/b" if "path" in query else secrets
    events = server.watch(path, resourceVersion=version, **{k: v for k, v in query.items() if k != "path"})
    for name in "abc":
        created(server, secrets, named(name))
    server.delete(f"{secrets}/a")
    server.delete(f"{secrets}/b")
    assert told(events, 2) == [("ADDED", "b"), ("DELETED", "b")]
    events.close()


def test_the_old_watch_paths_are_still_served(server: ServerProcess, namespace: str, secrets: str) -> None:
    version = now(server, secrets)
    created(server, secrets, labelled("a", mark=namespace))
    query = {"resourceVersion": version, "timeoutSeconds": "20", "labelSelector": f"mark={namespace}"}
    for path in (f"/api/v1/watch/namespaces/{namespace}/secrets", "/api/v1/watch/secrets"):
        with server.client.stream("GET", path, params=query) as answer:
            event = json.loads(next(answer.iter_lines()))
        assert (event["type"], event["object"]["metadata"]["name"]) == ("ADDED", "a")


def test_all_namespaces_can_be_watched(server: ServerProcess, namespace: str, secrets: str) -> None:
    other = server.namespace(f"{namespace}-other")
    version = now(server, secrets)
    events = server.watch("/api/v1/secrets", resourceVersion=version, labelSelector=f"mark={namespace}")
    created(server, secrets, labelled("a", mark=namespace))
    created(server, f"/api/v1/namespaces/{other}/secrets", labelled("b", mark=namespace))
    assert told(events, 2) == [("ADDED", "a"), ("ADDED", "b")]
    events.close()


# -- the course ------------------------------------------------------------------------------------------------------


def test_changes_come_once_and_in_order(server: ServerProcess, secrets: str) -> None:
    version = now(server, secrets)
    events = server.watch(secrets, resourceVersion=version)
    expected = []
    for number in range(60):
        expected.append(version_of(created(server, secrets, named(f"s-{number}"))))
        expected.append(
            version_of(server.patch(f"{secrets}/s-{number}", {"metadata": {"labels": {"n": str(number)}}}).json())
        )
    assert [version_of(event["object"]) for event in itertools.islice(events, 120)] == expected
    events.close()


def test_a_write_that_changes_nothing_is_no_event(server: ServerProcess, secrets: str) -> None:
    made = created(server, secrets, named("a"))
    events = server.watch(secrets, resourceVersion=version_of(made))
    assert server.put(f"{secrets}/a", made).json() == made
    server.patch(f"{secrets}/a", {"metadata": {"labels": None}})
    created(server, secrets, named("b"))
    assert told(events, 1) == [("ADDED", "b")]
    events.close()


def test_an_object_that_waits_for_its_finalizers_is_modified_first(server: ServerProcess, secrets: str) -> None:
    body = named("a")
    body["metadata"]["finalizers"] = ["example.com/keep"]
    events = server.watch(secrets, resourceVersion=version_of(created(server, secrets, body)))
    server.delete(f"{secrets}/a")
    server.patch(f"{secrets}/a", {"metadata": {"finalizers": None}})
    assert told(events, 2) == [("MODIFIED", "a"), ("DELETED", "a")]
    events.close()


def test_many_watches_tell_the_same(server: ServerProcess, secrets: str) -> None:
    version = now(server, secrets)
    watches = [server.watch(secrets, resourceVersion=version) for _ in range(8)]
    for name in "abc":
        created(server, secrets, named(name))
    seen = [list(itertools.islice(events, 3)) for events in watches]
    assert all(one == seen[0] for one in seen)
    for events in watches:
        events.close()


# -- forms -----------------------------------------------------------------------------------------------------------


def test_a_watch_can_tell_metadata_only(server: ServerProcess, secrets: str) -> None:
    made = created(server, secrets, named("a", data={"x": "eA=="}))
    (event,) = events_with(server, secrets, PARTIAL)
    assert event["type"] == "ADDED"
    assert event["object"] == {
        "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": made["metadata"],
    }  # fmt: skip


def test_a_watch_can_tell_rows(server: ServerProcess, secrets: str) -> None:
    for name in "ab":
        created(server, secrets, named(name))
    events = events_with(server, secrets, TABLE)
    assert [event["object"]["rows"][0]["cells"][0] for event in events] == ["a", "b"]
    assert events[0]["object"]["kind"] == "Table"
    assert events[0]["object"]["columnDefinitions"][0]["name"] == "Name"
    assert events[1]["object"]["columnDefinitions"] is None


def test_a_watch_is_json(server: ServerProcess, secrets: str) -> None:
    answer = server.get(f"{secrets}?watch=1&timeoutSeconds=1")
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["Transfer-Encoding"] == "chunked"
    other = server.get(f"{secrets}?watch=1", headers={"Accept": "application/yaml"})
    assert (other.status_code, "only the following media types are accepted: " in other.text) == (406, True)


@pytest.mark.parametrize("value", ["true", "1", "perhaps"])
def test_nearly_any_value_asks_for_a_watch(server: ServerProcess, secrets: str, value: str) -> None:
    created(server, secrets, named("a"))
    answer = server.get(secrets, params={"watch": value, "timeoutSeconds": "1"})
    assert json.loads(answer.text)["type"] == "ADDED"


# -- the end ---------------------------------------------------------------------------------------------------------


def test_a_watch_ends_when_its_time_is_over_and_says_how_far_it_was_if_asked_to(
    server: ServerProcess, secrets: str
) -> None:
    made = created(server, secrets, named("a"))
    begin = time.monotonic()
    queries: list[dict[str, Any]] = [{"allowWatchBookmarks": "true"}, {}]
    with ThreadPoolExecutor(2) as threads:
        asked, other = threads.map(lambda query: list(server.watch(secrets, timeoutSeconds=3, **query)), queries)
    assert time.monotonic() - begin >= 2.5
    assert [event["type"] for event in asked] == ["ADDED", "BOOKMARK"]
    assert [event["type"] for event in other] == ["ADDED"]
    bookmark = asked[1]["object"]
    assert int(version_of(bookmark)) >= int(version_of(made))
    assert (bookmark["kind"], bookmark["apiVersion"]) == ("Secret", "v1")
    assert "name" not in bookmark["metadata"]


def test_the_same_connection_goes_on_after_a_watch(server: ServerProcess, secrets: str) -> None:
    created(server, secrets, named("a"))
    with server.connect() as client:
        params = {"watch": "1", "timeoutSeconds": "1"}
        first, second = client.get(secrets, params=params), client.get(secrets)
        addresses = {a.extensions["network_stream"].get_extra_info("client_addr") for a in (first, second)}
    assert len(first.text.splitlines()) == 1
    assert [item["metadata"]["name"] for item in second.json()["items"]] == ["a"]
    assert len(addresses) == 1 or first.headers.get("Connection") == "close"
