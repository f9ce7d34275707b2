"""Deletes what belongs to objects that are gone, as ownerReferences and the finalizers of deletions say.

Follows every resource whose objects can be deleted, but events. Each process has one of these: what one of them has
done the others find done. What is to be looked at is taken in random order, so that they share the work.

COMPAT: pkg/controller/garbagecollector
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Iterable, Iterator

from apiserver import hookimpl
from apiserver.api.encoded import EncodedObject
from apiserver.api.errors import ApiError
from apiserver.api.resource import Resource
from apiserver.api.server import Server
from apiserver.api.storage import StorageError
from apiserver_plugins.controllers.controllers import enabled
from apiserver_plugins.controllers.following import DELETED, Follower, Followers
from apiserver_plugins.controllers.garbage.changes import FOREGROUND, ORPHAN
from apiserver_plugins.controllers.garbage.collecting import Collector, UnknownKind, coordinates
from apiserver_plugins.controllers.garbage.graph import Graph, Node, Owner, Reference

NAME = "garbage-collector-controller"
INTERVAL = 0.2
"""Seconds between two looks at what has happened."""
REFRESH = 1.0
"""Seconds between two looks at which resources are served."""
FIRST_PAUSE, LONGEST_PAUSE = 0.4, 60.0
"""Seconds until something that failed is tried again, doubled each time."""

LOG = logging.getLogger(__name__)
_IGNORED = ("events",)
# Objects without either have nothing to do with us; finding that out must cost next to nothing.
_OWNED = b'"ownerReferences":'
_DELETING = b'"deletionTimestamp":'


class GarbageCollector:
    """Follows objects and keeps the graph; hands what is to be looked at to the collector. One thread uses it."""

    def __init__(self, server: Server) -> None:
        self._graph = Graph()
        self._followers = Followers(server, self)
        self._collector = Collector(server, self._graph, self._enqueue, self._followers.drain_all)
        self._queue: dict[Node, None] = {}
        self._later: dict[Node, tuple[float, float]] = {}
        self._unknown: dict[Node, None] = {}
        self._refreshed = -REFRESH

    def run(self, wait: Callable[[float], bool]) -> None:
        """The loop, until ``wait`` says it is time to end."""
        while wait(0 if self._queue else INTERVAL):
            now = time.monotonic()
            if now - self._refreshed >= REFRESH:
                self._refreshed = now
                if self._followers.refresh():
                    self._enqueue(self._unknown)
                    self._unknown = {}
            self._followers.drain()
            if self._later:
                self._enqueue([node for node, (due, _) in self._later.items() if due <= now])
            self._work(wait)
        self._followers.close()

    def _work(self, wait: Callable[[float], bool]) -> None:
        nodes = list(self._queue)
        self._queue.clear()
        random.shuffle(nodes)
        for node in nodes:
            if not wait(0):
                return
            self._attempt(node)

    def _attempt(self, node: Node) -> None:
        try:
            self._collector.attempt(node)
        except UnknownKind as ex:
            LOG.debug("%s: an owner's kind is not served: %s", node.key, ex)
            self._unknown[node] = None
        except (ApiError, StorageError) as ex:
            _, pause = self._later.get(node, (0.0, FIRST_PAUSE))
            if pause > 10 * FIRST_PAUSE:
                LOG.warning("%s can't be collected, will be tried again: %s", node.key, ex)
            self._later[node] = (time.monotonic() + pause, min(pause * 2, LONGEST_PAUSE))
            return
        self._later.pop(node, None)

    def _enqueue(self, nodes: Iterable[Node]) -> None:
        self._queue.update(dict.fromkeys(nodes))

    # -- what happens to objects: called by the followers -------------------------------------------------------------

    def wanted(self, resource: Resource) -> bool:
        """COMPAT: GetDeletableResources, DefaultIgnoredResources."""
        return resource.plural not in _IGNORED

    def changed(self, follower: Follower, kind: str, obj: EncodedObject) -> None:
        """Keep the graph, and find out who must be looked at. COMPAT: processGraphChanges."""
        node = Node(follower, obj.key)
        if kind == DELETED:
            self._removed(node)
            if self._graph:
                self._deleted(obj.decode()["metadata"]["uid"])
            return
        owned, deleting = _OWNED in obj.rest, _DELETING in obj.rest
        if not owned and not deleting and not self._graph.knows(node):
            return
        metadata = obj.decode()["metadata"]
        self._note(node, metadata.get("ownerReferences") or (), obj.namespace)
        if metadata.get("deletionTimestamp"):
            self._deletion(node, metadata["uid"], metadata.get("finalizers") or ())

    def known(self, follower: Follower) -> Iterator[str]:
        """See :class:`.following.Handler`."""
        return self._graph.known(follower)

    def vanished(self, follower: Follower, key: str) -> None:
        """See :class:`.following.Handler`."""
        self._removed(Node(follower, key))

    def _note(self, node: Node, references: Iterable[Reference], namespace: str) -> None:
        references = list(references)
        added, unblocked = self._graph.set(node, references)
        self._look_at_waiting(unblocked)
        places = {reference.get("uid", ""): reference for reference in references}
        for owner in added:
            reference = places[owner.uid]
            sound = (coordinates(reference, namespace), coordinates(reference, ""))
            if owner.waiting is not None or owner.verified not in sound:
                self._queue[node] = None

    def _deletion(self, node: Node, uid: str, finalizers: Iterable[str]) -> None:
        """COMPAT: processTransitions."""
        if ORPHAN in finalizers:
            self._queue[node] = None
        elif FOREGROUND in finalizers:
            self._graph.wait(uid, node)
            self._enqueue(self._graph.dependents(uid))
            self._queue[node] = None

    def _removed(self, node: Node) -> None:
        self._look_at_waiting(self._graph.remove(node))
        for noted in (self._queue, self._later, self._unknown):
            noted.pop(node, None)

    def _deleted(self, uid: str) -> None:
        if self._graph.owner(uid) is not None:
            self._collector.owner_deleted(uid)
            self._enqueue(self._graph.dependents(uid))
            self._graph.gone(uid)

    def _look_at_waiting(self, owners: Iterable[Owner]) -> None:
        self._enqueue([owner.waiting for owner in owners if owner.waiting is not None])


@hookimpl
def apiserver_started(server: Server) -> None:
    if enabled(server.config, NAME):
        server.background(NAME, GarbageCollector(server).run)
