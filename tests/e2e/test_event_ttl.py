"""Events end by themselves, and those who watch are told."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.conftest import STORES, store_arguments
from tests.server import ServerProcess

SECONDS = 30.0


@pytest.fixture(params=STORES, scope="module")
def short_lived(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server that keeps events for two seconds; etcd knows no less."""
    arguments = [*store_arguments(request.param, request), "--event-ttl=2s"]
    with ServerProcess(tmp_path_factory.mktemp("ttl"), *arguments) as server:
        yield server


def event(namespace: str, name: str) -> dict[str, Any]:
    involved = {"kind": "Pod", "namespace": namespace, "name": "p"}
    return {"metadata": {"name": name}, "involvedObject": involved, "reason": "Tested", "type": "Normal"}


def test_an_event_expires_and_watches_see_it_go(short_lived: ServerProcess) -> None:
    server = short_lived
    namespace = server.namespace("expiring")
    path = f"/api/v1/namespaces/{namespace}/events"
    begin = server.get(path).json()["metadata"]["resourceVersion"]
    watch = server.watch(path, resourceVersion=begin)
    made = server.post(path, event(namespace, "a")).json()
    assert server.get(f"{path}/a").json() == made
    seen = [next(watch), next(watch)]
    watch.close()
    assert [(one["type"], one["object"]["metadata"]["name"]) for one in seen] == [("ADDED", "a"), ("DELETED", "a")]
    gone = seen[1]["object"]
    assert gone["metadata"]["uid"] == made["metadata"]["uid"]
    assert int(gone["metadata"]["resourceVersion"]) > int(made["metadata"]["resourceVersion"])
    assert server.get(f"{path}/a").status_code == 404
    assert server.get(path).json()["items"] == []
    # A watch that resumes before the end is told, too.
    again = server.watch(path, resourceVersion=made["metadata"]["resourceVersion"])
    assert next(again)["type"] == "DELETED"
    again.close()


def test_an_event_that_is_written_again_lives_on_and_other_kinds_stay(short_lived: ServerProcess) -> None:
    server = short_lived
    namespace = server.namespace("renewed")
    path = f"/api/v1/namespaces/{namespace}/events"
    server.post(path, event(namespace, "kept"))
    server.post(path, event(namespace, "left"))
    server.post(f"/api/v1/namespaces/{namespace}/configmaps", {"metadata": {"name": "stays"}})
    deadline = time.monotonic() + SECONDS
    count = 0
    while server.get(f"{path}/left").status_code == 200:
        assert time.monotonic() < deadline, "the event does not expire"
        count += 1
        assert server.patch(f"{path}/kept", {"count": count}).status_code == 200
        time.sleep(0.1)
    assert server.get(f"{path}/kept").json()["count"] == count
    assert server.get(f"/api/v1/namespaces/{namespace}/configmaps/stays").status_code == 200
    while server.get(f"{path}/kept").status_code == 200:
        assert time.monotonic() < deadline, "the event does not expire"
        time.sleep(0.1)


def test_events_expire_while_the_server_is_away(short_lived: ServerProcess) -> None:
    server = short_lived
    namespace = server.namespace("away")
    path = f"/api/v1/namespaces/{namespace}/events"
    made = server.post(path, event(namespace, "a")).json()
    server.stop()
    time.sleep(2)  # the lifetime that is tested
    server.start()
    watch = server.watch(path, resourceVersion=made["metadata"]["resourceVersion"])
    assert next(watch)["type"] == "DELETED"
    watch.close()
    assert server.get(f"{path}/a").status_code == 404


def test_both_apis_show_the_same_events(short_lived: ServerProcess) -> None:
    server = short_lived
    namespace = server.namespace("both")
    server.post(f"/api/v1/namespaces/{namespace}/events", event(namespace, "a"))
    other = server.get(f"/apis/events.k8s.io/v1/namespaces/{namespace}/events/a").json()
    assert (other["apiVersion"], other["regarding"]["name"]) == ("events.k8s.io/v1", "p")
