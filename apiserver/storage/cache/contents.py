"""What one resource's cache holds: the objects (by key, in order, by label) and the newest events.

Owned by :class:`.resource.ResourceCache`, whose lock is held in every call but :meth:`Contents.get` and the reading of
:attr:`Contents.state`, which are single reads of values that are replaced, never changed.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from apiserver.api.encoded import NO_LABELS, EncodedObject
from apiserver.storage.cache.events import CacheEvent
from apiserver.storage.cache.labels import LabelIndex
from apiserver.storage.cache.objects import SortedObjects
from apiserver.storage.cache.selection import Selection
from apiserver.storage.cache.settings import CacheSettings
from apiserver.storage.cache.snapshots import Snapshot
from apiserver.storage.cache.window import EventWindow

INDEX_SHARE = 4
"""The label index is used when it leaves at most 1/4 of the objects; else looking at all in order is cheaper."""


Change = tuple[str, EncodedObject | None, int]
"""A key, what it holds now (None: nothing), and since which revision."""


class Contents:
    """The objects and events of one resource: at first ``objects`` (in key order) as of ``revision``."""

    __slots__ = ("_by_key", "_index", "state", "window")

    def __init__(self, settings: CacheSettings, objects: Sequence[EncodedObject], revision: int) -> None:
        self._index = LabelIndex()
        for obj in objects:
            self._index.change(obj.key, NO_LABELS, obj.labels)
        self._by_key = {obj.key: obj for obj in objects}
        self.state = Snapshot(SortedObjects.of(objects), revision)
        self.window = EventWindow(revision, settings.lowest_capacity, settings.highest_capacity, settings.fresh_seconds)

    def __len__(self) -> int:
        return len(self._by_key)

    def get(self, key: str) -> EncodedObject | None:
        """The object of ``key`` now. Needs no lock."""
        return self._by_key.get(key)

    def change(self, changes: Sequence[Change]) -> list[CacheEvent]:
        """Take in the changes of one batch, in order.

        What is known already, and deletions of what wasn't there, make no event. The new state shows all of them at
        once: a revision can have several.
        """
        objects, newest = self.state
        now = time.monotonic()
        events: list[CacheEvent] = []
        for key, obj, revision in changes:
            if revision <= newest:
                continue
            prev = self._by_key.get(key)
            old = prev.labels if prev is not None else NO_LABELS
            if obj is not None:
                self._index.change(key, old, obj.labels)
                self._by_key[key] = obj
                objects = objects.put(obj)
            elif prev is not None:
                self._index.change(key, old, NO_LABELS)
                del self._by_key[key]
                objects = objects.remove(key)
            else:
                continue
            events.append(CacheEvent(key, obj, prev, revision, now))
        if changes:
            self.state = Snapshot(objects, max(newest, changes[-1][2]))
        for event in events:
            self.window.add(event)
        return events

    def at(self, revision: int) -> SortedObjects | None:
        """The objects as they were at ``revision``, undone event by event; None when the window begins later."""
        events = self.window.since(revision)
        if events is None:
            return None
        objects = self.state.objects
        undone: set[str] = set()
        for event in events:
            # The first event after the revision knows what was before it.
            if event.key not in undone:
                undone.add(event.key)
                objects = objects.put(event.prev) if event.prev is not None else objects.remove(event.key)
        return objects

    def candidates(self, selection: Selection) -> list[EncodedObject] | None:
        """Few objects among which are all that ``selection`` selects, in key order; None when there is no short cut."""
        if not selection.scope.endswith("/"):
            obj = self._by_key.get(selection.scope)
            return [obj] if obj is not None else []
        if selection.label is None:
            return None
        found = [self._index.find(label, value) for label, value in selection.label.equalities]
        if not found:
            return None
        keys = min(found, key=len)
        if len(keys) * INDEX_SHARE > len(self._by_key) and len(keys) > 1:
            return None
        return [self._by_key[key] for key in sorted(keys) if selection.covers(key)]
