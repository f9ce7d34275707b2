"""With every version on, what is served is what kube-apiserver 1.36 serves; older minors serve what they had."""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from apiserver.api.resource import Resource
from apiserver.api.server import Server
from apiserver.enablement import Enablement
from apiserver.minors import minors
from apiserver.registry.kinds import Kinds
from apiserver.schema import builtin, definitions
from apiserver.testing.server import LocalServer
from tests.plugins.resources.fake_server import FakeServer

UPSTREAM: list[dict[str, Any]] = json.loads((Path(__file__).parent / "data" / "served.json").read_text())
NAMES = {f"{entry['groupVersion']}/{entry['plural']}": entry for entry in UPSTREAM}
FLOW = "flowcontrol.apiserver.k8s.io"
EVERYTHING = ("--runtime-config=api/all=true", "--feature-gates=APIServerIdentity=true,StorageVersionAPI=true")
# Kinds that are no resources of their own.
NO_RESOURCE = {
    "apiextensions.k8s.io": {"ConversionReview"},
    "lifecycle.k8s.io": {"Eviction", "EvictionRequest"},
    "": {"APIGroup", "APIVersions", "Status"},
    "policy": {"Eviction"},
    "autoscaling": {"Scale"},
    "authentication.k8s.io": {"TokenRequest"},
}


@pytest.fixture(scope="module")
def documents() -> Iterator[dict[str, dict[str, Any]]]:
    """Resources and subresources by group version and name, as discovery tells of them."""
    with LocalServer(*EVERYTHING) as server:
        groups = server.get("/apis").json["groups"]
        paths = ["/api/v1", *(f"/apis/{v['groupVersion']}" for group in groups for v in group["versions"])]
        yield {
            f"{document['groupVersion']}/{entry['name']}": entry
            for document in (server.get(path).json for path in paths)
            for entry in document["resources"]
        }


def declared() -> list[Resource]:
    server = cast(Server, FakeServer(**{"event-ttl": 3600.0}))
    entries = importlib.metadata.distribution("apiserver").entry_points.select(group="apiserver.resources")
    hooks = [getattr(entry.load(), "apiserver_resources", None) for entry in entries]
    return [resource for hook in hooks if hook is not None for resource in hook(server) or ()]


DECLARED = declared()


def test_nothing_is_served_that_kube_apiserver_does_not_serve(documents: dict[str, dict[str, Any]]) -> None:
    assert {name for name, entry in documents.items() if "/" not in entry["name"]} == set(NAMES)


@pytest.mark.parametrize("name", sorted(NAMES))
def test_discovery_tells_what_kube_apiserver_tells(name: str, documents: dict[str, dict[str, Any]]) -> None:
    upstream, found = NAMES[name], documents[name]
    expected = {
        "name": upstream["plural"],
        "singularName": upstream["singular"],
        "namespaced": upstream["scope"] == "Namespaced",
        "kind": upstream["kind"],
        "verbs": upstream["verbs"],
        **{key: upstream[key] for key in ("shortNames", "categories", "storageVersionHash") if key in upstream},
    }
    assert found == expected
    below = {key.rpartition("/")[2]: entry for key, entry in documents.items() if key.startswith(f"{name}/")}
    assert {
        sub: (entry.get("group"), entry.get("version"), entry["kind"], entry["verbs"]) for sub, entry in below.items()
    } == {
        sub["name"]: (sub.get("group"), sub.get("version"), sub["kind"], sub["verbs"])
        for sub in upstream.get("subresources", ())
    }


@pytest.mark.parametrize("name", sorted(n for n in NAMES if "columns" in NAMES[n]))
def test_tables_have_kube_apiservers_columns(name: str) -> None:
    (resource,) = (r for r in DECLARED if f"{r.group_version}/{r.plural}" == name)
    columns = [[c.name, c.type, c.format, c.priority] for c in resource.columns or ()]
    if not any(column[2] == "name" for column in columns):
        columns.insert(0, ["Name", "string", "name", 0])
    if resource.columns is None:
        columns.append(["Created At", "date", "", 0])
    assert columns == NAMES[name]["columns"]


def test_every_version_says_when_it_came() -> None:
    known = {minor: definitions.of(minor) for minor in minors()}
    wrong = {}
    for resource in DECLARED:
        name = builtin.definition_name(*resource.gvk)
        having = [minor for minor in minors() if name in known[minor]]
        always = having == list(minors())
        right = resource.introduced == having[0] or (having[0] == minors()[0] and resource.introduced <= having[0])
        if not right or always != (resource.introduced == 0):
            wrong[str(resource.gvk)] = (resource.introduced, having)
    assert not wrong


@pytest.mark.parametrize("minor", minors())
def test_a_minor_serves_every_kind_that_it_had(minor: int) -> None:
    """All that have a list, and so a resource; with the gates of those that need one."""
    open_gates = {r.gate.name: "true" for r in DECLARED if r.gate is not None}
    served = Enablement(minor, {"api/all": "true"}, open_gates).apply(DECLARED, Kinds(minor))
    published = {key for key in definitions.of(minor).kinds() if not key[2].endswith(("List", "Options"))}
    found = {(r.group, r.version, r.kind) for r in served}
    missing = {key for key in published - found if key[2] not in NO_RESOURCE.get(key[0], ())}
    assert not missing
    assert found <= published


@pytest.mark.parametrize(
    ("minor", "versions"),
    [
        (25, {"autoscaling/v2beta2", f"{FLOW}/v1beta1", f"{FLOW}/v1beta2", "storage.k8s.io/v1beta1"}),
        (26, {f"{FLOW}/v1beta2", f"{FLOW}/v1beta3", "storage.k8s.io/v1beta1"}),
        (28, {f"{FLOW}/v1beta2", f"{FLOW}/v1beta3"}),
        (31, {f"{FLOW}/v1beta3"}),
        (32, set()),
        (36, set()),
    ],
)
def test_the_beta_versions_of_old_that_were_on_by_default_are(minor: int, versions: set[str]) -> None:
    served = Enablement(minor).apply(DECLARED, Kinds(minor))
    assert {str(r.group_version) for r in served if "beta" in r.version or "alpha" in r.version} == versions
