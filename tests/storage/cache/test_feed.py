"""The feed: stores that are away, break, forget; caches that come late; many threads at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from apiserver.api import errors
from apiserver.api.storage import CompactedError, UnavailableError
from apiserver.storage.cache import CacheSettings, Feed, ResourceCache
from tests.storage.cache.kit import PREFIX, PlainCodec, Reader, listed, names, put, remove, value, watch
from tests.storage.cache.memory import MemoryStorage


def test_one_watch_serves_all_resources(store: MemoryStorage, feed: Feed) -> None:
    prefixes = ["/registry/pods/", "/registry/services/specs/", "/registry/services/endpoints/", "/registry/a.b/c/"]
    caches = {prefix: feed.cache(prefix, PlainCodec()) for prefix in prefixes}
    readers = {prefix: watch(cache, prefix) for prefix, cache in caches.items()}
    for prefix in prefixes:
        store.put(f"{prefix}ns/{len(prefix)}", value(str(len(prefix))))
    store.put("/registry/unknown/ns/x", b"whatever")
    for prefix, reader in readers.items():
        assert [event["object"]["metadata"]["name"] for event in reader.until(lambda r: r.events != []).events] == [
            str(len(prefix))
        ]
        assert len(listed(caches[prefix], prefix).items) == 1
    assert store.watches == 1
    assert {len(cache) for cache in feed.caches()} == {1}


def test_a_list_shows_the_revision_of_the_whole_store(store: MemoryStorage, cache: ResourceCache) -> None:
    put(store, "a")
    assert listed(cache).resource_version == "2"
    store.put("/registry/others/x", b"{}")
    assert listed(cache).resource_version == "3"


def test_a_resource_is_loaded_when_it_is_first_read(store: MemoryStorage, feed: Feed, cache: ResourceCache) -> None:
    put(store, "a")
    assert not cache.ready
    assert cache.peek(f"{PREFIX}ns/a") is None
    found = cache.get(f"{PREFIX}ns/a")
    assert found is not None, "read from the store, while the cache is loaded"
    deadline = time.monotonic() + 5
    while not cache.ready and time.monotonic() < deadline:
        time.sleep(0.005)
    assert cache.peek(f"{PREFIX}ns/a") is not None
    lists = store.lists
    assert names(listed(cache)) == ["a"]
    assert store.lists == lists
    assert cache.counts.initialized == 1


def test_what_happens_while_a_resource_is_loaded_is_not_lost(store: MemoryStorage, feed: Feed) -> None:
    for number in range(20):
        put(store, f"n{number:02}")
    original = store.list

    def slow_list(*args: object, **kwargs: object) -> object:
        page = original(*args, **kwargs)
        remove(store, f"n{store.lists:02}")
        put(store, f"m{store.lists:02}")
        feed.freshness.wait(store.revision)
        return page

    store.list = slow_list  # type: ignore[method-assign, assignment]
    cache = feed.cache(PREFIX, PlainCodec())
    got = names(listed(cache))
    assert got == sorted(key.rpartition("/")[2] for key in store.state)
    assert got[0] == "m01"


def test_a_watch_of_the_store_that_breaks_goes_on_without_a_gap(
    store: MemoryStorage, feed: Feed, cache: ResourceCache
) -> None:
    reader = watch(cache)
    put(store, "a")
    reader.count(1)
    store.hold(True)
    put(store, "b")
    store.break_watches(UnavailableError("a test"))
    put(store, "c")
    store.hold(False)
    assert reader.count(3) == ["ADDED a@2", "ADDED b@3", "ADDED c@4"]
    assert feed.resets == 0


def test_a_store_that_was_away_is_caught_up_with(store: MemoryStorage, feed: Feed, cache: ResourceCache) -> None:
    reader = watch(cache)
    put(store, "a")
    reader.count(1)
    store.go_away()
    put(store, "b")
    with pytest.raises(UnavailableError):
        listed(cache)
    assert names(listed(cache, resource_version="0")) == ["a"]
    time.sleep(0.05)
    store.come_back()
    assert reader.count(2) == ["ADDED a@2", "ADDED b@3"]
    assert not reader.ended
    assert names(listed(cache)) == ["a", "b"]


def test_lost_history_ends_the_watches_and_reads_everything_again(
    store: MemoryStorage, feed: Feed, cache: ResourceCache
) -> None:
    put(store, "a")
    reader = watch(cache)
    reader.count(1)
    store.hold(True)
    remove(store, "a")
    put(store, "b")
    store.compact(store.revision)
    store.hold(False)
    assert reader.end() == ["ADDED a@2"]
    assert names(listed(cache)) == ["b"]
    assert watch(cache).count(1) == ["ADDED b@4"]
    assert feed.resets == 1
    assert cache.counts.initialized == 2
    put(store, "c")
    assert names(listed(cache)) == ["b", "c"]


def test_a_store_that_went_back_is_read_again(store: MemoryStorage, feed: Feed, cache: ResourceCache) -> None:
    """Somebody restored a backup."""
    for name in "abc":
        put(store, name)
    reader = watch(cache)
    reader.count(3)
    with store.changed:
        store.log.clear()
        store.state.clear()
        store.revision = 1
    put(store, "old")
    store.break_watches(CompactedError(1))
    reader.end()
    assert names(listed(cache)) == ["old"]
    assert feed.revision == 2


def test_reads_are_refused_while_nothing_is_known(store: MemoryStorage) -> None:
    store.go_away()
    feed = Feed(store, settings=CacheSettings(load_timeout=0.05, retry_seconds=0.01))
    feed.start()
    try:
        cache = feed.cache(PREFIX, PlainCodec())
        with pytest.raises(errors.TooManyRequests) as raised:
            listed(cache, resource_version="0")
        assert raised.value.message == "storage is (re)initializing"
        assert raised.value.retry_after == 1
        cache._refused_since -= 10.0
        with pytest.raises(errors.TooManyRequests) as later:
            watch(cache, resource_version="0")
        assert later.value.retry_after == 6
        store.come_back()
        put(store, "a")
        feed.wait_started(5.0)
        assert names(listed(cache)) == ["a"]
    finally:
        feed.stop()


def test_a_failing_load_is_tried_again_by_the_next_read(store: MemoryStorage, feed: Feed, cache: ResourceCache) -> None:
    feed.wait_started(5.0)
    put(store, "a")
    original, failures = store.list, [UnavailableError("a test"), CompactedError(1), CompactedError(1)]

    def failing(*args: object, **kwargs: object) -> object:
        if failures:
            raise failures.pop(0)
        return original(*args, **kwargs)

    store.list = failing  # type: ignore[method-assign, assignment]
    with pytest.raises(UnavailableError):
        listed(cache, resource_version="0")
    assert names(listed(cache)) == ["a"]


def test_stopping_ends_streams_and_the_thread(store: MemoryStorage) -> None:
    feed = Feed(store)
    feed.start()
    reader = watch(feed.cache(PREFIX, PlainCodec()))
    before = threading.active_count()
    feed.stop()
    assert reader.end() == []
    assert threading.active_count() == before - 1


@pytest.fixture
def busy(store: MemoryStorage) -> Iterator[threading.Event]:
    """Eight writers that change a few objects as quickly as they can."""
    stop = threading.Event()

    def write(number: int) -> None:
        turn = 0
        while not stop.is_set():
            turn += 1
            name = f"n{(turn * 7 + number) % 12}"
            if turn % 5 == 0:
                with store.changed:
                    if f"{PREFIX}ns/{name}" in store.state:
                        remove(store, name)
            else:
                put(store, name, v=turn)
            time.sleep(0.0005)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    yield stop
    stop.set()
    for thread in threads:
        thread.join()


def replay(reader: Reader, known: dict[str, str], until: int) -> Iterator[str]:
    """Put the events up to the revision ``until`` on top of ``known``; yields what is wrong with them."""
    last = 0
    for event in reader.events:
        kind, metadata = event["type"], event["object"]["metadata"]
        name, revision = metadata["name"], int(metadata["resourceVersion"])
        if revision > until:
            return
        if kind != "ADDED":  # the initial state is in the order of keys
            if revision <= last:
                yield f"{revision} after {last}"
            last = revision
        if (name in known) == (kind == "ADDED"):
            yield f"{kind} of {name}"
        if kind == "DELETED":
            known.pop(name, None)
        else:
            known[name] = str(revision)


def test_watches_opened_and_closed_under_load_miss_nothing(
    store: MemoryStorage, cache: ResourceCache, busy: threading.Event
) -> None:
    """Each watch's events, put on top of what it began with, give the state of a later list."""
    failures: list[str] = []

    def follow(turn: int) -> None:
        known, version = {}, ""
        if turn % 2:
            page = listed(cache)
            known, version = {obj.name: str(obj.revision) for obj in page.items}, page.resource_version
        reader = watch(cache, resource_version=version)
        deadline = time.monotonic() + 0.03
        while time.monotonic() < deadline:
            reader.poll()
            time.sleep(0.001)
        final = listed(cache)
        cache.freshness.wait(int(final.resource_version))
        reader.poll()
        failures.extend(replay(reader, known, int(final.resource_version)))
        if known != {obj.name: str(obj.revision) for obj in final.items}:
            failures.append(f"{known} is not {final}")
        reader.stream.close()

    def run(number: int) -> None:
        for turn in range(12):
            follow(number + turn)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30.0)
    busy.set()
    assert failures == []
    assert cache.watchers == 0


def test_pages_stay_consistent_under_load(store: MemoryStorage, cache: ResourceCache, busy: threading.Event) -> None:
    deadline = time.monotonic() + 0.7
    while time.monotonic() < deadline:
        result = listed(cache, limit=2)
        version, seen = result.resource_version, {obj.key: obj.revision for obj in result.items}
        while result.continue_token:
            result = listed(cache, limit=2, continue_token=result.continue_token)
            assert result.resource_version == version
            seen |= {obj.key: obj.revision for obj in result.items}
        with store.changed:
            state = store._at(int(version))
        assert seen == {key: item.mod_revision for key, item in state.items()}
