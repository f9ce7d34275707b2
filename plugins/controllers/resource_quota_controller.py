"""Keeps what ResourceQuotas say is used.

Follows ResourceQuotas, and of other resources those that a quota limits; what each object in a namespace with quotas
uses is measured once for each of its versions. What was added can only raise what a quota says: something else may
have been charged to it that is not stored yet. The rest, and a look every five minutes, sets it to what is there.

Each process has one of these; they come to the same result, and what is right is not written again.

COMPAT: pkg/controller/resourcequota
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from apiserver import hookimpl
from apiserver.api.encoded import EncodedObject
from apiserver.api.errors import ApiError, NotFound
from apiserver.api.names import GroupResource
from apiserver.api.quantity import Amount, amount
from apiserver.api.resource import Resource
from apiserver.api.server import Server
from apiserver.api.storage import StorageError
from apiserver_plugins.controllers.changing import change, served
from apiserver_plugins.controllers.controllers import enabled
from apiserver_plugins.controllers.following import DELETED, Follower, Followers
from apiserver_plugins.quota.names import user_of
from apiserver_plugins.quota.scopes import used
from apiserver_plugins.quota.usage import Measured, measure

NAME = "resourcequota-controller"
QUOTAS = GroupResource("", "resourcequotas")
INTERVAL = 0.25
"""Seconds between two looks at what has happened."""
REFRESH = 1.0
"""Seconds between two looks at which resources are served."""
RESYNC = 300.0
"""Seconds after which all quotas are set right again. COMPAT: --resource-quota-sync-period"""
SHARE = 0.1
"""How much of the time one namespace may take: the sum over many objects is not made again at once."""
PAUSE = 1.0
"""Seconds until something that failed is tried again."""
PENDING = 1.0
"""Seconds that what admission has charged may take until it is stored and seen here: so long it is not taken back."""

LOG = logging.getLogger(__name__)

Object = dict[str, Any]
Quantities = Mapping[str, str]


class Space:
    """A namespace with quotas.

    ``quotas`` are specs by name, ``told`` what their status said last of what is used, ``raised`` when it was raised
    lately and by how much. ``objects`` are by resource and key. ``dirty``: something changed; ``lower``: and what is
    used may have become less.
    """

    __slots__ = ("dirty", "due", "lower", "objects", "quotas", "raised", "told")

    def __init__(self) -> None:
        self.quotas: dict[str, Object] = {}
        self.told: dict[str, Quantities] = {}
        self.raised: dict[str, list[tuple[float, dict[str, int]]]] = {}
        self.objects: dict[GroupResource, dict[str, Measured]] = {}
        self.dirty = self.lower = True
        self.due = 0.0

    def note(self, name: str, used: Quantities) -> None:
        """The status of a quota says this."""
        before = self.told.get(name)
        self.told[name] = used
        more = _more(used, before if before is not None else used)
        if more:
            self.raised.setdefault(name, []).append((time.monotonic(), more))

    def pending(self, name: str, used: Quantities) -> dict[str, int] | None:
        """How much of what a quota says (billionths) may be for objects not seen yet; None: any of it."""
        if name not in self.told:
            return None
        since = time.monotonic() - PENDING
        recent = self.raised[name] = [raised for raised in self.raised.get(name, ()) if raised[0] > since]
        found = _more(used, self.told[name])
        for _, more in recent:
            for resource, nanos in more.items():
                found[resource] = found.get(resource, 0) + nanos
        return found

    def forget(self, name: str) -> bool:
        """Whether there was such a quota."""
        self.told.pop(name, None)
        self.raised.pop(name, None)
        return self.quotas.pop(name, None) is not None

    def users(self) -> set[GroupResource]:
        """The resources that the quotas are about."""
        names = (name for spec in self.quotas.values() for name in spec.get("hard") or ())
        return {found for found in map(user_of, names) if found is not None}


class QuotaController:
    """Follows objects and writes the status of quotas. One thread uses it."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._spaces: dict[str, Space] = {}
        self._users: frozenset[GroupResource] = frozenset()
        self._followers = Followers(server, self)
        self._refreshed = -REFRESH
        self._resynced = time.monotonic()

    def run(self, wait: Callable[[float], bool]) -> None:
        """The loop, until ``wait`` says it is time to end."""
        while wait(INTERVAL):
            now = time.monotonic()
            if now - self._refreshed >= REFRESH:
                self._refreshed = now
                self._followers.refresh()
            self._followers.drain()
            while self._wants_others():
                self._followers.refresh(again=True)
                self._followers.drain()
            if now - self._resynced >= RESYNC:
                self._resynced = now
                for space in self._spaces.values():
                    space.dirty = space.lower = True
            self._write(now)
        self._followers.close()

    def _wants_others(self) -> bool:
        """Whether quotas are about other resources than before."""
        users = frozenset(user for space in self._spaces.values() for user in space.users())
        changed, self._users = users != self._users, users
        return changed

    # -- what happens to objects: called by the followers -------------------------------------------------------------

    def wanted(self, resource: Resource) -> bool:
        """See :class:`.following.Handler`."""
        return resource.group_resource == QUOTAS or resource.group_resource in self._users

    def changed(self, follower: Follower, kind: str, obj: EncodedObject) -> None:
        """See :class:`.following.Handler`."""
        resource = follower.resource.group_resource
        if resource == QUOTAS:
            self._quota_changed(kind, obj)
        space = self._spaces.get(obj.namespace)
        if space is None or resource not in self._users:
            return
        objects = space.objects.setdefault(resource, {})
        if kind == DELETED:
            if objects.pop(obj.key, None) is not None:
                space.dirty = space.lower = True
            return
        old, new = objects.get(obj.key), measure(resource, obj.decode())
        if new != old:
            objects[obj.key] = new
            space.dirty = True
            space.lower = space.lower or old is not None

    def known(self, follower: Follower) -> Iterator[str]:
        """See :class:`.following.Handler`."""
        resource = follower.resource.group_resource
        for space in self._spaces.values():
            yield from space.objects.get(resource, ())
        if resource == QUOTAS:
            prefix = f"{follower.store.prefix}"
            yield from (f"{prefix}{namespace}/{name}" for namespace, s in self._spaces.items() for name in s.quotas)

    def vanished(self, follower: Follower, key: str) -> None:
        """See :class:`.following.Handler`."""
        namespace, name = follower.place(key)
        resource = follower.resource.group_resource
        space = self._spaces.get(namespace)
        if space is None:
            return
        if resource == QUOTAS:
            self._drop(namespace, name)
        if space.objects.get(resource, {}).pop(key, None) is not None:
            space.dirty = space.lower = True

    def _quota_changed(self, kind: str, obj: EncodedObject) -> None:
        if kind == DELETED:
            self._drop(obj.namespace, obj.name)
            return
        quota = obj.decode()
        spec, status = quota.get("spec") or {}, quota.get("status") or {}
        space = self._spaces.get(obj.namespace)
        if space is None:
            space = self._spaces[obj.namespace] = Space()
            self._measure_all(space, obj.namespace)
        if status.get("used") is not None:
            space.note(obj.name, status["used"])
        # COMPAT: updates of the status alone are of no interest; they are ours, or admission's
        stale = status.get("used") is None or status.get("hard") != spec.get("hard")
        if stale or space.quotas.get(obj.name) != spec:
            before = space.users()
            space.quotas[obj.name] = spec
            if space.users() - before:
                self._measure_all(space, obj.namespace)
            space.dirty = space.lower = True

    def _drop(self, namespace: str, name: str) -> None:
        space = self._spaces.get(namespace)
        if space is not None and space.forget(name) and not space.quotas:
            del self._spaces[namespace]

    def _measure_all(self, space: Space, namespace: str) -> None:
        """Measure what is there of resources that are followed for other namespaces already."""
        for resource in space.users() | {QUOTAS}:
            follower = self._followers.of(resource)
            if follower is not None:
                found = follower.lister.list(namespace)
                space.objects[resource] = {obj.key: measure(resource, obj.decode()) for obj in found}

    # -- writing ------------------------------------------------------------------------------------------------------

    def _write(self, now: float) -> None:
        for namespace, space in list(self._spaces.items()):
            if not space.dirty or now < space.due or not self._complete(space):
                continue
            lower, space.dirty, space.lower = space.lower, False, False
            begin = time.perf_counter()
            for name in list(space.quotas):
                self._write_quota(namespace, space, name, lower)
            space.due = max(space.due, now + (time.perf_counter() - begin) / SHARE)

    def _complete(self, space: Space) -> bool:
        """Whether all that the quotas are about has been measured."""
        followers = map(self._followers.of, space.users())
        return all(follower.synced for follower in followers if follower is not None)

    def _write_quota(self, namespace: str, space: Space, name: str, lower: bool) -> None:
        def apply(obj: Object) -> None:
            spec = obj.get("spec") or {}
            hard = spec.get("hard") or {}
            told = (obj.get("status") or {}).get("used") or {}
            found = self._sum(space, spec)
            used = _merged(hard, told, found, space.pending(name, told) if lower else None)
            obj["status"] = {"hard": dict(hard), "used": used}
            waiting[:] = [key for key in used if lower and key in found and amount(used[key]).nanos > found[key].nanos]

        waiting: list[str] = []
        try:
            change(self._server, QUOTAS, namespace, name, apply, "status")
            if waiting:
                space.dirty = space.lower = True
                space.due = time.monotonic() + PENDING
        except NotFound:
            return
        except (ApiError, StorageError) as ex:
            LOG.debug("The status of the quota %s/%s can't be written: %s", namespace, name, ex)
            space.dirty, space.lower = True, space.lower or lower
            space.due = time.monotonic() + PAUSE

    def _sum(self, space: Space, spec: Object) -> dict[str, Amount]:
        """What is used of what a quota limits; not of what nobody's objects use."""
        found: dict[str, Amount] = {}
        by_user: dict[GroupResource, list[str]] = {}
        for name in spec.get("hard") or ():
            user = user_of(name)
            if user is not None and self._followers.of(user) is not None:
                by_user.setdefault(user, []).append(name)
        for user, names in by_user.items():
            found |= used(names, spec, space.objects.get(user, {}).values())
        return found


def _more(used: Quantities, before: Quantities) -> dict[str, int]:
    """By how much (billionths) more is used of what."""
    by = {name: amount(text).nanos - amount(before.get(name, "0")).nanos for name, text in used.items()}
    return {name: nanos for name, nanos in by.items() if nanos > 0}


def _merged(
    hard: Quantities, told: Quantities, found: Mapping[str, Amount], pending: Mapping[str, int] | None
) -> dict[str, str]:
    """What the status says of each limited name: what was found, or what it says if that may not be lowered.

    :param pending: what may be used beside what was found; None: nothing may be lowered.
    """
    merged = {}
    for name in sorted(hard):
        if name not in found:
            if name in told:
                merged[name] = told[name]
            continue
        said, there = amount(told.get(name, "0")), found[name]
        if name not in told or said.nanos < there.nanos:
            merged[name] = str(there)
        elif pending is None:
            merged[name] = told[name]
        else:
            merged[name] = str(Amount(min(said.nanos, there.nanos + pending.get(name, 0)), there.form))
    return merged


@hookimpl
def apiserver_started(server: Server) -> None:
    if enabled(server.config, NAME) and served(server, QUOTAS):
        server.background(NAME, QuotaController(server).run)
