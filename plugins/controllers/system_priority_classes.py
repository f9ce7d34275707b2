"""The two PriorityClasses of the system, made at start.

Runs whatever ``--controllers`` says: in kube-apiserver it is a part of the server.

COMPAT: pkg/registry/scheduling/rest AddSystemPriorityClasses
"""

from __future__ import annotations

from typing import Any

from apiserver import hookimpl
from apiserver.api.errors import AlreadyExists
from apiserver.api.names import GroupResource
from apiserver.api.rest import WriteOptions
from apiserver.api.server import Server

CLASSES = GroupResource("scheduling.k8s.io", "priorityclasses")
HOOK = "scheduling/bootstrap-system-priority-classes"
SYSTEM = (
    (
        "system-node-critical",
        2_000_001_000,
        "Used for system critical pods that must not be moved from their current node.",
    ),
    (
        "system-cluster-critical",
        2_000_000_000,
        "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
    ),
)


def ensure(server: Server) -> None:
    """Make those that are missing; another process may be doing the same."""
    present = server.lister(CLASSES)
    for name, value, description in SYSTEM:
        if present.get("", name) is not None:
            continue
        obj: dict[str, Any] = {
            "kind": "PriorityClass",
            "apiVersion": "scheduling.k8s.io/v1",
            "metadata": {"name": name},
            "value": value,
            "description": description,
            "preemptionPolicy": "PreemptLowerPriority",
        }
        try:
            server.store(CLASSES).create(server.system_context(), obj, WriteOptions(), lambda _obj, _old: None)
        except AlreadyExists:
            continue


@hookimpl
def apiserver_started(server: Server) -> None:
    if any(resource.group_resource == CLASSES for resource in server.resources):
        server.post_start_hook(HOOK, lambda: ensure(server))
