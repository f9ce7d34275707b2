"""The cache of one resource: its objects as encoded bytes, its newest events, its open watches.

The feed changes it (:meth:`ResourceCache.apply`), requests read it. It loads itself from the store when it is first
read: what the feed brings meanwhile is put aside and applied on top.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from apiserver.api.encoded import EncodedObject
from apiserver.api.errors import TooManyRequests
from apiserver.api.rest import ListOptions, ListResult, WatchSource
from apiserver.api.storage import CompactedError, EventType, Storage, StorageEvent
from apiserver.api.stream import WatchStream
from apiserver.storage.cache.codec import Codec
from apiserver.storage.cache.contents import Change, Contents
from apiserver.storage.cache.continuation import revision_of
from apiserver.storage.cache.freshness import Freshness
from apiserver.storage.cache.listing import list_page
from apiserver.storage.cache.loading import ATTEMPTS, decoded, not_ready, read_all
from apiserver.storage.cache.newest import NewestRevision
from apiserver.storage.cache.objects import SortedObjects
from apiserver.storage.cache.selection import Selection, narrowed
from apiserver.storage.cache.settings import CacheSettings
from apiserver.storage.cache.snapshots import Snapshot, Snapshots
from apiserver.storage.cache.stream import CacheWatch
from apiserver.storage.cache.watchers import Watchers
from apiserver.storage.cache.watching import open_watch

log = logging.getLogger(__name__)


class Upstream(Protocol):
    """What a cache needs of the feed."""

    storage: Storage
    freshness: Freshness
    newest: NewestRevision

    def wait_started(self, timeout: float) -> bool:
        """Wait until the feed knows from which revision on it brings everything."""


@dataclass(slots=True)
class Counts:
    """What happened since the process began."""

    events_received: int = 0
    events_dispatched: int = 0
    initialized: int = 0


class ResourceCache:
    """The cache of the keys below ``prefix``. Made by :meth:`.feed.Feed.cache`."""

    def __init__(
        self, upstream: Upstream, prefix: str, codec: Codec, settings: CacheSettings, namespaced: bool
    ) -> None:
        self.storage = upstream.storage
        self.prefix = prefix
        self.codec = codec
        self.settings = settings
        self.namespaced = namespaced
        self.counts = Counts()
        self._upstream = upstream
        self.freshness = upstream.freshness
        self.lock = threading.Lock()
        self.loading = threading.Lock()
        # None until it is loaded. Read once per operation: the feed may take it away at any time.
        self.contents: Contents | None = None
        self.streams = Watchers(self.lock, prefix, settings.queued_events)
        self._snapshots = Snapshots(settings.snapshots)
        self._aside: list[StorageEvent] | None = None
        self._removed = False
        self._refused_since = 0.0

    # What metrics and /debug show.

    def __len__(self) -> int:
        contents = self.contents
        return len(contents) if contents is not None else 0

    @property
    def ready(self) -> bool:
        """Whether it has been loaded."""
        return self.contents is not None

    @property
    def revision(self) -> int:
        """Of the newest change of this resource; 0 when it has not been loaded."""
        contents = self.contents
        return contents.state.revision if contents is not None else 0

    @property
    def capacity(self) -> int:
        """How many events the window may hold now."""
        contents = self.contents
        return contents.window.capacity if contents is not None else self.settings.lowest_capacity

    @property
    def watchers(self) -> int:
        """How many watches are open."""
        return len(self.streams)

    @property
    def terminated(self) -> int:
        """How many watches were ended because their consumer was too slow."""
        return self.streams.terminated

    # Reads.

    def get(self, key: str, resource_version: str = "") -> EncodedObject | None:
        """The object of ``key``, None if there is none.

        :param resource_version: "" newest, "0" any age, "N" not older than N.
        :raises Timeout: N is in the future.
        :raises UnknownError: it is no number. COMPAT: a 500 without reason.
        """
        revision = revision_of(resource_version)
        if self.contents is not None:
            if not resource_version:
                self.wait_until_newest()
            elif revision:
                self.wait_until_fresh(revision)
            contents = self.contents
            if contents is not None:
                return contents.get(key)
        return self._get_stored(key, revision)

    def peek(self, key: str) -> EncodedObject | None:
        """What the cache has of ``key`` at this moment: possibly old; None also when it isn't loaded."""
        contents = self.contents
        return contents.get(key) if contents is not None else None

    def list(self, prefix: str, options: ListOptions) -> ListResult:
        """A page of the objects below ``prefix``: the resource's prefix, or that with a namespace and a slash.

        :raises Timeout: the resource version is in the future.
        :raises Expired: it is too old, or the continue token is; the error then carries a token to go on with.
        :raises BadRequest: the resource version or token can't be read.
        :raises TooManyRequests: the cache isn't ready.
        """
        return list_page(self, prefix, options)

    def watch(self, scope: str, options: ListOptions, source: WatchSource) -> WatchStream:
        """The changes below ``scope``: a prefix as for :meth:`list`, or the key of one object.

        ``options.timeout`` is in seconds until the stream ends, None = never. What is too old makes a stream of one
        ERROR event.

        :raises Timeout: the resource version is in the future.
        :raises UnknownError: the resource version can't be read.
        :raises TooManyRequests: the cache isn't ready.
        """
        return open_watch(self, scope, options, source)

    def selection(self, scope: str, options: ListOptions) -> Selection:
        """What a request selects."""
        field = options.field_selector
        scope = narrowed(scope, self.prefix, self.namespaced, field)
        return Selection(scope, options.label_selector, field)

    def wait_until_fresh(self, revision: int) -> None:
        """Return when everything up to ``revision`` is in the cache.

        :raises Timeout: it isn't after 3 seconds.
        """
        contents = self.contents
        if contents is None or contents.state.revision < revision:
            self.freshness.wait(revision, self.settings.fresh_timeout)

    def wait_until_newest(self) -> None:
        """Return when every write acknowledged before this call, by any server, is in the cache.

        :raises StorageError: the store can't say its revision.
        """
        self.wait_until_fresh(self._upstream.newest())

    # States, for lists.

    def snapshot(self) -> Snapshot:
        """The newest state and its revision.

        :raises TooManyRequests: / :raises StorageError: as :meth:`load`.
        """
        for _attempt in range(ATTEMPTS):
            # In this order: all that came up to this revision is in the state that is read afterwards.
            revision = self.freshness.revision
            contents = self.contents
            if contents is not None:
                state = contents.state
                return Snapshot(state.objects, max(revision, state.revision))
            self.load()
        raise self._not_ready()

    def snapshot_at(self, revision: int) -> Snapshot | None:
        """The state as of ``revision``, which has been waited for; None when only the store may know it.

        :raises TooManyRequests: / :raises StorageError: as :meth:`load`.
        """
        self.load()
        contents = self.contents
        if contents is None:
            return None
        state = contents.state
        if state.revision <= revision:
            return Snapshot(state.objects, revision)
        objects = self._snapshots.get(revision)
        if objects is None:
            with self.lock:
                objects = contents.at(revision)
            if objects is None:
                return None
            self._snapshots.keep(Snapshot(objects, revision))
        return Snapshot(objects, revision)

    def keep(self, snapshot: Snapshot) -> None:
        """Hold on to a state, for the next page."""
        self._snapshots.keep(snapshot)

    def candidates(self, selection: Selection, objects: SortedObjects) -> Sequence[EncodedObject] | None:
        """A short cut to what ``selection`` may select in ``objects``; None when there is none."""
        with self.lock:
            contents = self.contents
            if contents is None or contents.state.objects is not objects:
                return None
            return contents.candidates(selection)

    def known(self, key: str, revision: int) -> EncodedObject | None:
        """The object of ``key`` if the cache has just that version."""
        obj = self.peek(key)
        return obj if obj is not None and obj.revision == revision else None

    # Watches.

    def end_all(self, reason: str) -> None:
        """End every watch after what waits for it has been sent."""
        with self.lock:
            watches = self.streams.remove_all()
        if watches:
            log.info("%d watches on %s end: %s", len(watches), self.prefix, reason)
        for watch in watches:
            watch.end()

    # Loading.

    def load(self) -> None:
        """Return when the cache is ready; load it if nobody has.

        :raises TooManyRequests: it takes too long. COMPAT: ``storage is (re)initializing``.
        :raises StorageError: the store is away.
        """
        if self.contents is not None:
            return
        if not self.loading.acquire(timeout=self.settings.load_timeout):
            raise self._not_ready()
        try:
            for _attempt in range(ATTEMPTS):
                if self._load():
                    self._refused_since = 0.0
                    return
        finally:
            self.loading.release()
        raise self._not_ready()

    def _not_ready(self) -> TooManyRequests:
        now = time.monotonic()
        self._refused_since = self._refused_since or now
        return not_ready(now - self._refused_since)

    def _load(self) -> bool:
        if self.contents is not None:
            return True
        if self._removed or not self._upstream.wait_started(self.settings.load_timeout):
            raise self._not_ready()
        with self.lock:
            aside = self._aside = []
        try:
            objects, revision = read_all(self.storage, self.prefix, self.codec, self.settings.page)
        except CompactedError:
            return False
        except BaseException:
            with self.lock:
                self._aside = None
            raise
        with self.lock:
            if self._aside is not aside:
                # The feed began anew meanwhile: events between the two may be missing.
                return False
            contents = Contents(self.settings, objects, revision)
            contents.change([self._decode(event) for event in aside])
            self._aside = None
            self.contents = contents
            self.counts.initialized += 1
        return True

    def _get_stored(self, key: str, revision: int) -> EncodedObject | None:
        """Read one object from the store, while the cache is loaded in the background."""
        if revision:
            self.freshness.wait(revision, self.settings.fresh_timeout)
        found = self.storage.get(key)
        if not self.loading.locked():
            threading.Thread(target=self._load_quietly, name=f"load {self.prefix}", daemon=True).start()
        return decoded(self.codec, key, found.value, found.mod_revision) if found is not None else None

    def _load_quietly(self) -> None:
        try:
            self.load()
        except Exception as error:  # the next read tries again and tells its client
            log.warning("loading %s: %s", self.prefix, error)

    # The feed's side.

    def apply(self, events: Sequence[StorageEvent]) -> Sequence[CacheWatch]:
        """Take in the next events of this resource; returns the streams to wake. Called by the feed's thread only."""
        self.counts.events_received += len(events)
        with self.lock:
            if self._aside is not None:
                self._aside += events
            contents = self.contents
            if contents is None:
                return ()
        changes = [self._decode(event) for event in events]
        with self.lock:
            woken, queued = self.streams.dispatch(contents.change(changes))
        self.counts.events_dispatched += queued
        return woken

    def reset(self, reason: str) -> None:
        """Forget everything: the feed has lost track. Watches end, so that clients list again."""
        with self.lock:
            self._aside = None
            self.contents = None
        self._snapshots.clear()
        self.end_all(reason)

    def remove(self) -> None:
        """The resource is gone: forget everything and stay so."""
        self._removed = True
        self.reset("the resource was removed")

    def expire(self) -> None:
        """Let go of snapshots that nobody used for long."""
        self._snapshots.expire()

    def _decode(self, event: StorageEvent) -> Change:
        obj = None
        if event.type is EventType.PUT and event.value is not None:
            obj = decoded(self.codec, event.key, event.value, event.revision)
        return event.key, obj, event.revision
