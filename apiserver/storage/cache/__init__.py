"""The watch cache: one feed of changes per process, one cache of encoded objects per resource.

``apiserver.server`` makes one :class:`Feed` per worker process (after the fork) and starts it. The generic store of
``apiserver.registry`` asks it for the :class:`ResourceCache` of each resource and does all its reads there.

How to use it::

    feed = Feed(storage, prefix="/registry/", settings=CacheSettings())   # no thread yet
    feed.start()                                # opens the one storage watch; returns at once
    feed.stop()                                 # ends the thread and every stream
    cache = feed.cache("/registry/configmaps/", codec, namespaced=True)   # one per prefix; loads when first read
    feed.remove("/registry/example.com/widgets/")        # a CRD is gone: streams end, the objects are forgotten
    feed.terminate()                            # shutdown begins: every open stream sends what it has and ends
    feed.revision                               # newest revision that every cache has seen

    cache.get(key, resource_version="")    -> EncodedObject | None
        # "" newest (linearizable), "0" any age, "N" not older than N
    cache.peek(key)                        -> EncodedObject | None
        # what the cache has now, None when absent or not loaded: the first try of a guarded update
    cache.list(prefix, options)            -> rest.ListResult
        # prefix: the resource's prefix, or with a namespace: "/registry/configmaps/default/"; options: rest.ListOptions
    cache.watch(scope, options, source)    -> WatchStream
        # scope: a prefix as above (ends in "/"), or the key of one object (does not). options.timeout: seconds until
        # the stream ends (the caller has chosen it; None = never)
    cache.end_all(reason)                  # every stream of this resource sends what it has and ends; reason is logged
    cache.wait_until_fresh(revision)       # raises errors.Timeout after 3 s; cheap when already fresh
    cache.load()                           # make it ready now (reads do it by themselves)
    CacheLister(cache)                     # an apiserver.api.server.Lister

A writer need tell nobody: a read with an unset resourceVersion asks the store for its revision and waits for that.

``options.label_selector`` and ``options.field_selector`` are :class:`Selector`: ``matches(mapping) -> bool`` and
``equalities``, pairs (key, value) that everything it matches has, for indexes. Field selectors are asked with
``object.fields``. Watches share frames if they have the very same selectors (or none), so parsers should remember.

A :class:`Codec` belongs to each resource: ``decode_stored(key, value, revision) -> EncodedObject`` makes of stored
bytes what readers get, with metadata.resourceVersion, labels, fields, key.
:class:`JSONCodec` does that for plain JSON objects.

Errors: :class:`~apiserver.api.errors.Timeout` (a resource version in the future), ``Expired`` (too old; for a watch
it is not raised but becomes the one ERROR event of a stream), ``BadRequest`` (continue tokens, resource versions),
``TooManyRequests`` (``storage is (re)initializing``). ``StorageError`` passes through when the store is away.

Counters for metrics: ``cache.counts`` (:class:`Counts`: events_received, events_dispatched, initialized),
``len(cache)``, ``cache.capacity``, ``cache.watchers``, ``cache.terminated``;
``feed.caches()``, ``feed.batches``, ``feed.resets``.
"""

from __future__ import annotations

from apiserver.storage.cache.codec import Codec, JSONCodec
from apiserver.storage.cache.feed import Feed
from apiserver.storage.cache.lister import CacheLister
from apiserver.storage.cache.resource import Counts, ResourceCache
from apiserver.storage.cache.selection import Selector
from apiserver.storage.cache.settings import CacheSettings

__all__ = [
    "CacheLister",
    "CacheSettings",
    "Codec",
    "Counts",
    "Feed",
    "JSONCodec",
    "ResourceCache",
    "Selector",
]
