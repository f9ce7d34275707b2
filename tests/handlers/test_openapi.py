"""OpenAPI: the documents that kubectl explain and validation read."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest

from tests.handlers.kit import Object
from tests.server import ServerProcess


@pytest.fixture
def paths(server: ServerProcess) -> dict[str, str]:
    """Where the documents are, by group and version."""
    document = server.get("/openapi/v3").json()
    return {name: entry["serverRelativeURL"] for name, entry in document["paths"].items()}


def references(node: object) -> set[str]:
    """All that a document refers to."""
    if isinstance(node, dict):
        found = {node["$ref"]} if isinstance(node.get("$ref"), str) else set()
        return found.union(*(references(child) for child in node.values())) if node else found
    if isinstance(node, list):
        return set().union(*map(references, node))
    return set()


def test_the_index_names_a_document_for_each_group_and_version(server: ServerProcess, paths: dict[str, str]) -> None:
    assert {"api/v1", "apis/apps/v1", "apis/coordination.k8s.io/v1", "version"} <= set(paths)
    for name, url in paths.items():
        assert url.startswith(f"/openapi/v3/{name}?hash=")


def test_a_document_with_its_hash_may_be_kept_for_ever(server: ServerProcess, paths: dict[str, str]) -> None:
    answer = server.get(paths["apis/apps/v1"])
    assert answer.status_code == 200
    assert answer.headers["Cache-Control"] == "public, immutable"
    assert answer.headers["Expires"]
    assert answer.json()["openapi"] == "3.0.0"


def test_another_hash_is_redirected_to_the_right_one(server: ServerProcess, paths: dict[str, str]) -> None:
    answer = server.get("/openapi/v3/apis/apps/v1?hash=OLD")
    assert answer.status_code == 301
    where = urlsplit(answer.headers["Location"])
    assert f"{where.path}?{where.query}" == paths["apis/apps/v1"]


def test_without_a_hash_there_is_a_tag(server: ServerProcess) -> None:
    answer = server.get("/openapi/v3/apis/apps/v1")
    assert answer.headers["Cache-Control"] != "public, immutable"
    headers = {"If-None-Match": answer.headers["Etag"]}
    assert server.get("/openapi/v3/apis/apps/v1", headers=headers).status_code == 304


def test_every_document_is_complete(server: ServerProcess, paths: dict[str, str]) -> None:
    for url in paths.values():
        document = server.get(url).json()
        schemas = document.get("components", {}).get("schemas", {})
        known = {f"#/components/schemas/{name}" for name in schemas}
        assert references(document) <= known, url


def schema(document: Object, name: str) -> Object:
    found: Object = document["components"]["schemas"][name]
    return found


def test_schemas_tell_what_merging_and_validation_need(server: ServerProcess) -> None:
    document = server.get("/openapi/v3/apis/apps/v1").json()
    deployment = schema(document, "io.k8s.api.apps.v1.Deployment")
    assert deployment["x-kubernetes-group-version-kind"] == [{"group": "apps", "version": "v1", "kind": "Deployment"}]
    containers = schema(document, "io.k8s.api.core.v1.PodSpec")["properties"]["containers"]
    assert containers["x-kubernetes-list-type"] == "map"
    assert containers["x-kubernetes-list-map-keys"] == ["name"]
    assert containers["x-kubernetes-patch-merge-key"] == "name"
    assert containers["x-kubernetes-patch-strategy"] == "merge"
    assert "containers" in schema(document, "io.k8s.api.core.v1.PodSpec")["required"]


def test_paths_tell_their_kind_and_their_action(server: ServerProcess) -> None:
    document = server.get("/openapi/v3/apis/apps/v1").json()
    item = document["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments"]
    kind = {"group": "apps", "version": "v1", "kind": "Deployment"}
    assert item["post"]["x-kubernetes-group-version-kind"] == kind
    assert (item["post"]["x-kubernetes-action"], item["get"]["x-kubernetes-action"]) == ("post", "list")
    names = {parameter["name"] for parameter in item["get"]["parameters"]}
    assert {"labelSelector", "fieldSelector", "limit", "continue", "resourceVersion", "watch"} <= names
    assert "put" not in item


def test_the_older_version_holds_all_in_one(server: ServerProcess) -> None:
    answer = server.get("/openapi/v2", headers={"Accept": "application/json"})
    document = answer.json()
    assert document["swagger"] == "2.0"
    assert {"io.k8s.api.apps.v1.Deployment", "io.k8s.api.core.v1.ConfigMap"} <= set(document["definitions"])
    assert "/api/v1/namespaces/{namespace}/configmaps/{name}" in document["paths"]
    known = {f"#/{kind}/{name}" for kind in ("definitions", "parameters") for name in document[kind]}
    assert references(document) <= known
    headers = {"Accept": "application/json", "If-None-Match": answer.headers["Etag"]}
    assert server.get("/openapi/v2", headers=headers).status_code == 304


def test_documents_that_are_not_there_are_not_found(server: ServerProcess) -> None:
    assert server.get("/openapi/v3/apis/nothing.example.com/v1").status_code == 404


def test_formats_nobody_writes_are_not_acceptable(server: ServerProcess) -> None:
    for path in ("/openapi/v2", "/openapi/v3/api/v1"):
        assert server.get(path, headers={"Accept": "text/html"}).status_code == 406


def test_the_v2_document_comes_compressed_to_those_who_read_that(server: ServerProcess) -> None:
    plain = server.get("/openapi/v2", headers={"Accept-Encoding": "identity"})
    assert "Content-Encoding" not in plain.headers
    for _ in range(2):  # made, and as it was kept
        answer = server.get("/openapi/v2", headers={"Accept-Encoding": "gzip"})
        assert answer.headers["Content-Encoding"] == "gzip"
        assert answer.headers["Vary"] == "Accept-Encoding, Accept"
        assert answer.json() == plain.json()
    assert "Content-Encoding" not in server.get("/openapi/v3/api", headers={"Accept-Encoding": "gzip"}).headers
