"""Objects of many resources, followed by a controller's loop through the watch cache.

A loop calls :meth:`Followers.refresh` now and then, which opens a stream for each resource that it wants and is served,
custom ones too, and :meth:`Followers.drain` often: what happened since is given to its handler then, in that thread.
While nothing happens neither costs anything worth mentioning. Used by
:mod:`apiserver_plugins.controllers.garbage_collector` and
:mod:`apiserver_plugins.controllers.resource_quota_controller`.

COMPAT: client-go SharedIndexInformer; pkg/controller/garbagecollector GraphBuilder.syncMonitors
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from apiserver.api.encoded import EncodedObject
from apiserver.api.errors import ApiError
from apiserver.api.names import GroupResource
from apiserver.api.resource import Resource
from apiserver.api.rest import ListOptions
from apiserver.api.server import Server
from apiserver.api.stream import WatchStream

LOG = logging.getLogger(__name__)
DELETED = "DELETED"


class Handler(Protocol):
    """What a loop does with what it follows. Called in the loop's own thread."""

    def wanted(self, resource: Resource) -> bool:
        """Whether the objects of a resource are to be followed."""

    def changed(self, follower: Follower, kind: str, obj: EncodedObject) -> None:
        """An object was ADDED (or there at the beginning), MODIFIED or DELETED: then ``obj`` is what it was."""

    def known(self, follower: Follower) -> Iterator[str]:
        """The keys of the resource that the handler remembers something of."""

    def vanished(self, follower: Follower, key: str) -> None:
        """The object of a known key was deleted while nobody looked, or its resource is no longer served."""


class Follower:
    """Follows the objects of one resource; is the source of its own stream, but makes no bytes of the events.

    ``synced``: all that there was when the stream was opened has been handled.

    COMPAT: client-go Reflector
    """

    def __init__(self, server: Server, resource: Resource, handler: Handler, woken: deque[Follower]) -> None:
        self.resource = resource
        self.store: Any = server.store(resource.group_resource)
        self.lister = server.lister(resource.group_resource)
        self.key: object = object()  # nobody shares its events
        self._server = server
        self._handler = handler
        self._woken = woken
        self._stream: WatchStream | None = None
        self._seen: set[str] | None = None
        self.synced = False

    def place(self, key: str) -> tuple[str, str]:
        """Namespace and name of a key of this resource."""
        head, _, name = key.rpartition("/")
        return (head.rpartition("/")[2] if self.resource.namespaced else "", name)

    def get(self, key: str) -> EncodedObject | None:
        """What the cache has of a key."""
        return self.lister.get(*self.place(key))

    # -- the stream ---------------------------------------------------------------------------------------------------

    def open(self) -> None:
        """Open the stream if there is none: everything that exists comes first."""
        if self._stream is not None:
            return
        # What is known from an earlier stream and does not come again is gone.
        self._seen = set()
        self.synced = False
        options = ListOptions(resource_version="0", send_initial_events=True, allow_watch_bookmarks=True)
        try:
            self._stream = self.store.watch(self._server.system_context(), options, self)
        except ApiError as ex:
            LOG.debug("%s can't be followed yet: %s", self.resource.gvr, ex)
            return
        self._stream.subscribe(lambda _stream: self._woken.append(self))
        self._woken.append(self)

    def drain(self) -> None:
        """Handle what has come. A stream that has ended is opened by the next :meth:`open`."""
        stream = self._stream
        while stream is not None:
            if stream.take(time.monotonic()) is None:
                self._stream = None
                return
            if not stream.on_demand:
                return

    def close(self) -> None:
        """End the stream."""
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.close()

    def forget(self) -> None:
        """The resource is no longer served: end the stream; all that was known is gone."""
        self.close()
        for key in list(self._handler.known(self)):
            self._handler.vanished(self, key)

    # -- the source: called by the stream while it is taken -----------------------------------------------------------

    def frame(self, kind: str, obj: EncodedObject) -> bytes:
        """See :class:`apiserver.api.rest.WatchSource`."""
        if self._seen is not None:
            self._seen.add(obj.key)
        self._handler.changed(self, kind, obj)
        return b""

    def bookmark(self, resource_version: int, initial_events_end: bool) -> bytes:
        """See :class:`apiserver.api.rest.WatchSource`."""
        if initial_events_end and self._seen is not None:
            seen, self._seen, self.synced = self._seen, None, True
            for key in [key for key in self._handler.known(self) if key not in seen]:
                self._handler.vanished(self, key)
        return b""

    def error(self, status: Mapping[str, Any]) -> bytes:
        """See :class:`apiserver.api.rest.WatchSource`."""
        LOG.debug("%s: a watch ended: %s", self.resource.gvr, status.get("message"))
        return b""


class Followers:
    """The followers of all resources that ``handler`` wants."""

    def __init__(self, server: Server, handler: Handler) -> None:
        self._server = server
        self._handler = handler
        self._followers: dict[str, Follower] = {}
        self._woken: deque[Follower] = deque()
        self._declared: list[Resource] = []

    def refresh(self, again: bool = False) -> bool:
        """Bring the set up to what is served now, and reopen streams that ended; whether the set has changed.

        :param again: the handler wants other resources than before.
        """
        declared = list(self._server.resources)
        changed = again or declared != self._declared
        if changed:
            self._declared = declared
            self._update()
        for follower in self._followers.values():
            follower.open()
        return changed

    def close(self) -> None:
        """End all streams."""
        for follower in self._followers.values():
            follower.close()

    def _update(self) -> None:
        wanted: dict[str, Resource] = {}
        for resource in self._server.resources:
            # Versions and groups of one prefix share their objects.
            if _followable(self._server, resource) and self._handler.wanted(resource):
                wanted.setdefault(resource.key_prefix, resource)
        for prefix in [p for p in self._followers if p not in wanted]:
            self._followers.pop(prefix).forget()
        for prefix, resource in wanted.items():
            if prefix not in self._followers:
                self._followers[prefix] = Follower(self._server, resource, self._handler, self._woken)

    def of(self, resource: GroupResource) -> Follower | None:
        """The follower of a resource, None if it is not wanted or not served."""
        found = (f for f in self._followers.values() if f.resource.group_resource == resource)
        return next(found, None)

    def drain(self) -> bool:
        """Handle what has come to streams that said so; whether there was any."""
        woken, any_ = self._woken, False
        while woken:
            woken.popleft().drain()
            any_ = True
        return any_

    def drain_all(self) -> None:
        """Handle what has come to any stream, also to one that was not woken yet.

        After a read of the newest state this is all that had happened before that read.
        """
        for follower in list(self._followers.values()):
            follower.drain()


def _followable(server: Server, resource: Resource) -> bool:
    if resource.verbs is not None and not {"list", "watch", "delete"} <= set(resource.verbs):
        return False
    store = server.store(resource.group_resource)
    return all(hasattr(store, ability) for ability in ("list", "watch", "delete", "update"))
