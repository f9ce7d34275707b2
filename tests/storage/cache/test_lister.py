"""Reads for plugins."""

from __future__ import annotations

from apiserver.storage.cache import CacheLister, Feed, JSONCodec, ResourceCache
from tests.storage.cache.kit import put
from tests.storage.cache.memory import MemoryStorage


def test_a_lister_reads_from_the_cache(store: MemoryStorage, cache: ResourceCache) -> None:
    put(store, "a", labels={"l": "1", "m": "1"})
    put(store, "b", labels={"l": "1"})
    put(store, "c", "other")
    lister = CacheLister(cache)
    found = lister.get("ns", "a")
    assert found is not None
    assert found.name == "a"
    assert lister.get("other", "a") is None
    store.go_away()
    assert [obj.name for obj in lister.list()] == ["a", "b", "c"]
    assert [obj.name for obj in lister.list("ns")] == ["a", "b"]
    assert [obj.name for obj in lister.list("ns", {"l": "1"})] == ["a", "b"]
    assert [obj.name for obj in lister.list(labels={"l": "1", "m": "1"})] == ["a"]
    assert [obj.name for obj in lister.list("other", {"l": "1"})] == []


def test_a_lister_of_cluster_scoped_objects_takes_the_empty_namespace(store: MemoryStorage, feed: Feed) -> None:
    store.put("/registry/namespaces/x", b'{"metadata": {"name": "x"}}')
    lister = CacheLister(feed.cache("/registry/namespaces/", JSONCodec(), namespaced=False))
    found = lister.get("", "x")
    assert found is not None
    assert found.name == "x"
