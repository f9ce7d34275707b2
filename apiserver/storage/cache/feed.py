"""The feed: the one storage watch of a process, from which all caches live.

Its thread takes batches from the store, gives each resource's events to its cache, then marks the batch's revision as
seen and wakes the streams, once per batch. Where the store's watch breaks, it goes on from the last revision; where
history is gone, every cache begins anew and every stream ends.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence

from apiserver.api.storage import (
    CompactedError,
    FutureRevisionError,
    Storage,
    StorageError,
    StorageEvent,
    StorageWatch,
    WatchBatch,
)
from apiserver.storage.cache.codec import Codec
from apiserver.storage.cache.freshness import Freshness
from apiserver.storage.cache.newest import NewestRevision
from apiserver.storage.cache.resource import ResourceCache
from apiserver.storage.cache.settings import CacheSettings
from apiserver.storage.cache.stream import CacheWatch

log = logging.getLogger(__name__)

_EXPIRE_SECONDS = 15.0


class Feed:
    """The source of all caches of this process.

    :param prefix: below which all keys are, with slashes around it.
    """

    def __init__(self, storage: Storage, prefix: str = "/registry/", settings: CacheSettings | None = None) -> None:
        self.storage = storage
        self.freshness = Freshness(storage.request_progress)
        self.newest = NewestRevision(storage.current_revision)
        self.batches = 0
        self.resets = 0
        self._prefix = prefix
        self._settings = settings or CacheSettings()
        self._caches: dict[str, ResourceCache] = {}
        self._lock = threading.Lock()
        self._started = threading.Event()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._watch: StorageWatch | None = None
        self._failures = 0
        self._expired = time.monotonic()

    @property
    def revision(self) -> int:
        """The newest revision that every cache has seen; 0 before the first."""
        return self.freshness.revision

    def start(self) -> None:
        """Start the thread; call it once, in the process that shall have it."""
        self._thread = threading.Thread(target=self._run, name="watch cache feed", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End all streams and the thread."""
        self._stopping.set()
        with self._lock:
            watch = self._watch
        if watch is not None:
            watch.close()
        self.terminate()
        if self._thread is not None:
            self._thread.join(5.0)

    def terminate(self) -> None:
        """The server shuts down: each stream sends what waits for it and ends."""
        for cache in self.caches():
            cache.end_all("the server shuts down")

    def cache(self, prefix: str, codec: Codec, *, namespaced: bool = True) -> ResourceCache:
        """The cache of the keys below ``prefix`` (one or two segments below the feed's), made when first asked for."""
        with self._lock:
            found = self._caches.get(prefix)
            if found is None:
                found = ResourceCache(self, prefix, codec, self._settings, namespaced=namespaced)
                self._caches = {**self._caches, prefix: found}
            return found

    def remove(self, prefix: str) -> None:
        """Forget the cache of ``prefix``; its streams end."""
        with self._lock:
            caches = dict(self._caches)
            gone = caches.pop(prefix, None)
            self._caches = caches
        if gone is not None:
            gone.remove()

    def caches(self) -> Sequence[ResourceCache]:
        """All caches."""
        return list(self._caches.values())

    def wait_started(self, timeout: float) -> bool:
        """Wait until the revision is known from which on the feed misses nothing."""
        return self._started.wait(timeout)

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self._follow()
                continue
            except (CompactedError, FutureRevisionError) as error:
                self._begin_anew(f"the store's history is gone: {error}")
            except StorageError as error:
                log.warning("the watch on the store broke and will be resumed at revision %d: %s", self.revision, error)
            except Exception:
                log.exception("the watch cache failed and begins anew")
                self._begin_anew("internal error")
            # The first time at once; then 0.05 s, 0.1 s ... until a watch brings something.
            pause = 0.025 * 2**self._failures if self._failures else 0.0
            self._failures = min(self._failures + 1, 16)
            self._stopping.wait(min(pause, self._settings.retry_seconds))

    def _follow(self) -> None:
        if not self._started.is_set():
            revision = self.storage.current_revision()
            # The caches forget before the feed counts as started: nothing old can be loaded again in between.
            for cache in self.caches():
                cache.reset("the watch cache begins anew")
            self.freshness.reset(revision)
            self._started.set()
        watch = self.storage.watch(self._prefix, self.revision)
        with self._lock:
            self._watch = watch
        try:
            if self._stopping.is_set():
                return
            for batch in watch:
                self._deliver(batch)
                self._failures = 0
        finally:
            watch.close()

    def _begin_anew(self, reason: str) -> None:
        log.warning("%s; all resources are read again", reason)
        self.resets += 1
        self._started.clear()

    def _deliver(self, batch: WatchBatch) -> None:
        parts: dict[str, list[StorageEvent]] = {}
        for event in batch.events:
            prefix = self._route(event.key)
            if prefix is not None:
                parts.setdefault(prefix, []).append(event)
        woken: list[CacheWatch] = []
        caches = self._caches
        for prefix, events in parts.items():
            cache = caches.get(prefix)
            if cache is not None:
                woken += cache.apply(events)
        self.freshness.advance(batch.revision)
        for watch in woken:
            watch.wake()
        self.batches += 1
        now = time.monotonic()
        if now - self._expired > _EXPIRE_SECONDS:
            self._expired = now
            for cache in self.caches():
                cache.expire()

    def _route(self, key: str) -> str | None:
        """The prefix of the cache that ``key`` belongs to: one segment below the feed's prefix, or two."""
        slash = key.find("/", len(self._prefix))
        while slash >= 0:
            prefix = key[: slash + 1]
            if prefix in self._caches:
                return prefix
            slash = key.find("/", slash + 1)
        return None
