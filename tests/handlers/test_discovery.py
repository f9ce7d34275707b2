"""Discovery: what clients find out before they ask for anything."""

from __future__ import annotations

import base64
import hashlib
import re

import pytest

from tests.handlers.kit import Object
from tests.server import ServerProcess

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


def resources(server: ServerProcess, path: str) -> dict[str, Object]:
    answer = server.get(path)
    assert answer.status_code == 200
    document = answer.json()
    assert document["kind"] == "APIResourceList"
    return {entry["name"]: entry for entry in document["resources"]}


def test_the_root_lists_paths(server: ServerProcess) -> None:
    paths = server.get("/").json()["paths"]
    assert paths == sorted(paths)
    assert {"/api", "/api/v1", "/apis", "/apis/apps", "/apis/apps/v1", "/healthz", "/livez", "/readyz"} <= set(paths)
    assert {"/metrics", "/openapi/v2", "/openapi/v3", "/version"} <= set(paths)


def test_the_core_group_has_a_path_of_its_own(server: ServerProcess) -> None:
    document = server.get("/api").json()
    assert (document["kind"], document["versions"]) == ("APIVersions", ["v1"])
    assert document["serverAddressByClientCIDRs"][0]["clientCIDR"] == "0.0.0.0/0"


def test_groups_say_which_version_they_prefer(server: ServerProcess) -> None:
    document = server.get("/apis").json()
    assert (document["kind"], document["apiVersion"]) == ("APIGroupList", "v1")
    groups = {group["name"]: group for group in document["groups"]}
    version = {"groupVersion": "apps/v1", "version": "v1"}
    assert groups["apps"] == {"name": "apps", "versions": [version], "preferredVersion": version}
    assert "coordination.k8s.io" in groups
    alone = server.get("/apis/apps").json()
    assert alone == {"kind": "APIGroup", "apiVersion": "v1", **groups["apps"]}


def test_resources_tell_kind_verbs_and_short_names(server: ServerProcess) -> None:
    configmaps = resources(server, "/api/v1")["configmaps"]
    assert configmaps == {
        "name": "configmaps",
        "singularName": "configmap",
        "namespaced": True,
        "kind": "ConfigMap",
        "verbs": ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
        "shortNames": ["cm"],
        "storageVersionHash": configmaps["storageVersionHash"],
    }
    deployments = resources(server, "/apis/apps/v1")["deployments"]
    assert (deployments["categories"], deployments["shortNames"]) == (["all"], ["deploy"])


def test_verbs_are_what_the_storage_can_do(server: ServerProcess) -> None:
    core = resources(server, "/api/v1")
    assert core["namespaces"]["verbs"] == ["create", "delete", "get", "list", "patch", "update", "watch"]
    assert core["namespaces/finalize"]["verbs"] == ["update"]
    assert core["namespaces/status"]["verbs"] == ["get", "patch", "update"]
    assert core["componentstatuses"]["verbs"] == ["get", "list"]
    assert core["pods/binding"]["verbs"] == ["create"]


def test_subresources_may_speak_another_kind(server: ServerProcess) -> None:
    scale = resources(server, "/apis/apps/v1")["deployments/scale"]
    assert (scale["group"], scale["version"], scale["kind"]) == ("autoscaling", "v1", "Scale")


def test_the_storage_version_is_told_by_its_hash(server: ServerProcess) -> None:
    digest = hashlib.sha256(b"apps/v1/Deployment").digest()[:8]
    entry = resources(server, "/apis/apps/v1")["deployments"]
    assert entry["storageVersionHash"] == base64.b64encode(digest).decode()


@pytest.mark.parametrize("path", ["/api", "/apis"])
def test_all_groups_come_in_one_document(server: ServerProcess, path: str) -> None:
    answer = server.get(path, headers={"Accept": AGGREGATED})
    assert answer.headers["Content-Type"] == AGGREGATED
    assert answer.headers["Vary"] == "Accept"
    document = answer.json()
    assert (document["kind"], document["apiVersion"]) == ("APIGroupDiscoveryList", "apidiscovery.k8s.io/v2")
    versions = {
        (group["metadata"].get("name", ""), version["version"]): version
        for group in document["items"]
        for version in group["versions"]
    }
    assert all(version["freshness"] == "Current" for version in versions.values())
    for (group, version), entry in versions.items():
        legacy = resources(server, f"/apis/{group}/{version}" if group else f"/api/{version}")
        assert {r["resource"] for r in entry["resources"]} == {name for name in legacy if "/" not in name}
        for resource in entry["resources"]:
            told = legacy[resource["resource"]]
            assert resource["responseKind"]["kind"] == told["kind"]
            assert resource["verbs"] == told["verbs"]
            assert resource["scope"] == ("Namespaced" if told["namespaced"] else "Cluster")


def test_an_unchanged_document_is_not_sent_again(server: ServerProcess) -> None:
    first = server.get("/apis", headers={"Accept": AGGREGATED})
    tag = first.headers["Etag"]
    assert re.fullmatch(r'"[0-9A-F]{128}"', tag)
    again = server.get("/apis", headers={"Accept": AGGREGATED, "If-None-Match": tag})
    assert (again.status_code, again.content) == (304, b"")
    other = server.get("/apis", headers={"Accept": AGGREGATED, "If-None-Match": '"other"'})
    assert other.status_code == 200


def test_those_who_do_not_know_it_get_the_older_documents(server: ServerProcess) -> None:
    older = AGGREGATED.replace("v=v2", "v=v2beta1")
    assert server.get("/apis", headers={"Accept": f"{older},application/json"}).json()["kind"] == "APIGroupList"


@pytest.mark.parametrize("path", ["/apis/nothing.example.com", "/apis/nothing.example.com/v1", "/apis/apps/v9"])
def test_what_is_not_served_is_not_found(server: ServerProcess, path: str) -> None:
    assert server.get(path).status_code == 404


def test_the_version_says_which_kubernetes_it_is(server: ServerProcess) -> None:
    version = server.get("/version").json()
    assert (version["major"], version["minor"]) == ("1", "36")
    assert version["gitVersion"].startswith("v1.36.")
