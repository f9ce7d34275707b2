"""The cache of one resource: its objects as encoded bytes, its newest events, its open watches.

The feed changes it (:meth:`ResourceCache.apply`), requests read it. It loads itself from the store when it is first
read: what the feed brings meanwhile is put aside and applied on top.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from apiserver.api.encoded import EncodedObject
from apiserver.api.errors import Expired, TooManyRequests, UnknownError
from apiserver.api.rest import ListOptions, ListResult, WatchSource
from apiserver.api.storage import CompactedError, EventType, FutureRevisionError, Storage, StorageEvent
from apiserver.api.stream import WatchStream
from apiserver.storage.cache.codec import Codec
from apiserver.storage.cache.contents import Contents
from apiserver.storage.cache.continuation import parse_revision
from apiserver.storage.cache.freshness import Freshness
from apiserver.storage.cache.listing import list_page
from apiserver.storage.cache.loading import decoded, read_all, read_history
from apiserver.storage.cache.objects import SortedObjects
from apiserver.storage.cache.selection import Selection, narrowed
from apiserver.storage.cache.settings import CacheSettings
from apiserver.storage.cache.snapshots import Snapshot, Snapshots
from apiserver.storage.cache.stream import CacheWatch, ErrorWatch
from apiserver.storage.cache.watchers import Watchers

log = logging.getLogger(__name__)

ATTEMPTS = 3
"""How often something is tried that the feed's progress can undo."""


class Upstream(Protocol):
    """What a cache needs of the feed."""

    storage: Storage
    freshness: Freshness

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
        self._freshness = upstream.freshness
        self._lock = threading.Lock()
        self._loading = threading.Lock()
        self._contents = Contents(settings)
        self._watchers = Watchers(self._lock, prefix, settings.queued_events)
        self._snapshots = Snapshots(settings.snapshots)
        self._ready = False
        self._aside: list[StorageEvent] | None = None

    # What metrics and /debug show.

    def __len__(self) -> int:
        return len(self._contents)

    @property
    def ready(self) -> bool:
        """Whether it has been loaded."""
        return self._ready

    @property
    def capacity(self) -> int:
        """How many events the window may hold now."""
        return self._contents.window.capacity

    @property
    def watchers(self) -> int:
        """How many watches are open."""
        return len(self._watchers)

    @property
    def terminated(self) -> int:
        """How many watches were ended because their consumer was too slow."""
        return self._watchers.terminated

    # Reads.

    def get(self, key: str, resource_version: str = "") -> EncodedObject | None:
        """The object of ``key``, None if there is none.

        :param resource_version: "" newest, "0" any age, "N" not older than N.
        :raises Timeout: N is in the future.
        :raises UnknownError: it is no number. COMPAT: a 500 without reason.
        """
        revision = _revision(resource_version)
        if not self._ready:
            return self._get_stored(key, revision)
        if not resource_version:
            self.wait_until_newest()
        elif revision:
            self.wait_until_fresh(revision)
        return self._contents.get(key)

    def peek(self, key: str) -> EncodedObject | None:
        """What the cache has of ``key`` at this moment: possibly old; None also when it isn't loaded."""
        return self._contents.get(key)

    def list(self, prefix: str, options: ListOptions) -> ListResult:
        """A page of the objects below ``prefix``: the resource's prefix, or that with a namespace and a slash.

        :raises Timeout: the resource version is in the future.
        :raises Expired: it is too old, or the continue token is; the error then carries a token to go on with.
        :raises BadRequest: the resource version or token can't be read.
        :raises TooManyRequests: the cache isn't ready.
        """
        self.load()
        return list_page(self, prefix, options)

    def watch(self, scope: str, options: ListOptions, source: WatchSource) -> WatchStream:
        """The changes below ``scope``: a prefix as for :meth:`list`, or the key of one object.

        ``options.timeout`` is in seconds until the stream ends, None = never. What is too old makes a stream of one
        ERROR event.

        :raises Timeout: the resource version is in the future.
        :raises UnknownError: the resource version can't be read.
        :raises TooManyRequests: the cache isn't ready.
        """
        revision = _revision(options.resource_version)
        self.load()
        if not options.resource_version:
            self.wait_until_newest()
        elif revision:
            self.wait_until_fresh(revision)
        send = options.send_initial_events
        if send or (send is None and not revision):
            return self._watch_from_state(self.selection(scope, options), options, source)
        return self._watch_from(revision, self.selection(scope, options), options, source)

    def selection(self, scope: str, options: ListOptions) -> Selection:
        """What a request selects."""
        field = options.field_selector
        scope = narrowed(scope, self.prefix, self.namespaced, field)
        return Selection(scope, options.label_selector, field)

    def wait_until_fresh(self, revision: int) -> None:
        """Return when everything up to ``revision`` is in the cache.

        :raises Timeout: it isn't after 3 seconds.
        """
        if self._contents.state.revision < revision:
            self._freshness.wait(revision, self.settings.fresh_timeout)

    def wait_until_newest(self) -> None:
        """Return when every write acknowledged before this call, by any server, is in the cache.

        :raises StorageError: the store can't say its revision.
        """
        self.wait_until_fresh(self.storage.current_revision())

    # States, for lists.

    def snapshot(self) -> Snapshot:
        """The newest state and its revision."""
        # In this order: all that came up to this revision is in the state that is read afterwards.
        revision = self._freshness.revision
        state = self._contents.state
        return Snapshot(state.objects, max(revision, state.revision))

    def snapshot_at(self, revision: int) -> Snapshot | None:
        """The state as of ``revision``, which has been waited for; None when only the store may know it."""
        state = self._contents.state
        if state.revision <= revision:
            return Snapshot(state.objects, revision)
        objects = self._snapshots.get(revision)
        if objects is None:
            with self._lock:
                objects = self._contents.at(revision)
            if objects is None:
                return None
            self._snapshots.keep(Snapshot(objects, revision))
        return Snapshot(objects, revision)

    def keep(self, snapshot: Snapshot) -> None:
        """Hold on to a state, for the next page."""
        self._snapshots.keep(snapshot)

    def candidates(self, selection: Selection, objects: SortedObjects) -> Sequence[EncodedObject] | None:
        """A short cut to what ``selection`` may select in ``objects``; None when there is none."""
        with self._lock:
            if self._contents.state.objects is not objects:
                return None
            return self._contents.candidates(selection)

    def known(self, key: str, revision: int) -> EncodedObject | None:
        """The object of ``key`` if the cache has just that version."""
        obj = self._contents.get(key)
        return obj if obj is not None and obj.revision == revision else None

    # Watches.

    def _watch_from_state(self, selection: Selection, options: ListOptions, source: WatchSource) -> WatchStream:
        seen = self._freshness.revision
        with self._lock:
            state = self._contents.state
            stream = self._open(selection, options, source, max(seen, state.revision))
            candidates = self._contents.candidates(selection)
        if candidates is None:
            candidates = state.objects.range(selection.start, selection.end)
        if not selection.everything:
            candidates = [obj for obj in candidates if selection.matches(obj)]
        stream.begin(candidates, initial_end=bool(options.send_initial_events and options.allow_watch_bookmarks))
        return stream

    def _watch_from(
        self, revision: int, selection: Selection, options: ListOptions, source: WatchSource
    ) -> WatchStream:
        seen = self._freshness.revision
        for _attempt in range(ATTEMPTS):
            with self._lock:
                newest = max(seen, self._contents.state.revision)
                oldest = self._contents.window.start
                # COMPAT: sendInitialEvents=false without a version starts at about now.
                events = self._contents.window.since(revision or newest)
                if events is not None:
                    stream = self._open(selection, options, source, newest)
                    break
            if not self._extend_window(revision):
                return ErrorWatch(Expired(f"too old resource version: {revision} ({oldest})"), source)
        else:
            raise not_ready()
        stream.begin([event for event in events if selection.covers(event.key)])
        return stream

    def _open(self, selection: Selection, options: ListOptions, source: WatchSource, revision: int) -> CacheWatch:
        """A registered stream. The lock is held."""
        stream = CacheWatch(
            selection,
            source,
            watchers=self._watchers,
            freshness=self._freshness,
            revision=revision,
            deadline=math.inf if options.timeout is None else time.monotonic() + options.timeout,
            bookmarks=self.settings.bookmark_seconds if options.allow_watch_bookmarks else 0.0,
        )
        self._watchers.add(stream)
        return stream

    def _extend_window(self, revision: int) -> bool:
        """Fetch the events after ``revision`` from the store's history; False when it has forgotten them.

        After a restart clients go on where they were, which is before this cache was loaded.
        """
        with self._loading:
            with self._lock:
                window, start = self._contents.window, self._contents.window.start
            if start <= revision:
                return True
            try:
                events = read_history(self.storage, self.prefix, self.codec, revision, start, self.known)
            except (CompactedError, FutureRevisionError):
                return False
            with self._lock:
                # Otherwise the window has been moved or replaced meanwhile, and the caller tries again.
                if self._contents.window is window and window.start == start:
                    window.extend_back(revision, events)
            return True

    def end_all(self, reason: str) -> None:
        """End every watch after what waits for it has been sent."""
        with self._lock:
            watches = self._watchers.remove_all()
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
        if self._ready:
            return
        if not self._loading.acquire(timeout=self.settings.load_timeout):
            raise not_ready()
        try:
            for _attempt in range(ATTEMPTS):
                if self._load():
                    return
        finally:
            self._loading.release()
        raise not_ready()

    def _load(self) -> bool:
        if self._ready:
            return True
        if not self._upstream.wait_started(self.settings.load_timeout):
            raise not_ready()
        with self._lock:
            aside = self._aside = []
        try:
            objects, revision = read_all(self.storage, self.prefix, self.codec, self.settings.page)
        except CompactedError:
            return False
        except BaseException:
            with self._lock:
                self._aside = None
            raise
        with self._lock:
            if self._aside is not aside:
                # The feed began anew meanwhile: events between the two may be missing.
                return False
            self._contents.load(objects, revision)
            for event in aside:
                self._contents.change(event.key, self._decode(event), event.revision)
            self._aside = None
            self._ready = True
            self.counts.initialized += 1
        return True

    def _get_stored(self, key: str, revision: int) -> EncodedObject | None:
        """Read one object from the store, while the cache is loaded in the background."""
        if revision:
            self._freshness.wait(revision, self.settings.fresh_timeout)
        found = self.storage.get(key)
        if not self._loading.locked():
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
        with self._lock:
            if self._aside is not None:
                self._aside += events
            if not self._ready:
                return []
        changes = [(event.key, self._decode(event), event.revision) for event in events]
        with self._lock:
            change = self._contents.change
            happened = [event for each in changes if (event := change(*each)) is not None]
            woken, queued = self._watchers.dispatch(happened)
        self.counts.events_dispatched += queued
        return woken

    def reset(self, reason: str) -> None:
        """Forget everything: the feed has lost track. Watches end, so that clients list again."""
        with self._lock:
            self._ready = False
            self._aside = None
            self._contents = Contents(self.settings)
            self._snapshots.clear()
        self.end_all(reason)

    def expire(self) -> None:
        """Let go of snapshots that nobody used for long."""
        self._snapshots.expire()

    def _decode(self, event: StorageEvent) -> EncodedObject | None:
        if event.type is EventType.DELETE or event.value is None:
            return None
        return decoded(self.codec, event.key, event.value, event.revision)


def not_ready() -> TooManyRequests:
    """COMPAT: the Cacher's answer before it has listed."""
    return TooManyRequests("storage is (re)initializing", retry_after=1)


def _revision(text: str) -> int:
    try:
        return parse_revision(text)
    except ValueError as error:
        raise UnknownError(str(error)) from None
