"""Watches: what they begin with, what they tell, how they end."""

from __future__ import annotations

import time

import pytest

from apiserver.api import errors
from apiserver.api.encoded import EncodedObject
from apiserver.api.rest import ListOptions
from apiserver.storage.cache import CacheSettings, Feed, ResourceCache
from tests.storage.cache.kit import PREFIX, PlainCodec, Reader, Source, Unequal, put, remove, value, watch, where
from tests.storage.cache.memory import MemoryStorage


@pytest.mark.parametrize("version", ["", "0"])
def test_a_watch_without_a_start_begins_with_what_exists(
    store: MemoryStorage, cache: ResourceCache, version: str
) -> None:
    put(store, "b")
    put(store, "a")
    cache.load()
    reader = watch(cache, resource_version=version)
    assert reader.count(2) == ["ADDED a@3", "ADDED b@2"]
    put(store, "b", v=2)
    remove(store, "a")
    assert reader.count(4)[2:] == ["MODIFIED b@4", "DELETED a@5"]


def test_a_watch_from_a_version_tells_only_what_came_after(store: MemoryStorage, cache: ResourceCache) -> None:
    cache.load()
    start = put(store, "a")
    put(store, "b")
    put(store, "a", v=2)
    remove(store, "b")
    reader = watch(cache, resource_version=str(start))
    assert reader.count(3) == ["ADDED b@3", "MODIFIED a@4", "DELETED b@5"]
    put(store, "c")
    assert reader.count(4)[3:] == ["ADDED c@6"]


def test_a_deleted_event_shows_the_last_state_with_the_revision_of_the_deletion(
    store: MemoryStorage, cache: ResourceCache
) -> None:
    reader = watch(cache)
    put(store, "a", v=1)
    put(store, "a", v=2)
    revision = remove(store, "a")
    reader.count(3)
    assert reader.events[2]["object"]["v"] == 2
    assert reader.events[2]["object"]["metadata"]["resourceVersion"] == str(revision)


def test_versions_older_than_the_cache_are_read_from_the_stores_history(
    store: MemoryStorage, cache: ResourceCache
) -> None:
    start = put(store, "a", v=1)
    put(store, "a", v=2, labels={"l": "x"})
    put(store, "b")
    remove(store, "b")
    put(store, "other", v=1)
    cache.load()
    reader = watch(cache, resource_version=str(start))
    assert reader.count(4) == ["MODIFIED a@3", "ADDED b@4", "DELETED b@5", "ADDED other@6"]
    put(store, "c")
    assert reader.count(5)[4:] == ["ADDED c@7"]
    assert watch(cache, resource_version="3").count(4) == ["ADDED b@4", "DELETED b@5", "ADDED other@6", "ADDED c@7"]
    selected = watch(cache, resource_version=str(start), label_selector=where(l="x"))
    assert selected.count(1) == ["ADDED a@3"]


def test_a_version_that_the_store_has_forgotten_ends_with_an_error_event(
    store: MemoryStorage, cache: ResourceCache
) -> None:
    start = put(store, "a")
    put(store, "b")
    newest = put(store, "c")
    cache.load()
    cache.wait_until_fresh(newest)
    store.compact(newest - 1)
    reader = watch(cache, resource_version=str(start))
    assert reader.end() == [f"ERROR 410 too old resource version: {start} ({newest})"]
    assert reader.events[0]["object"]["reason"] == "Expired"


def test_a_version_in_the_future_is_waited_for_and_refused(store: MemoryStorage, cache: ResourceCache) -> None:
    with pytest.raises(errors.Timeout, match="Too large resource version: 99, current: 1"):
        watch(cache, resource_version="99")
    with pytest.raises(errors.UnknownError, match="invalid syntax"):
        watch(cache, resource_version="abc")


def test_a_watch_sees_its_namespace_or_its_object_only(store: MemoryStorage, cache: ResourceCache) -> None:
    put(store, "a", "one")
    put(store, "a", "two")
    put(store, "b", "one")
    everything = watch(cache)
    one = watch(cache, f"{PREFIX}one/")
    key = watch(cache, f"{PREFIX}one/a")
    field = watch(cache, f"{PREFIX}one/", field_selector=where(**{"metadata.name": "a"}))
    fields = watch(cache, field_selector=where(**{"metadata.name": "a", "metadata.namespace": "one"}))
    anywhere = watch(cache, field_selector=where(**{"metadata.name": "a"}))
    put(store, "a", "one", v=2)
    put(store, "a", "two", v=2)
    put(store, "a", "onewards")
    remove(store, "b", "one")
    single = ["ADDED a@2", "MODIFIED a@5"]
    assert one.count(4) == ["ADDED a@2", "ADDED b@4", "MODIFIED a@5", "DELETED b@8"]
    assert everything.count(7)[3:] == ["MODIFIED a@5", "MODIFIED a@6", "ADDED a@7", "DELETED b@8"]
    assert anywhere.count(5) == ["ADDED a@2", "ADDED a@3", "MODIFIED a@5", "MODIFIED a@6", "ADDED a@7"]
    for reader in (key, field, fields):
        reader.poll()
        assert reader.seen() == single


@pytest.mark.parametrize("live", [True, False])
def test_coming_and_going_of_a_label_is_told_as_added_and_deleted(
    store: MemoryStorage, cache: ResourceCache, live: bool
) -> None:
    cache.load()
    options = {"label_selector": where(stage="on"), "resource_version": str(store.revision)}
    reader = watch(cache, **options)
    put(store, "c", v=1)
    put(store, "c", v=1, labels={"stage": "on"})
    put(store, "c", v=5, labels={"stage": "on"})
    leave = put(store, "c", v=6, labels={"stage": "off"})
    put(store, "c", v=7, labels={"stage": "off"})
    put(store, "c", v=7, labels={"stage": "on"})
    remove(store, "c")
    if not live:
        reader = watch(cache, **options)
    assert reader.count(5) == ["ADDED c@3", "MODIFIED c@4", "DELETED c@5", "ADDED c@7", "DELETED c@8"]
    assert reader.events[2]["object"]["v"] == 5
    assert reader.events[2]["object"]["metadata"] == {
        "name": "c", "namespace": "ns", "labels": {"stage": "on"}, "resourceVersion": str(leave)
    }  # fmt: skip


def test_selectors_without_an_index_work_the_same(store: MemoryStorage, cache: ResourceCache) -> None:
    put(store, "a", labels={"stage": "off"}, color="red")
    readers = [
        watch(cache, label_selector=Unequal("stage", "on")),
        watch(cache, field_selector=Unequal("spec.color", "blue")),
        watch(cache, field_selector=where(**{"spec.color": "red"})),
        watch(cache, f"{PREFIX}ns/", field_selector=where(**{"spec.color": "red"}), label_selector=where(stage="off")),
    ]
    put(store, "a", labels={"stage": "on"}, color="blue")
    put(store, "a", labels={"stage": "off"}, color="red")
    for reader in readers:
        assert reader.count(3) == ["ADDED a@2", "DELETED a@3", "ADDED a@4"]


def test_initial_events_end_with_a_marked_bookmark(store: MemoryStorage, cache: ResourceCache) -> None:
    put(store, "a", labels={"l": "1"})
    put(store, "b")
    cache.load()
    options = {"send_initial_events": True, "resource_version_match": "NotOlderThan", "allow_watch_bookmarks": True}
    assert watch(cache, **options).count(3) == ["ADDED a@2", "ADDED b@3", "BOOKMARK 3 end"]
    assert watch(cache, label_selector=where(l="1"), **options).count(2) == ["ADDED a@2", "BOOKMARK 3 end"]
    assert watch(cache, label_selector=where(l="z"), **options).count(1) == ["BOOKMARK 3 end"]
    assert watch(cache, resource_version="2", **options).count(3)[2] == "BOOKMARK 3 end"
    reader = watch(cache, **options)
    put(store, "c")
    assert reader.count(4) == ["ADDED a@2", "ADDED b@3", "BOOKMARK 3 end", "ADDED c@4"]
    without = watch(cache, send_initial_events=True, resource_version_match="NotOlderThan")
    put(store, "d")
    assert without.count(4)[3:] == ["ADDED d@5"]


def test_without_initial_events_a_watch_begins_now(store: MemoryStorage, cache: ResourceCache) -> None:
    put(store, "a")
    reader = watch(cache, send_initial_events=False, resource_version_match="NotOlderThan")
    put(store, "b")
    assert reader.count(1) == ["ADDED b@3"]


def test_a_big_initial_state_comes_in_parts(store: MemoryStorage, cache: ResourceCache) -> None:
    cache.load()
    store.put_many([(f"{PREFIX}ns/n{number:04}", value(f"n{number:04}")) for number in range(1000)])
    stream = cache.watch(PREFIX, ListOptions(), Source())
    stream.subscribe(lambda _stream: None)
    first = stream.take(time.monotonic())
    assert first is not None
    assert 0 < len(first) < 1000
    assert stream.next_timer() <= time.monotonic()
    put(store, "n0000", v=2)
    reader = Reader(stream)
    assert len(reader.count(1001 - len(first))) + len(first) == 1001
    assert reader.seen()[-1].startswith("MODIFIED n0000@")


def test_bookmarks_come_in_time_and_before_the_end(store: MemoryStorage, cache: ResourceCache) -> None:
    reader = watch(cache, allow_watch_bookmarks=True, timeout=100.0)
    put(store, "a")
    reader.count(1)
    cache.wait_until_newest()
    assert reader.poll() == []
    assert 59.0 < reader.stream.next_timer() - time.monotonic() < 75.1
    reader.poll(ahead=76.0)
    assert reader.seen()[1:] == ["BOOKMARK 2"]
    assert 97.0 < reader.stream.next_timer() - time.monotonic() < 98.1
    put(store, "b")
    cache.wait_until_newest()
    reader.poll(ahead=98.1)
    assert reader.seen()[2:] == ["ADDED b@3", "BOOKMARK 3"]
    reader.poll(ahead=100.1)
    assert reader.ended
    assert len(reader.seen()) == 4


def test_bookmarks_are_for_those_who_ask(store: MemoryStorage, cache: ResourceCache) -> None:
    asked_not = watch(cache, timeout=100.0)
    short = watch(cache, allow_watch_bookmarks=True, timeout=1.0)
    for reader in (asked_not, short):
        reader.poll(ahead=0.9)
        assert reader.seen() == []
    asked_not.poll(ahead=99.0)
    assert asked_not.seen() == []


def test_a_bookmark_is_never_older_than_what_was_sent(store: MemoryStorage, feed: Feed, cache: ResourceCache) -> None:
    store.hold(True)
    revision = put(store, "a")
    cache.load()
    assert feed.revision < revision
    reader = watch(cache, resource_version="0", allow_watch_bookmarks=True)
    reader.count(1)
    reader.poll(ahead=80.0)
    assert reader.seen() == ["ADDED a@2", "BOOKMARK 2"]


def test_a_watch_ends_at_its_deadline(cache: ResourceCache) -> None:
    reader = watch(cache, timeout=0.05)
    assert 0 < reader.stream.next_timer() - time.monotonic() <= 0.05
    assert reader.end() == []
    assert cache.watchers == 0


def test_any_server_can_iterate_a_watch(store: MemoryStorage, cache: ResourceCache) -> None:
    put(store, "a")
    stream = cache.watch(PREFIX, ListOptions(timeout=0.2), Source())
    assert b"".join(stream).count(b"\n") == 1
    assert cache.watchers == 0


def test_closing_twice_is_fine(cache: ResourceCache) -> None:
    closed: list[str] = []
    reader = watch(cache)
    reader.stream.on_close(lambda: closed.append("x"))
    assert cache.watchers == 1
    reader.stream.close()
    reader.stream.close()
    assert cache.watchers == 0
    assert closed == ["x"]
    assert reader.end() == []


def test_ending_all_sends_what_waits(store: MemoryStorage, cache: ResourceCache) -> None:
    readers = [watch(cache), watch(cache, f"{PREFIX}ns/"), watch(cache, label_selector=where(l="x"))]
    put(store, "a", labels={"l": "x"})
    cache.wait_until_newest()
    cache.end_all("a test")
    for reader in readers:
        assert reader.end() == ["ADDED a@2"]
    assert cache.watchers == 0


def test_a_removed_resource_ends_its_watches_and_a_later_one_begins_anew(store: MemoryStorage, feed: Feed) -> None:
    cache = feed.cache(PREFIX, PlainCodec())
    other = feed.cache("/registry/others/", PlainCodec())
    reader, unconcerned = watch(cache), watch(other, "/registry/others/")
    feed.remove(PREFIX)
    assert reader.end() == []
    with pytest.raises(errors.TooManyRequests):
        watch(cache)
    again = feed.cache(PREFIX, PlainCodec())
    assert again is not cache
    put(store, "a")
    assert watch(again).count(1) == ["ADDED a@2"]
    unconcerned.poll()
    assert not unconcerned.ended


def test_termination_ends_every_watch(feed: Feed, cache: ResourceCache) -> None:
    reader = watch(cache)
    feed.terminate()
    assert reader.end() == []


def test_a_slow_consumer_is_cut_off_and_others_are_not(store: MemoryStorage) -> None:
    feed = Feed(store, settings=CacheSettings(queued_events=10))
    feed.start()
    try:
        cache = feed.cache(PREFIX, PlainCodec())
        slow, quick = watch(cache), watch(cache)
        for number in range(30):
            put(store, "a", v=number)
            quick.count(number + 1)
        assert cache.terminated == 1
        assert cache.watchers == 1
        assert slow.end() == []
        assert len(quick.seen()) == 30
    finally:
        feed.stop()


def test_frames_are_built_once_for_all(store: MemoryStorage, cache: ResourceCache) -> None:
    source = Source()
    readers = [watch(cache, source=source) for _ in range(20)]
    readers += [watch(cache, f"{PREFIX}ns/", source=source) for _ in range(20)]
    put(store, "a")
    put(store, "b", "other")
    for reader in readers[:20]:
        reader.count(2)
    for reader in readers[20:]:
        assert reader.count(1) == ["ADDED a@2"]
    assert source.built == 2


def test_a_consumer_is_woken_once_per_batch(store: MemoryStorage, cache: ResourceCache) -> None:
    reader = watch(cache)
    reader.poll()
    reader.wakes = 0
    store.put_many([(f"{PREFIX}ns/n{number}", value(f"n{number}")) for number in range(50)])
    cache.wait_until_newest()
    store.put_many([(f"{PREFIX}ns/m{number}", value(f"m{number}")) for number in range(50)])
    cache.wait_until_newest()
    assert reader.wakes == 1
    assert len(reader.count(100)) == 100


def test_an_object_that_cannot_be_encoded_ends_the_watch_with_an_error(
    store: MemoryStorage, cache: ResourceCache
) -> None:
    class Broken(Source):
        def frame(self, kind: str, obj: EncodedObject) -> bytes:
            raise RuntimeError("no such version")

    reader = watch(cache, source=Broken())
    put(store, "a")
    assert reader.end() == ["ERROR 500 Internal error occurred: no such version"]


def test_a_value_that_cannot_be_decoded_is_left_out(store: MemoryStorage, cache: ResourceCache) -> None:
    put(store, "a")
    reader = watch(cache)
    store.put(f"{PREFIX}ns/broken", b"no json")
    store.put(f"{PREFIX}ns/a", b"no json either")
    put(store, "b")
    assert reader.count(3) == ["ADDED a@2", "DELETED a@4", "ADDED b@5"]
