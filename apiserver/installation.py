"""From declarations to endpoints: what each resource plugin returned becomes a store, scopes and routes.

Called by :mod:`apiserver.server` while the server is built, and by :mod:`apiserver.changing` for resources that come
and go while it runs.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from apiserver.api.auth import Attributes, Decision
from apiserver.api.names import GroupResource, GroupVersionResource
from apiserver.api.resource import Resource, Subresource
from apiserver.api.strategy import StatusStrategy, Strategy
from apiserver.handlers.endpoints import Endpoint, make_endpoint
from apiserver.handlers.scope import Scope
from apiserver.registry.admission import Admission
from apiserver.registry.codec import Codec
from apiserver.registry.kinds import Kinds
from apiserver.registry.scale import ScaleStore
from apiserver.registry.store import Store
from apiserver.registry.subresource import SubresourceStore

if TYPE_CHECKING:
    from apiserver.server import Server


@dataclass(frozen=True, slots=True)
class Shared:
    """What all endpoints have in common."""

    server: Server
    kinds: Kinds
    admission: Admission
    authorize: Callable[[Attributes], tuple[Decision, str]]
    root: str
    min_request_timeout: float


class Installation:
    """All endpoints of a server, and the storage objects behind them.

    ``endpoints`` and ``resources`` are replaced, never changed: who holds one has a consistent state, and sees by its
    identity whether something has changed since.
    """

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self._lock = threading.Lock()
        self.endpoints: Sequence[Endpoint] = ()
        self.resources: Sequence[Resource] = ()
        self._stores: dict[GroupResource, Any] = {}
        self._older: dict[str, dict[str, Callable[[dict[str, Any]], None]]] = {}
        self._declared: dict[GroupResource, Resource] = {}
        self._by_gvr: dict[GroupVersionResource, Resource] = {}
        self._codecs: dict[str, Codec] = {}

    def add(self, served: Iterable[Resource], declared: Iterable[Resource] = ()) -> None:
        """Install declarations. The kinds must be known to ``Shared.kinds`` already.

        :param declared: all there are. What is not served can be stored all the same: the server itself keeps
            addresses of services as objects that not every minor serves.
        """
        served = list(served)
        for resource in (*declared, *served):
            self._declared.setdefault(resource.group_resource, resource)
            self._know(resource)
        self._add(served)

    def replace(self, gone: Sequence[Resource], come: Sequence[Resource]) -> None:
        """Take resources away and install others, in one step for readers.

        Watches of what is gone end. Resources of one ``storage_prefix`` must go together, and no plugin's may go.
        """
        with self._lock:
            self._forget(gone)
            self._shared.kinds.add(come)
            for resource in come:
                self._declared[resource.group_resource] = resource
                self._know(resource)
            self._add(come)

    def _know(self, resource: Resource) -> None:
        older = dict(resource.also_stored)
        if resource.to_storage is not None:
            older[str(resource.group_version)] = resource.to_storage
        if older:
            self._older.setdefault(resource.key_prefix, {}).update(older)

    def resource(self, gvr: GroupVersionResource) -> Resource | None:
        """A declaration that was installed."""
        return self._by_gvr.get(gvr)

    def store(self, resource: GroupResource) -> Any:
        """The storage object of a resource, served or not. :raises KeyError: it is not declared."""
        if resource not in self._stores:
            self._stores.setdefault(resource, self._make_store(self._declared[resource]))
        return self._stores[resource]

    def stores(self) -> Sequence[Store]:
        """The generic stores, one for each resource."""
        return [s for s in self._stores.values() if isinstance(s, Store)]

    def _add(self, resources: Sequence[Resource]) -> None:
        made = [endpoint for resource in resources for endpoint in self._endpoints_of(resource)]
        self.endpoints = (*self.endpoints, *made)
        self.resources = (*self.resources, *resources)

    def _endpoints_of(self, resource: Resource) -> Iterator[Endpoint]:
        store = self._make_store(resource)
        self._by_gvr[resource.gvr] = resource
        self._stores.setdefault(resource.group_resource, store)
        yield self._endpoint(resource, "", store, resource.strategy, None, resource.verbs)
        for sub in resource.subresources:
            storage, strategy = self._of_subresource(resource, store, sub)
            yield self._endpoint(resource, sub.name, storage, strategy, sub, sub.verbs)

    def _forget(self, gone: Sequence[Resource]) -> None:
        lost = {id(resource) for resource in gone}
        self.endpoints = tuple(e for e in self.endpoints if id(e.resource) not in lost)
        self.resources = tuple(r for r in self.resources if id(r) not in lost)
        self._shared.kinds.remove(gone)
        for resource in gone:
            self._by_gvr.pop(resource.gvr, None)
            for known in (self._stores, self._declared):
                known.pop(resource.group_resource, None)
        for prefix in {resource.key_prefix for resource in gone}:
            self._older.pop(prefix, None)
            self._codecs.pop(prefix, None)
            self._shared.server.feed.remove(f"{self._shared.root}{prefix}/")

    def _make_store(self, resource: Resource) -> Any:
        shared = self._shared
        if resource.storage is not None:
            return resource.storage(shared.server, resource)
        codec = self._codecs.get(resource.key_prefix)
        if codec is None:
            complete = None
            if resource.unstructured:
                complete = functools.partial(shared.kinds.complete, resource.storage_gvk)
            older = self._older.get(resource.key_prefix)
            codec = self._codecs[resource.key_prefix] = Codec(resource, older, complete)
        ttl = resource.ttl(shared.server.config) if resource.ttl is not None else None
        check = shared.kinds.check_of(resource.gvk if resource.unstructured else resource.storage_gvk)
        seen = settle = None
        if resource.unstructured and resource.gvk != resource.storage_gvk:
            seen = functools.partial(shared.kinds.prune, resource.gvk)
            settle = functools.partial(shared.kinds.prune, resource.storage_gvk)
        feed, storage = shared.server.feed, shared.server.storage
        return Store(resource, storage, feed, codec, shared.root, ttl or None, check, seen=seen, settle=settle)

    def _of_subresource(self, resource: Resource, store: Any, sub: Subresource) -> tuple[Any, Strategy]:
        if sub.scale is not None:
            return ScaleStore(store, sub.scale), Strategy()
        if sub.storage is not None:
            # A body of another kind has none of the parent's defaults.
            own = Strategy() if sub.kind is not None else resource.strategy
            return sub.storage(self._shared.server, resource), sub.strategy or own
        strategy = sub.strategy or StatusStrategy(resource.strategy)
        check = self._shared.kinds.part_check(resource.gvk, sub.name) if resource.unstructured else None
        return SubresourceStore(store, strategy, check), strategy

    def _endpoint(
        self,
        resource: Resource,
        name: str,
        storage: Any,
        strategy: Strategy,
        sub: Subresource | None,
        verbs: Sequence[str] | None,
    ) -> Endpoint:
        shared = self._shared
        scope = Scope(
            resource=resource,
            subresource=name,
            storage=storage,
            kind=sub.kind if sub is not None and sub.kind is not None else resource.gvk,
            strategy=strategy,
            admission=shared.admission,
            kinds=shared.kinds,
            authorize=shared.authorize,
            server=shared.server,
            min_request_timeout=shared.min_request_timeout,
        )
        return make_endpoint(scope, verbs)
