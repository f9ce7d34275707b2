"""Opening a watch: where it starts, and what it sends before the first new event.

Called by :meth:`.resource.ResourceCache.watch`. The stream is registered under the cache's lock together with the
reading of what it begins with, so nothing comes twice and nothing is missed. What is costly (selecting, history) runs
without the lock.

COMPAT: Cacher.Watch, watchCache.getAllEventsSinceLocked.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

from apiserver.api.errors import Expired
from apiserver.api.rest import ListOptions, WatchSource
from apiserver.api.storage import CompactedError, FutureRevisionError
from apiserver.api.stream import WatchStream
from apiserver.storage.cache.contents import Contents
from apiserver.storage.cache.continuation import revision_of
from apiserver.storage.cache.loading import ATTEMPTS, not_ready, read_history
from apiserver.storage.cache.selection import Selection
from apiserver.storage.cache.stream import CacheWatch, ErrorWatch

if TYPE_CHECKING:
    from apiserver.storage.cache.resource import ResourceCache


def open_watch(cache: ResourceCache, scope: str, options: ListOptions, source: WatchSource) -> WatchStream:
    """See :meth:`.resource.ResourceCache.watch`."""
    revision = revision_of(options.resource_version)
    if not options.resource_version:
        cache.wait_until_newest()
    elif revision:
        cache.wait_until_fresh(revision)
    selection = cache.selection(scope, options)
    send = options.send_initial_events
    if send or (send is None and not revision):
        return _from_state(cache, selection, options, source)
    return _from_revision(cache, revision, selection, options, source)


def _from_state(cache: ResourceCache, selection: Selection, options: ListOptions, source: WatchSource) -> WatchStream:
    for _attempt in range(ATTEMPTS):
        cache.load()
        seen = cache.freshness.revision
        with cache.lock:
            contents = cache.contents
            if contents is None:
                continue
            state = contents.state
            stream = _open(cache, selection, options, source, max(seen, state.revision))
            objects = contents.candidates(selection)
        if objects is None:
            objects = state.objects.range(selection.start, selection.end)
        if not selection.everything:
            objects = list(selection.filter(objects))
        stream.begin(objects, initial_end=bool(options.send_initial_events and options.allow_watch_bookmarks))
        return stream
    raise not_ready()


def _from_revision(
    cache: ResourceCache, revision: int, selection: Selection, options: ListOptions, source: WatchSource
) -> WatchStream:
    for _attempt in range(ATTEMPTS):
        cache.load()
        seen = cache.freshness.revision
        with cache.lock:
            contents = cache.contents
            if contents is None:
                continue
            newest = max(seen, contents.state.revision)
            oldest = contents.window.start
            # COMPAT: sendInitialEvents=false without a version starts at about now.
            events = contents.window.since(revision or newest)
            if events is not None:
                stream = _open(cache, selection, options, source, newest)
        if events is not None:
            stream.begin([event for event in events if selection.covers(event.key)])
            return stream
        if not _extend_window(cache, contents, revision):
            return ErrorWatch(Expired(f"too old resource version: {revision} ({oldest})"), source)
    raise not_ready()


def _open(
    cache: ResourceCache, selection: Selection, options: ListOptions, source: WatchSource, revision: int
) -> CacheWatch:
    """A registered stream. The lock is held."""
    stream = CacheWatch(
        selection,
        source,
        watchers=cache.streams,
        freshness=cache.freshness,
        revision=revision,
        deadline=math.inf if options.timeout is None else time.monotonic() + options.timeout,
        bookmarks=cache.settings.bookmark_seconds if options.allow_watch_bookmarks else 0.0,
    )
    cache.streams.add(stream)
    return stream


def _extend_window(cache: ResourceCache, contents: Contents, revision: int) -> bool:
    """Fetch the events after ``revision`` from the store's history; False when it has forgotten them.

    After a restart clients go on where they were, which is before this cache was loaded.
    """
    window = contents.window
    with cache.loading:
        with cache.lock:
            start = window.start
        if start <= revision:
            return True
        try:
            events = read_history(cache.storage, cache.prefix, cache.codec, revision, start, cache.known)
        except (CompactedError, FutureRevisionError):
            return False
        with cache.lock:
            # Otherwise it has moved on meanwhile, and the caller tries again.
            if window.start == start:
                window.extend_back(revision, events)
        return True
