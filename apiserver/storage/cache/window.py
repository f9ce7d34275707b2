"""The newest events of one resource, from which watches start and old states are put together.

A ring by count (100 to 102,400 events, doubling and halving) that keeps at least 75 seconds. Changed by the feed,
asked by :mod:`.resource`; the caller holds the cache's lock.

COMPAT: watchCache.resizeCacheLocked, defaultLowerBoundCapacity, defaultUpperBoundCapacity, eventFreshDuration.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from operator import attrgetter

from apiserver.storage.cache.events import CacheEvent

LOWEST_CAPACITY = 100
HIGHEST_CAPACITY = 102_400
FRESH_SECONDS = 75.0

_revision = attrgetter("revision")


class EventWindow:
    """Events in revision order: all that came after the revision ``start``.

    :param fresh: seconds that an event is kept as long as the highest capacity allows.
    """

    __slots__ = ("_events", "_first", "_fresh", "_highest", "_lowest", "capacity", "start")

    def __init__(
        self,
        start: int,
        lowest: int = LOWEST_CAPACITY,
        highest: int = HIGHEST_CAPACITY,
        fresh: float = FRESH_SECONDS,
    ) -> None:
        self._lowest = lowest
        self._highest = highest
        self._fresh = fresh
        self._events: list[CacheEvent] = []
        self._first = 0
        self.capacity = lowest
        self.start = start

    def __len__(self) -> int:
        return len(self._events) - self._first

    def add(self, event: CacheEvent) -> None:
        """The next event. May push out the oldest."""
        if len(self._events) - self._first >= self.capacity:
            self._resize(event.time)
            while len(self._events) - self._first >= self.capacity:
                self._push_out()
        self._events.append(event)

    def since(self, revision: int) -> Sequence[CacheEvent] | None:
        """The events after ``revision``; None when some of them are gone."""
        if revision < self.start:
            return None
        return self._events[bisect_right(self._events, revision, lo=self._first, key=_revision) :]

    def extend_back(self, start: int, events: Sequence[CacheEvent]) -> None:
        """Put ``events`` in front: all that came after ``start`` and not after the start until now.

        They are kept even if they are more than the capacity; the next events push them out.
        """
        self._events[: self._first] = events
        self._first = 0
        self.start = start
        while self.capacity < min(len(self._events), self._highest):
            self.capacity = min(self.capacity * 2, self._highest)

    def _resize(self, now: float) -> None:
        oldest = self._events[self._first]
        if now - oldest.time < self._fresh:
            self.capacity = min(self.capacity * 2, self._highest)
        elif now - self._events[-max(self.capacity // 4, 1)].time > self._fresh:
            self.capacity = max(self.capacity // 2, self._lowest)

    def _push_out(self) -> None:
        self.start = self._events[self._first].revision
        self._first += 1
        # Removing from the front of a list costs as much as what stays: do it once for many.
        if self._first >= max(self.capacity // 8, 1):
            del self._events[: self._first]
            self._first = 0
