"""Resources that come and go while the server runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from apiserver import Resource, hookimpl
from apiserver.api.request import Request
from apiserver.api.server import ChangingResources, DelegateMatch, Server
from apiserver.testing.server import Answer, LocalServer

AGGREGATED = {"Accept": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}
SPEC = {"type": "object", "properties": {"size": {"type": "integer"}}}


def kind(name: str = "Box", *, version: str = "v1", spec: dict[str, Any] | None = None) -> Resource:
    schema = {"type": "object", "properties": {"spec": spec or SPEC}}
    return Resource("moving.example.com", version, name, f"{name.lower()}es", schema=schema)


class Delegate:
    """A plugin whose resources the test changes."""

    set: ChangingResources
    refreshed = 0

    @hookimpl(priority=350)
    def apiserver_delegate(self, server: Server) -> Callable[[Request], DelegateMatch | None]:
        self.set = server.changing_resources("moving", self._refresh)
        return self.set.claim

    def _refresh(self) -> None:
        self.refreshed += 1


@pytest.fixture(scope="module")
def moving() -> Delegate:
    return Delegate()


@pytest.fixture(scope="module")
def whole(moving: Delegate) -> Iterator[LocalServer]:
    with LocalServer(moving=moving) as server:
        yield server


@pytest.fixture
def server(whole: LocalServer, moving: Delegate) -> Iterator[LocalServer]:
    yield whole
    moving.set.serve([])


def path(plural: str, name: str = "", version: str = "v1") -> str:
    return f"/apis/moving.example.com/{version}/namespaces/default/{plural}" + (f"/{name}" if name else "")


def create(server: LocalServer, plural: str, name: str, **body: Any) -> Answer:
    return server.post(path(plural), {"metadata": {"name": name}, **body})


def following(server: LocalServer, plural: str) -> tuple[threading.Thread, list[str]]:
    """The names in the events of a watch that is open when this returns; the thread ends with it, or with two."""
    names: list[str] = []
    opened = threading.Event()

    def follow() -> None:
        for event in server.watch(path(plural) + "?watch=true&timeoutSeconds=20&resourceVersion=0"):
            names.append(event["object"]["metadata"]["name"])
            opened.set()
            if len(names) == 2:
                return

    thread = threading.Thread(target=follow)
    thread.start()
    assert opened.wait(10)
    return thread, names


def test_a_resource_is_served_as_soon_as_it_is_there_and_no_longer_when_it_is_gone(
    server: LocalServer, moving: Delegate
) -> None:
    assert server.get(path("boxes")).text == "404 page not found\n"
    moving.set.serve([kind()])
    made = create(server, "boxes", "a", spec={"size": 1, "colour": "red"})
    assert made.status == 201
    assert made.json["spec"] == {"size": 1}
    assert made.headers["warning"] == '299 - "unknown field \\"spec.colour\\""'
    assert [item["metadata"]["name"] for item in server.get(path("boxes")).json["items"]] == ["a"]
    moving.set.serve([])
    assert server.get(path("boxes")).text == "404 page not found\n"
    moving.set.serve([kind()])
    assert server.get(path("boxes", "a")).json["spec"] == {"size": 1}
    assert server.delete(path("boxes", "a")).status == 200


def test_a_subresource_that_is_not_there_is_told_by_name(server: LocalServer, moving: Delegate) -> None:
    moving.set.serve([kind()])
    answer = server.get(path("boxes", "a/status"))
    assert (answer.status, answer.json["message"]) == (404, 'boxes.moving.example.com "a" not found')


def test_discovery_and_openapi_follow(server: LocalServer, moving: Delegate) -> None:
    def groups() -> list[str]:
        return [group["name"] for group in server.get("/apis").json["groups"]]

    def discovered() -> list[str]:
        items = server.get("/apis", headers=AGGREGATED).json["items"]
        found = [item for item in items if item["metadata"]["name"] == "moving.example.com"]
        return [r["resource"] for item in found for v in item["versions"] for r in v["resources"]]

    apps = server.get("/openapi/v3/apis/apps/v1")
    assert "moving.example.com" not in groups()
    before = server.get("/apis", headers=AGGREGATED).headers["etag"]
    moving.set.serve([kind("Box"), kind("Fox")])
    assert "moving.example.com" in groups()
    assert discovered() == ["boxes", "foxes"]
    assert server.get("/apis", headers=AGGREGATED).headers["etag"] != before
    group = server.get("/apis/moving.example.com").json
    assert group["preferredVersion"]["groupVersion"] == "moving.example.com/v1"
    listed = server.get("/apis/moving.example.com/v1").json["resources"]
    assert [entry["name"] for entry in listed] == ["boxes", "foxes"]
    assert "/apis/moving.example.com/v1" in server.get("/").json["paths"]
    index = server.get("/openapi/v3").json["paths"]
    document = server.get(index["apis/moving.example.com/v1"]["serverRelativeURL"])
    assert path("boxes", "{name}").replace("default", "{namespace}") in document.json["paths"]
    assert server.get("/openapi/v3/apis/apps/v1").headers["etag"] == apps.headers["etag"]
    moving.set.serve([])
    assert "moving.example.com" not in groups()
    assert discovered() == []
    assert server.get("/apis", headers=AGGREGATED).headers["etag"] == before
    assert "apis/moving.example.com/v1" not in server.get("/openapi/v3").json["paths"]
    assert server.get("/apis/moving.example.com/v1").text == "404 page not found\n"


def test_documents_are_made_of_what_is_newest(server: LocalServer, moving: Delegate) -> None:
    before = moving.refreshed
    server.get("/apis")
    server.get("/openapi/v3")
    assert moving.refreshed >= before + 2


def test_a_change_of_the_schema_counts_for_the_next_request_and_leaves_the_others_alone(
    server: LocalServer, moving: Delegate
) -> None:
    box, fox = kind("Box"), kind("Fox")
    moving.set.serve([box, fox])
    create(server, "boxes", "kept", spec={"size": 5})
    create(server, "foxes", "first")
    seen = {plural: following(server, plural) for plural in ("boxes", "foxes")}
    wider = {"type": "object", "properties": {"size": {"type": "integer"}, "colour": {"type": "string"}}}
    moving.set.serve([kind("Box", spec=wider), fox])
    made = create(server, "boxes", "b", spec={"size": 1, "colour": "red"})
    assert made.json["spec"] == {"size": 1, "colour": "red"}
    assert server.get(path("boxes", "kept")).json["spec"] == {"size": 5}
    create(server, "foxes", "second")
    thread, names = seen["boxes"]
    thread.join(15)
    assert not thread.is_alive()  # the watch of what was installed anew has ended
    assert names == ["kept"]
    thread, names = seen["foxes"]
    thread.join(15)
    assert names == ["first", "second"]
    for plural, name in (("foxes", "first"), ("foxes", "second")):
        assert server.delete(path(plural, name)).status == 200
    for plural, name in (("boxes", "kept"), ("boxes", "b")):
        assert server.delete(path(plural, name)).status == 200


def test_a_namespace_is_emptied_of_them_too(server: LocalServer, moving: Delegate) -> None:
    moving.set.serve([kind()])
    server.post("/api/v1/namespaces", {"metadata": {"name": "emptied"}})
    made = server.post("/apis/moving.example.com/v1/namespaces/emptied/boxes", {"metadata": {"name": "a"}})
    assert made.status == 201
    server.delete("/api/v1/namespaces/emptied")
    list(server.watch("/api/v1/namespaces?watch=true&timeoutSeconds=3&fieldSelector=metadata.name=emptied"))
    assert server.get("/api/v1/namespaces/emptied").status == 404


def test_a_hundred_changes_under_load_fail_nobody(server: LocalServer, moving: Delegate) -> None:
    box = kind("Box")
    moving.set.serve([box])
    create(server, "boxes", "a")
    done = threading.Event()
    refused: list[str] = []

    def read() -> None:
        while not done.is_set():
            for target in (path("boxes", "a"), path("boxes"), "/apis/moving.example.com/v1", "/api/v1/namespaces"):
                answer = server.get(target)
                if answer.status != 200:
                    refused.append(answer.text)

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    for number in range(100):
        moving.set.serve([box, kind("Fox", version=f"v{number + 1}")])
    done.set()
    for reader in readers:
        reader.join()
    assert refused == []
    assert server.delete(path("boxes", "a")).status == 200
