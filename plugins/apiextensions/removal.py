"""Removes the objects of a CustomResourceDefinition that is being deleted, and then lets the definition go.

Called by the rules of definitions (:func:`ask`) and by :mod:`.controller`. Doing a step twice is harmless.

COMPAT: apiextensions-apiserver/pkg/controller/finalizer CRDFinalizer
"""

from __future__ import annotations

from typing import Any

from apiserver.api.errors import ApiError
from apiserver.api.names import GroupResource
from apiserver.api.rest import DeleteOptions, ListOptions
from apiserver.api.server import Server
from apiserver_plugins.apiextensions.naming import TERMINATING, set_condition

Object = dict[str, Any]
FINALIZER = "customresourcecleanup.apiextensions.k8s.io"
_PENDING = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"


def is_due(definition: Object) -> bool:
    """Whether a definition waits for its objects to be removed."""
    metadata = definition["metadata"]
    return bool(metadata.get("deletionTimestamp")) and FINALIZER in (metadata.get("finalizers") or ())


def ask(definition: Object) -> None:
    """Say, in place, that the removal was asked for, and have the definition wait for it."""
    metadata = definition["metadata"]
    if FINALIZER not in (metadata.get("finalizers") or ()):
        metadata["finalizers"] = [*(metadata.get("finalizers") or ()), FINALIZER]
    set_condition(definition, TERMINATING, "True", "InstanceDeletionPending", _PENDING)


def mark(definition: Object) -> None:
    """Say, in place, that the removal has begun."""
    set_condition(
        definition, TERMINATING, "True", "InstanceDeletionInProgress", "CustomResource deletion is in progress"
    )


def finish(definition: Object) -> None:
    """Say, in place, that nothing is left, and take the finalizer away."""
    set_condition(definition, TERMINATING, "False", "InstanceDeletionCompleted", "removed all instances")
    metadata = definition["metadata"]
    metadata["finalizers"] = [name for name in metadata.get("finalizers") or () if name != FINALIZER]
    if not metadata["finalizers"]:
        del metadata["finalizers"]


def remove_objects(server: Server, resource: GroupResource) -> int:
    """Delete all objects of a resource; returns how many are left because somebody has to finish their deletion.

    :raises ApiError: they can't be read or deleted.
    :raises KeyError: the resource is not installed.
    """
    store = server.store(resource)
    everywhere = server.system_context()
    namespaces = {obj.namespace for obj in store.list(everywhere, ListOptions()).items}
    problems = []
    for namespace in sorted(namespaces):
        try:
            context = server.system_context(namespace)
            store.delete_collection(context, DeleteOptions(), ListOptions(), lambda _obj: None)
        except ApiError as ex:
            problems.append(ex)
    if problems:
        raise problems[0]
    return len(store.list(everywhere, ListOptions()).items)
