"""States of a resource that lists with more pages to come hold on to.

A state is a reference to an immutable map, so keeping one costs what has changed since. Called by :mod:`.resource`.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from typing import NamedTuple

from apiserver.storage.cache.objects import SortedObjects

KEPT_SECONDS = 75.0
"""Seconds after its last use that a snapshot is let go; later pages are read from the store's history."""


class Snapshot(NamedTuple):
    """All objects of a resource as of ``revision``."""

    objects: SortedObjects
    revision: int


class Snapshots:
    """The snapshots of the newest lists, by revision.

    :param most: how many; the one that was not used for longest goes first.
    """

    def __init__(self, most: int, seconds: float = KEPT_SECONDS) -> None:
        self._most = most
        self._seconds = seconds
        self._lock = threading.Lock()
        self._kept: OrderedDict[int, tuple[float, SortedObjects]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def keep(self, snapshot: Snapshot) -> None:
        """Remember ``snapshot`` for a while."""
        now = time.monotonic()
        with self._lock:
            self._kept[snapshot.revision] = (now, snapshot.objects)
            self._kept.move_to_end(snapshot.revision)
            self._drop_old(now)

    def get(self, revision: int) -> SortedObjects | None:
        """The objects as of ``revision``, if kept."""
        with self._lock:
            found = self._kept.get(revision)
            if found is None:
                return None
            self._kept.move_to_end(revision)
            self._kept[revision] = (time.monotonic(), found[1])
            return found[1]

    def expire(self) -> None:
        """Let go of what was not used for long. Called now and then by the feed."""
        with self._lock:
            self._drop_old(time.monotonic())

    def clear(self) -> None:
        """Let go of all."""
        with self._lock:
            self._kept.clear()

    def _drop_old(self, now: float) -> None:
        while self._kept:
            revision, (used, _objects) = next(iter(self._kept.items()))
            if len(self._kept) <= self._most and now - used < self._seconds:
                return
            del self._kept[revision]
