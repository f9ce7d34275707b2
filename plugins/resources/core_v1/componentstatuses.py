"""ComponentStatuses: an old view of whether the parts of a control plane are well. Here that is the store.

Nothing is kept: each read asks anew.

COMPAT: pkg/registry/core/componentstatus
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from apiserver import hookimpl
from apiserver.api.encoded import EncodedObject
from apiserver.api.errors import NotFound
from apiserver.api.names import GroupResource
from apiserver.api.resource import Column, Resource
from apiserver.api.rest import Context, GetOptions, ListOptions, ListResult
from apiserver.api.server import Server
from apiserver.api.storage import StorageError

NAME = "etcd-0"
RESOURCE = GroupResource("", "componentstatuses")


class ComponentStatuses:
    """Storage that can get and list."""

    def __init__(self, server: Server, resource: Resource) -> None:
        self._server = server

    def get(self, ctx: Context, name: str, options: GetOptions) -> EncodedObject:
        """:raises NotFound: there is no such component."""
        if name != NAME:
            raise NotFound.for_object(RESOURCE, name)
        return EncodedObject.of(self._status())

    def list(self, ctx: Context, options: ListOptions) -> ListResult:
        """All of them, for any options: they have no version and are too few for pages."""
        return ListResult([EncodedObject.of(self._status())], "")

    def _status(self) -> dict[str, Any]:
        try:
            self._server.storage.check()
        except StorageError as ex:
            healthy = {"type": "Healthy", "status": "False", "message": str(ex), "error": str(ex)}
        else:
            healthy = {"type": "Healthy", "status": "True", "message": "ok"}
        return {
            "kind": "ComponentStatus",
            "apiVersion": "v1",
            "metadata": {"name": NAME},
            "conditions": [healthy],
        }


def _healthy(obj: dict[str, Any]) -> dict[str, Any]:
    conditions = obj.get("conditions") or ()
    return next((c for c in conditions if c.get("type") == "Healthy"), {})


def _status(obj: dict[str, Any]) -> str:
    return {"True": "Healthy", "False": "Unhealthy"}.get(_healthy(obj).get("status", ""), "Unknown")


def _message(obj: dict[str, Any]) -> str:
    return str(_healthy(obj).get("message", ""))


def _error(obj: dict[str, Any]) -> str:
    return str(_healthy(obj).get("error", ""))


@hookimpl
def apiserver_resources(server: Server) -> Iterable[Resource]:
    return [
        Resource(
            group="",
            version="v1",
            kind="ComponentStatus",
            plural="componentstatuses",
            namespaced=False,
            short_names=("cs",),
            storage=ComponentStatuses,
            columns=(
                Column("Status", _status, description="Status of the component conditions"),
                Column("Message", _message, description="Message of the component conditions"),
                Column("Error", _error, description="Error of the component conditions"),
            ),
            deprecated="v1 ComponentStatus is deprecated in v1.19+",
        )
    ]
