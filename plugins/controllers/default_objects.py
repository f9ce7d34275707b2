"""Objects that every active namespace must have: the loop that the controllers for them share.

Used by :mod:`apiserver_plugins.controllers.serviceaccounts_controller` and
:mod:`apiserver_plugins.controllers.root_ca_publisher`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from apiserver.api.errors import AlreadyExists, ApiError
from apiserver.api.names import GroupResource
from apiserver.api.rest import WriteOptions
from apiserver.api.server import Server

NAMESPACES = GroupResource("", "namespaces")
INTERVAL = 0.25
"""Seconds between two looks: what a new namespace waits for its objects. A look costs two lookups a namespace."""


def ensure_everywhere(server: Server, resource: GroupResource, name: str, make: Callable[[], dict[str, Any]]) -> None:
    """Create ``name`` in every active namespace that lacks it.

    :param make: a new object, without name and namespace.
    """
    present = server.lister(resource)
    for namespace in server.lister(NAMESPACES).list():
        if namespace.extra_fields.get("status.phase") != "Active" or present.get(namespace.name, name) is not None:
            continue
        obj = make()
        obj["metadata"] = {**obj.get("metadata", {}), "name": name, "namespace": namespace.name}
        try:
            context = server.system_context(namespace.name)
            server.store(resource).create(context, obj, WriteOptions(), lambda _obj, _old: None)
        except AlreadyExists:
            # Another process made it, or the cache has not seen ours yet.
            continue


def run_everywhere(
    server: Server, controller: str, resource: GroupResource, name: str, make: Callable[[], dict[str, Any]]
) -> None:
    """Start the loop of a controller."""

    def loop(wait: Callable[[float], bool]) -> None:
        while wait(INTERVAL):
            try:
                ensure_everywhere(server, resource, name, make)
            except ApiError:
                # The store can't be reached, or a namespace went away meanwhile: the next look will tell.
                continue

    server.background(controller, loop)
