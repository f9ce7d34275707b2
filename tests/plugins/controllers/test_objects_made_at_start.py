"""Objects that every cluster has from the start: the system's priority classes, and flow control."""

from __future__ import annotations

from typing import cast

import pytest

from apiserver.api.names import GroupResource
from apiserver.api.request import Request
from apiserver.api.rest import Context
from apiserver.api.server import Server
from apiserver_plugins.controllers import flow_control_objects, system_priority_classes
from apiserver_plugins.resources.flowcontrol_v1 import flowschemas, prioritylevelconfigurations
from apiserver_plugins.resources.scheduling_v1 import priorityclasses
from tests.plugins.resources.fake_server import FakeServer
from tests.plugins.resources.rules import errors_of


@pytest.fixture
def ctx() -> Context:
    """The context of the server's own calls."""
    return Context(Request({"REQUEST_METHOD": ""}))


def test_classes_that_are_missing_are_made() -> None:
    server = FakeServer()
    store = server.serve("scheduling.k8s.io", "priorityclasses")
    own = {"metadata": {"name": "system-node-critical", "labels": {"kept": "yes"}}}
    store.add(own)
    system_priority_classes.ensure(cast(Server, server))
    assert store.objects["", "system-node-critical"] is own
    made = store.objects["", "system-cluster-critical"]
    assert (made["value"], made["preemptionPolicy"]) == (2_000_000_000, "PreemptLowerPriority")


def test_the_systems_classes_keep_the_rules_of_their_kind(ctx: Context) -> None:
    for name, value, description in system_priority_classes.SYSTEM:
        obj = {"metadata": {"name": name}, "value": value, "description": description}
        assert errors_of(priorityclasses.STRATEGY, ctx, obj) == []


def test_flow_control_that_is_missing_is_made(ctx: Context) -> None:
    server = FakeServer()
    stores = {plural: server.serve(flow_control_objects.GROUP, plural) for plural in flow_control_objects.KINDS}
    flow_control_objects.ensure(cast(Server, server))
    flow_control_objects.ensure(cast(Server, server))
    levels, schemas = (stores[plural].objects for plural in ("prioritylevelconfigurations", "flowschemas"))
    assert {"exempt", "catch-all", "workload-low"} <= {name for _, name in levels}
    assert {schema["spec"]["priorityLevelConfiguration"]["name"] for schema in schemas.values()} <= {
        name for _, name in levels
    }
    for obj in levels.values():
        assert errors_of(prioritylevelconfigurations.STRATEGY, ctx, obj) == []
    for obj in schemas.values():
        assert errors_of(flowschemas.STRATEGY, ctx, obj) == []
    assert server.store(GroupResource(flow_control_objects.GROUP, "flowschemas")) is stores["flowschemas"]
