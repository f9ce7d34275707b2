"""What becomes of one object: kept, freed of owners that are gone, orphaned, deleted.

:class:`Collector` decides it again from what is stored at that moment, so that it may be asked at any time, by any
number of processes: deletions are bound to the uid and version that were looked at, and what is done already is found
done.

COMPAT: pkg/controller/garbagecollector attemptToDeleteItem, attemptToOrphanWorker, processDeletingDependentsItem
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from apiserver.api.encoded import EncodedObject
from apiserver.api.errors import NotFound
from apiserver.api.events import record
from apiserver.api.names import GroupVersion, GroupVersionKind
from apiserver.api.resource import Resource
from apiserver.api.rest import DeleteOptions, GetOptions, WriteOptions
from apiserver.api.server import Server
from apiserver_plugins.controllers.garbage.changes import (
    FOREGROUND,
    ORPHAN,
    Change,
    unblock_owners,
    without_finalizer,
    without_owners,
)
from apiserver_plugins.controllers.garbage.graph import Graph, Node, Reference

COMPONENT = "garbage-collector-controller"
REMEMBERED = 1000
"""How many uids of owners that are gone are remembered."""


class UnknownKind(Exception):  # named after what it says, as API errors are
    """An owner is of a kind that is not served: nothing is known about it."""


class _ForeignNamespace(Exception):
    """A cluster-scoped object names an owner in a namespace, which can't be."""


class _Sorted(NamedTuple):
    """References by the state of their owners. COMPAT: classifyReferences."""

    solid: list[str]
    dangling: list[str]
    waiting: list[str]


class Collector:
    """Acts on nodes of ``graph``.

    :param again: called with nodes to be looked at.
    :param catch_up: brings the graph up to all that happened before the last read of the newest state.
    """

    def __init__(
        self, server: Server, graph: Graph, again: Callable[[Sequence[Node]], None], catch_up: Callable[[], None]
    ) -> None:
        self._server = server
        self._graph = graph
        self._again = again
        self._catch_up = catch_up
        self._gone: dict[str, None] = {}

    def owner_deleted(self, uid: str) -> None:
        """Remember that nothing of this uid exists; a uid never comes back."""
        self._gone[uid] = None
        if len(self._gone) > REMEMBERED:
            del self._gone[next(iter(self._gone))]

    def attempt(self, node: Node) -> None:
        """Do for an object what is due.

        :raises UnknownKind: an owner's kind is not served; try again when others are.
        :raises ApiError: try again later.
        """
        cached = node.follower.get(node.key)
        if cached is None:
            return
        obj = cached.decode()
        metadata = obj["metadata"]
        finalizers = metadata.get("finalizers") or ()
        if metadata.get("deletionTimestamp"):
            if ORPHAN in finalizers:
                self._orphan(node, metadata)
            elif FOREGROUND in finalizers:
                self._finish_foreground(node, metadata)
        elif metadata.get("ownerReferences"):
            self._judge(node, obj)

    # -- a dependent --------------------------------------------------------------------------------------------------

    def _judge(self, node: Node, obj: dict[str, Any]) -> None:
        try:
            owners = self._sort(obj)
        except _ForeignNamespace:
            return
        uid = obj["metadata"]["uid"]
        if owners.solid:
            lost = {*owners.dangling, *owners.waiting}
            if lost:
                # Owners that wait would wait for ever for one that stays.
                self._change(node, uid, without_owners(lost))
            return
        if owners.waiting and (dependents := self._graph.dependents(uid)):
            circular = any(self._deletes_dependents(dependent) for dependent in dependents)
            if circular:
                # COMPAT: in a circle each would wait for the next
                self._change(node, uid, unblock_owners)
            self._delete(node, obj, "Foreground", bound=not circular)
            return
        finalizers = obj["metadata"].get("finalizers") or ()
        policy = "Orphan" if ORPHAN in finalizers else "Foreground" if FOREGROUND in finalizers else "Background"
        self._delete(node, obj, policy)

    def _sort(self, obj: dict[str, Any]) -> _Sorted:
        found = _Sorted([], [], [])
        for reference in obj["metadata"]["ownerReferences"]:
            uid = reference.get("uid", "")
            owner = self._find(obj, reference)
            if owner is None:
                found.dangling.append(uid)
            elif owner.get("deletionTimestamp") and FOREGROUND in (owner.get("finalizers") or ()):
                found.waiting.append(uid)
            else:
                found.solid.append(uid)
        return found

    def _find(self, obj: dict[str, Any], reference: Reference) -> dict[str, Any] | None:
        """The owner's metadata, None if there is no such owner. COMPAT: isDangling."""
        uid = reference.get("uid", "")
        resource = self._resource(reference)
        namespace = obj["metadata"].get("namespace") or ""
        if resource.namespaced and not namespace:
            self._report_foreign(resource, obj, reference)
            raise _ForeignNamespace
        if uid in self._gone:
            return None
        place = (namespace if resource.namespaced else "", reference.get("name", ""))
        metadata = _metadata(self._server.lister(resource.group_resource).get(*place))
        if metadata is None or metadata["uid"] != uid:
            metadata = self._read(resource, *place)
        if metadata is not None and metadata["uid"] == uid:
            owner = self._graph.owner(uid)
            if owner is not None:
                owner.verified = coordinates(reference, place[0])
            return metadata
        self._report_foreign(resource, obj, reference)
        return None

    def _read(self, resource: Resource, namespace: str, name: str) -> dict[str, Any] | None:
        store = self._server.store(resource.group_resource)
        try:
            return _metadata(store.get(self._server.system_context(namespace), name, GetOptions()))
        except NotFound:
            return None

    def _resource(self, reference: Reference) -> Resource:
        try:
            kind = GroupVersion.parse(reference.get("apiVersion", "")).kind(reference.get("kind", ""))
        except ValueError:
            raise UnknownKind(str(reference)) from None
        found = self._served(kind)
        if found is None:
            raise UnknownKind(str(kind))
        return found

    def _served(self, kind: GroupVersionKind) -> Resource | None:
        return next((r for r in self._server.resources if r.kind == kind.kind and r.gvk == kind), None)

    def _report_foreign(self, resource: Resource, obj: dict[str, Any], reference: Reference) -> None:
        """An event about an owner that exists, but in another namespace. COMPAT: reportInvalidNamespaceOwnerRef."""
        uid = reference.get("uid", "")
        if not resource.namespaced or not uid:
            return
        needle = uid.encode()
        namespace = obj["metadata"].get("namespace") or ""
        for candidate in self._server.lister(resource.group_resource).list():
            if candidate.namespace == namespace or needle not in candidate.rest:
                continue
            if candidate.decode()["metadata"]["uid"] == uid:
                name, version, kind = (reference.get(f, "") for f in ("name", "apiVersion", "kind"))
                shown = f"[{version}/{kind}, namespace: {namespace}, name: {name}, uid: {uid}]"
                message = f'ownerRef {shown} does not exist in namespace "{namespace}"'
                record(self._server, COMPONENT, obj, "OwnerRefInvalidNamespace", message)
                return

    # -- an owner -----------------------------------------------------------------------------------------------------

    def _orphan(self, node: Node, metadata: dict[str, Any]) -> None:
        uid = metadata["uid"]
        if not self._refreshed(node, uid):
            return
        for dependent in self._graph.dependents(uid):
            self._change(dependent, None, without_owners((uid,)))
        self._change(node, uid, without_finalizer(ORPHAN))

    def _finish_foreground(self, node: Node, metadata: dict[str, Any]) -> None:
        uid = metadata["uid"]
        if not self._refreshed(node, uid):
            return
        blocking = self._graph.blocking(uid)
        if not blocking:
            self._change(node, uid, without_finalizer(FOREGROUND))
        self._again([dependent for dependent in blocking if not self._deletes_dependents(dependent)])

    def _refreshed(self, node: Node, uid: str) -> bool:
        """Make sure that the graph has every dependent that exists by now; whether the owner still does."""
        namespace, name = node.follower.place(node.key)
        metadata = self._read(node.follower.resource, namespace, name)
        self._catch_up()
        return metadata is not None and metadata["uid"] == uid

    def _deletes_dependents(self, node: Node) -> bool:
        metadata = _metadata(node.follower.get(node.key))
        if metadata is None or not metadata.get("deletionTimestamp"):
            return False
        return FOREGROUND in (metadata.get("finalizers") or ())

    # -- writes -------------------------------------------------------------------------------------------------------

    def _delete(self, node: Node, obj: dict[str, Any], policy: str, bound: bool = True) -> None:
        """:param bound: to the version that was looked at; somebody may have given it an owner since."""
        metadata = obj["metadata"]
        namespace, name = node.follower.place(node.key)
        version = metadata["resourceVersion"] if bound else None
        options = DeleteOptions(uid=metadata["uid"], resource_version=version, propagation_policy=policy)
        try:
            node.follower.store.delete(self._server.system_context(namespace), name, options, lambda _obj: None)
        except NotFound:
            return

    def _change(self, node: Node, uid: str | None, change: Change) -> None:
        """Change what is stored, if it is still the object of ``uid`` (None: whichever)."""

        def transform(old: dict[str, Any] | None, encoded: EncodedObject | None) -> dict[str, Any]:
            if encoded is None or (uid is not None and (old or {})["metadata"]["uid"] != uid):
                raise NotFound("the object has been replaced")
            obj = encoded.decode()
            change(obj)
            return obj

        namespace, name = node.follower.place(node.key)
        context = self._server.system_context(namespace)
        try:
            node.follower.store.update(context, name, transform, WriteOptions(), lambda _obj, _old: None)
        except NotFound:
            return


def coordinates(reference: Reference, namespace: str) -> tuple[str, ...]:
    """Where a reference points. COMPAT: ownerReferenceCoordinates."""
    return (reference.get("apiVersion", ""), reference.get("kind", ""), namespace, reference.get("name", ""))


def _metadata(obj: EncodedObject | None) -> dict[str, Any] | None:
    found: dict[str, Any] | None = obj.decode()["metadata"] if obj is not None else None
    return found
