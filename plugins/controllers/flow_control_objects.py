"""The FlowSchemas and PriorityLevelConfigurations that every cluster has, made at start.

Runs whatever ``--controllers`` says: in kube-apiserver it is a part of the server.

COMPAT: pkg/registry/flowcontrol/rest ensureSuggested, ensureMandatory
"""

from __future__ import annotations

from importlib import resources
from typing import Any

import orjson

from apiserver import hookimpl
from apiserver.api.errors import AlreadyExists
from apiserver.api.names import GroupResource
from apiserver.api.rest import WriteOptions
from apiserver.api.server import Server

GROUP = "flowcontrol.apiserver.k8s.io"
HOOK = "priority-and-fairness-config-producer"
KINDS = {"prioritylevelconfigurations": "PriorityLevelConfiguration", "flowschemas": "FlowSchema"}


def objects() -> dict[str, list[dict[str, Any]]]:
    """What there must be, by plural: without kind and version."""
    data = resources.files("apiserver_plugins.controllers") / "data" / "flow_control.json"
    found: dict[str, list[dict[str, Any]]] = orjson.loads(data.read_bytes())
    return found


def ensure(server: Server) -> None:
    """Make those that are missing; another process may be doing the same."""
    for plural, wanted in objects().items():
        resource = GroupResource(GROUP, plural)
        present = server.lister(resource)
        for one in wanted:
            if present.get("", one["metadata"]["name"]) is not None:
                continue
            obj = {"kind": KINDS[plural], "apiVersion": f"{GROUP}/v1", **one}
            try:
                server.store(resource).create(server.system_context(), obj, WriteOptions(), lambda _obj, _old: None)
            except AlreadyExists:
                continue


@hookimpl
def apiserver_started(server: Server) -> None:
    served = {resource.plural for resource in server.resources if resource.group == GROUP}
    if served >= set(KINDS):
        server.post_start_hook(HOOK, lambda: ensure(server))
