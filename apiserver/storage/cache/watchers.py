"""The open watches of one resource, in buckets, so that an event finds those it may concern.

A watch is in exactly one bucket: that of its scope (everything, a namespace, one object) and, when its selectors name
a label or field value that a selected object must have, of that value. An event goes to the buckets of its key and of
the values that its object has or had. What a bucket can't decide, the stream decides when it is taken.

COMPAT: indexedWatchers of the Cacher, with its triggers (pods by spec.nodeName) made general.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence

from apiserver.api.encoded import EncodedObject
from apiserver.storage.cache.events import BatchFrames, CacheEvent, EventGroup
from apiserver.storage.cache.selection import Trait, trait_value
from apiserver.storage.cache.stream import CacheWatch

GROUP = 128
"""The most events of a group: their frames are joined, and big joins cost page faults."""

QUEUED = 16_384
"""The most events that wait for one consumer; with more, its stream ends."""

Bucket = dict[CacheWatch, None]


class Watchers:
    """The watches of one resource.

    :param lock: the cache's lock; :meth:`add` and :meth:`dispatch` are called with it held.
    :param prefix: the resource's key prefix.
    """

    def __init__(self, lock: threading.Lock, prefix: str, limit: int = QUEUED) -> None:
        self._lock = lock
        self._prefix = prefix
        self._limit = limit
        self._buckets: dict[tuple[str, Trait | None], Bucket] = {}
        self._traits: dict[tuple[str, str], int] = {}
        self._length = 0
        self.terminated = 0

    def __len__(self) -> int:
        return self._length

    def add(self, watch: CacheWatch) -> None:
        """From now on ``watch`` gets what is dispatched. Lock held."""
        trait = watch.selection.trait
        self._buckets.setdefault((watch.selection.scope, trait), {})[watch] = None
        self._length += 1
        if trait is not None:
            self._traits[trait[:2]] = self._traits.get(trait[:2], 0) + 1

    def remove(self, watch: CacheWatch) -> None:
        """``watch`` gets nothing more. Safe to call again."""
        with self._lock:
            self._remove(watch)

    def remove_all(self) -> list[CacheWatch]:
        """All watches; they get nothing more. Lock held; the caller ends them without it."""
        watches = [watch for bucket in self._buckets.values() for watch in bucket]
        self._buckets.clear()
        self._traits.clear()
        self._length = 0
        return watches

    def dispatch(self, events: Sequence[CacheEvent]) -> tuple[list[CacheWatch], int]:
        """Queue ``events`` (of one batch, in order) for those they may concern. Lock held.

        :returns: the watches to wake, without the lock, and how many events were queued in all.
        """
        if not self._buckets:
            return [], 0
        frames = BatchFrames()
        woken: list[CacheWatch] = []
        queued = 0
        for bucket, concerned in self._concerned(events):
            for i in range(0, len(concerned), GROUP):
                group = EventGroup(concerned[i : i + GROUP], frames)
                for watch in bucket:
                    watch.queue.append(group)
            count = len(concerned)
            queued += count * len(bucket)
            for watch in bucket:
                watch.produced += count
            slow = [watch for watch in bucket if watch.produced - watch.consumed > self._limit]
            woken += bucket
            for watch in slow:
                watch.abandon()
                self._remove(watch)
                self.terminated += 1
        return woken, queued

    def _concerned(self, events: Sequence[CacheEvent]) -> list[tuple[Bucket, list[CacheEvent]]]:
        buckets = self._buckets
        found: dict[tuple[str, Trait | None], list[CacheEvent]] = {}
        for event in events:
            key = event.key
            scopes = {self._prefix, key[: key.rindex("/") + 1], key}
            traits: Iterable[Trait | None] = self._traits_of(event) if self._traits else (None,)
            for trait in traits:
                for scope in scopes:
                    if (scope, trait) in buckets:
                        found.setdefault((scope, trait), []).append(event)
        return [(buckets[where], concerned) for where, concerned in found.items()]

    def _traits_of(self, event: CacheEvent) -> set[Trait | None]:
        traits: set[Trait | None] = {None}
        objects: list[EncodedObject] = [obj for obj in (event.obj, event.prev) if obj is not None]
        for kind, name in self._traits:
            for obj in objects:
                value = trait_value(obj, kind, name)
                if value is not None:
                    traits.add((kind, name, value))
        return traits

    def _remove(self, watch: CacheWatch) -> None:
        where = (watch.selection.scope, watch.selection.trait)
        bucket = self._buckets.get(where)
        if bucket is None or watch not in bucket:
            return
        del bucket[watch]
        self._length -= 1
        if not bucket:
            del self._buckets[where]
        if watch.selection.trait is not None:
            name = watch.selection.trait[:2]
            self._traits[name] -= 1
            if not self._traits[name]:
                del self._traits[name]
