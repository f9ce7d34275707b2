"""Declarations agree with what kube-apiserver serves; one-line declarations are read."""

from __future__ import annotations

import importlib.metadata
import json
from pathlib import Path
from typing import Any, cast

import pytest

from apiserver.api.resource import Resource
from apiserver.api.server import Server
from apiserver_plugins.resources.common.declarations import declare
from tests.plugins.resources.fake_server import FakeServer

UPSTREAM: dict[str, Any] = json.loads((Path(__file__).parent / "data" / "upstream.json").read_text())


def declared() -> dict[str, Resource]:
    """All resources of this distribution's plugins, by version and plural."""
    found: dict[str, Resource] = {}
    server = cast(Server, FakeServer(**{"event-ttl": 3600.0}))
    for entry in importlib.metadata.distribution("apiserver").entry_points.select(group="apiserver.resources"):
        hook = getattr(entry.load(), "apiserver_resources", None)
        for resource in (hook(server) or ()) if hook else ():
            found[f"{resource.group_version}/{resource.plural}"] = resource
    return found


DECLARED = declared()


@pytest.mark.parametrize("name", sorted(UPSTREAM))
def test_names_and_scope_are_upstreams(name: str) -> None:
    resource, upstream = DECLARED[name], UPSTREAM[name]
    assert resource.kind == upstream["kind"]
    assert resource.singular_name == upstream["singular"]
    assert resource.namespaced == (upstream["scope"] == "Namespaced")
    assert list(resource.short_names) == upstream["shortNames"]
    assert list(resource.categories) == upstream["categories"]
    if resource.verbs is not None:
        assert sorted(resource.verbs) == upstream["verbs"]


@pytest.mark.parametrize("name", sorted(UPSTREAM))
def test_subresources_are_upstreams(name: str) -> None:
    resource = DECLARED[name]
    kinds = {sub.name: (sub.kind.kind if sub.kind else resource.kind) for sub in resource.subresources}
    assert kinds == UPSTREAM[name]["subresources"]


@pytest.mark.parametrize("name", sorted(n for n in UPSTREAM if UPSTREAM[n]["columns"]))
def test_columns_are_upstreams(name: str) -> None:
    columns = [[c.name, c.type, c.format, c.priority] for c in DECLARED[name].columns or ()]
    if not any(column[2] == "name" for column in columns):
        columns.insert(0, ["Name", "string", "name", 0])
    assert columns == UPSTREAM[name]["columns"]


@pytest.mark.parametrize("name", sorted(n for n in UPSTREAM if UPSTREAM[n]["columns"]))
def test_every_column_says_what_it_means(name: str) -> None:
    assert all(column.description or column.field for column in DECLARED[name].columns or ())


def test_one_line_declares_a_kind() -> None:
    table = """
    #GROUP/VERSION   KIND    PLURAL   SCOPE       SHORT NAMES  CATEGORIES
    example.com/v1   Wheel   wheels   Namespaced  w,wh         all
    v1               Road    roads    Cluster     -            -
    """
    wheel, road = declare(table, {"Road": {"deprecated": "too old"}})
    assert (wheel.group, wheel.version, wheel.namespaced) == ("example.com", "v1", True)
    assert (wheel.short_names, wheel.categories) == (("w", "wh"), ("all",))
    assert (road.group, road.kind, road.namespaced, road.short_names) == ("", "Road", False, ())
    assert road.deprecated == "too old"


@pytest.mark.parametrize("line", ["v1 Road roads Cluster -", "v1 Road roads Everywhere - -"])
def test_a_line_that_is_no_declaration_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="not a declaration"):
        declare(line)
