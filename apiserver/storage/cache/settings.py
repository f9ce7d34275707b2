"""What can be tuned; the defaults are upstream's. Tests make everything small and short."""

from __future__ import annotations

from dataclasses import dataclass

from apiserver.storage.cache.freshness import FRESH_TIMEOUT
from apiserver.storage.cache.stream import BOOKMARK_SECONDS
from apiserver.storage.cache.watchers import QUEUED
from apiserver.storage.cache.window import FRESH_SECONDS, HIGHEST_CAPACITY, LOWEST_CAPACITY


@dataclass(frozen=True, slots=True)
class CacheSettings:
    """Knobs of the watch cache.

    :param lowest_capacity, highest_capacity: bounds of each resource's event window, in events.
    :param fresh_seconds: how long an event stays at least, if the highest capacity allows.
    :param bookmark_seconds: between the bookmarks of a watch that wants them.
    :param queued_events: how many events may wait for one consumer before its stream ends.
    :param fresh_timeout: seconds that a read waits for the revision it needs.
    :param load_timeout: seconds that a read waits while another one loads the resource.
    :param retry_seconds: the longest pause before the store's watch is opened again.
    :param page: objects that are read from the store at once.
    :param snapshots: how many states of a resource are kept for the next pages of lists.
    """

    lowest_capacity: int = LOWEST_CAPACITY
    highest_capacity: int = HIGHEST_CAPACITY
    fresh_seconds: float = FRESH_SECONDS
    bookmark_seconds: float = BOOKMARK_SECONDS
    queued_events: int = QUEUED
    fresh_timeout: float = FRESH_TIMEOUT
    load_timeout: float = 3.0
    retry_seconds: float = 1.0
    page: int = 500
    snapshots: int = 32
