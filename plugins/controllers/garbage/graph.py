"""Who belongs to whom: the ownerReferences of all objects, turned round.

Objects without ownerReferences that nobody refers to are not in it, so it costs what there is to collect. Changed by
:mod:`apiserver_plugins.controllers.garbage_collector` as events come; used by one thread.

COMPAT: pkg/controller/garbagecollector graph.go, uidToNode
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from apiserver_plugins.controllers.following import Follower

Reference = dict[str, Any]
"""An ownerReference."""


class Node(NamedTuple):
    """An object, by resource and storage key."""

    follower: Follower
    key: str


class Owner:
    """What ownerReferences name by one uid, whether it exists or not.

    ``dependents`` are nodes by whether they block its deletion. ``verified`` is the place it was found at. ``waiting``
    is itself while it waits for its dependents to be deleted.
    """

    __slots__ = ("dependents", "uid", "verified", "waiting")

    def __init__(self, uid: str) -> None:
        self.uid = uid
        self.dependents: dict[Node, bool] = {}
        self.verified: tuple[str, ...] | None = None
        self.waiting: Node | None = None


class Graph:
    """All owners that are named, by uid."""

    def __init__(self) -> None:
        self._owners: dict[str, Owner] = {}
        self._references: dict[Follower, dict[str, tuple[Owner, ...]]] = {}

    def __bool__(self) -> bool:
        return bool(self._owners)

    def owner(self, uid: str) -> Owner | None:
        """The owner of a uid, None if nobody names it."""
        return self._owners.get(uid)

    def dependents(self, uid: str) -> list[Node]:
        """Who names ``uid`` as an owner."""
        owner = self._owners.get(uid)
        return list(owner.dependents) if owner is not None else []

    def blocking(self, uid: str) -> list[Node]:
        """Who names ``uid`` with blockOwnerDeletion."""
        owner = self._owners.get(uid)
        return [node for node, blocks in owner.dependents.items() if blocks] if owner is not None else []

    def knows(self, node: Node) -> bool:
        """Whether the node has owners."""
        return node.key in self._references.get(node.follower, ())

    def known(self, follower: Follower) -> Iterator[str]:
        """The keys of a resource that have owners."""
        return iter(self._references.get(follower, ()))

    def set(self, node: Node, references: Sequence[Reference]) -> tuple[list[Owner], list[Owner]]:
        """Note a node's ownerReferences.

        :returns: its owners that are new, and those that it no longer holds up: no owner, or no longer blocking.
        """
        keys = self._references.setdefault(node.follower, {})
        old = keys.get(node.key, ())
        blocked = [owner for owner in old if owner.dependents.get(node)]
        new = tuple(self._named(uid) for uid in dict.fromkeys(ref.get("uid", "") for ref in references))
        for owner in old:
            if owner not in new:
                self._leave(owner, node)
        blocking = {ref.get("uid", "") for ref in references if ref.get("blockOwnerDeletion")}
        for owner in new:
            owner.dependents[node] = owner.uid in blocking
        if new:
            keys[node.key] = new
        else:
            keys.pop(node.key, None)
        return [o for o in new if o not in old], [o for o in blocked if not o.dependents.get(node)]

    def remove(self, node: Node) -> list[Owner]:
        """Forget a node that is gone; returns the owners it had."""
        owners = self._references.get(node.follower, {}).pop(node.key, ())
        for owner in owners:
            self._leave(owner, node)
        return list(owners)

    def wait(self, uid: str, node: Node) -> None:
        """The owner ``node`` waits for its dependents to be deleted."""
        self._named(uid).waiting = node

    def gone(self, uid: str) -> None:
        """The owner of ``uid`` has been deleted."""
        owner = self._owners.get(uid)
        if owner is not None:
            owner.waiting = owner.verified = None
            self._forget(owner)

    def _named(self, uid: str) -> Owner:
        owner = self._owners.get(uid)
        if owner is None:
            owner = self._owners[uid] = Owner(uid)
        return owner

    def _leave(self, owner: Owner, node: Node) -> None:
        owner.dependents.pop(node, None)
        self._forget(owner)

    def _forget(self, owner: Owner) -> None:
        if not owner.dependents and owner.waiting is None:
            self._owners.pop(owner.uid, None)
