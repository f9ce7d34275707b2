"""The cache on the real stores."""

from __future__ import annotations

import contextlib
import threading
import uuid
from collections.abc import Callable, Iterator

import pytest

from apiserver.api.storage import Storage
from apiserver.storage.cache import Feed, ResourceCache
from tests.storage.cache.kit import PlainCodec, Reader, listed, names, value, watch


@pytest.fixture
def root() -> str:
    """A prefix of its own: the etcd is shared."""
    return f"/{uuid.uuid4().hex}/"


@pytest.fixture
def start(open_store: Callable[[], Storage], root: str) -> Iterator[Callable[[], tuple[Storage, ResourceCache]]]:
    """Starts a server's storage and cache, on the same store each time."""
    with contextlib.ExitStack() as stack:

        def begin() -> tuple[Storage, ResourceCache]:
            storage = open_store()
            feed = Feed(storage, root)
            feed.start()
            stack.callback(feed.stop)
            return storage, feed.cache(f"{root}things/", PlainCodec())

        yield begin


Start = Callable[[], tuple[Storage, ResourceCache]]


def test_own_writes_are_read(start: Start) -> None:
    storage, cache = start()
    key = f"{cache.prefix}ns/a"
    revision = storage.create(key, value("a"))
    for number in range(20):
        found = cache.get(key)
        assert found is not None
        assert found.revision == revision
        assert listed(cache, cache.prefix).items == [cache.peek(key)] or number == 0
        revision = storage.update(key, value("a", v=number), revision)
    storage.delete(key, revision)
    assert cache.get(key) is None


def test_another_servers_writes_are_read(start: Start) -> None:
    storage, _cache = start()
    _other, cache = start()
    key = f"{cache.prefix}ns/a"
    revision = storage.create(key, value("a"))
    for number in range(10):
        found = cache.get(key)
        assert found is not None
        assert found.revision == revision
        revision = storage.update(key, value("a", v=number), revision)
    assert names(listed(cache, cache.prefix, resource_version=str(revision))) == ["a"]


def test_pages_and_old_versions(start: Start) -> None:
    storage, cache = start()
    for name in "abcde":
        revision = storage.create(f"{cache.prefix}ns/{name}", value(name))
    page = listed(cache, cache.prefix, limit=2)
    assert (names(page), page.remaining) == (["a", "b"], 3)
    storage.delete(f"{cache.prefix}ns/d", revision - 1)
    assert names(listed(cache, cache.prefix, continue_token=page.continue_token)) == ["c", "d", "e"]
    _storage, late = start()
    exact = listed(late, late.prefix, resource_version=str(revision), resource_version_match="Exact", limit=4)
    assert (names(exact), exact.remaining) == (["a", "b", "c", "d"], 1)
    assert names(listed(late, late.prefix, continue_token=page.continue_token)) == ["c", "d", "e"]


def test_a_watch_goes_on_at_a_server_that_started_later(start: Start) -> None:
    storage, cache = start()
    first = storage.create(f"{cache.prefix}ns/a", value("a"))
    second = storage.update(f"{cache.prefix}ns/a", value("a", v=2), first)
    third = storage.create(f"{cache.prefix}ns/b", value("b"))
    gone = storage.delete(f"{cache.prefix}ns/b", third)
    _storage, late = start()
    reader = watch(late, late.prefix, resource_version=str(first))
    assert reader.count(3) == [f"MODIFIED a@{second}", f"ADDED b@{third}", f"DELETED b@{gone}"]
    again = storage.create(f"{cache.prefix}ns/b", value("b"))
    assert reader.count(4)[3:] == [f"ADDED b@{again}"]


def test_many_writers_and_many_watches(start: Start) -> None:
    storage, cache = start()
    readers = [watch(cache, cache.prefix) for _ in range(20)]
    readers += [watch(cache, f"{cache.prefix}ns{number}/") for number in range(4)]
    revisions: list[list[int]] = [[] for _ in range(4)]

    def write(number: int) -> None:
        key = f"{cache.prefix}ns{number}/a"
        for turn in range(25):
            last = revisions[number][-1] if turn else 0
            stored = value("a", f"ns{number}", v=turn)
            revision = storage.update(key, stored, last) if turn else storage.create(key, stored)
            revisions[number].append(revision)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    def seen(reader: Reader, count: int) -> list[int]:
        reader.count(count)
        return [int(event["object"]["metadata"]["resourceVersion"]) for event in reader.events]

    everything = sorted(revision for each in revisions for revision in each)
    for reader in readers[:20]:
        assert seen(reader, 100) == everything
    for number, reader in enumerate(readers[20:]):
        assert seen(reader, 25) == revisions[number]
