"""Changes of stored objects by controllers: read, change, write, again if somebody wrote in between.

Used by controllers that keep one object or few.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from apiserver.api.encoded import EncodedObject
from apiserver.api.names import GroupResource
from apiserver.api.rest import WriteOptions
from apiserver.api.server import Server
from apiserver.api.strategy import Strategy

Object = dict[str, Any]


def change(
    server: Server,
    resource: GroupResource,
    namespace: str,
    name: str,
    apply: Callable[[Object], None],
    subresource: str = "",
) -> None:
    """Change an object with ``apply``, in place; nothing is written if it leaves it as it is.

    :param subresource: such as ``status``, whose rules apply then.
    :raises NotFound: there is no such object.
    :raises ApiError: it can't be stored.
    """

    def transform(old: Object | None, encoded: EncodedObject | None) -> Object:
        obj = encoded.decode() if encoded is not None else old or {}
        apply(obj)
        return obj

    store = server.store(resource)
    if subresource:
        store = store.with_strategy(_strategy(server, resource, subresource))
    store.update(server.system_context(namespace), name, transform, WriteOptions(), lambda _obj, _old: None)


def create(server: Server, resource: GroupResource, obj: Object) -> None:
    """Create an object, in the namespace that its metadata names.

    :raises AlreadyExists: there is one of its name.
    :raises ApiError: it can't be stored.
    """
    namespace = obj["metadata"].get("namespace", "")
    server.store(resource).create(server.system_context(namespace), obj, WriteOptions(), lambda _obj, _old: None)


def served(server: Server, resource: GroupResource) -> bool:
    """Whether this server has the resource."""
    return any(declared.group_resource == resource for declared in server.resources)


def _strategy(server: Server, resource: GroupResource, subresource: str) -> Strategy | None:
    declared = next(declared for declared in server.resources if declared.group_resource == resource)
    return next(sub.strategy for sub in declared.subresources if sub.name == subresource)
