"""The part of the contract of storage drivers that is about watches; see :mod:`apiserver.testing.storage_contract`."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from apiserver.api.storage import EventType, Storage, StorageEvent
from apiserver.testing.watch_reader import WatchReader

ROUNDS = 20


class WatchContract:
    """Uses the fixtures of StorageContract."""

    def test_a_watch_tells_values_and_previous_values(
        self, storage: Storage, prefix: str, watching: Callable[[int], WatchReader]
    ) -> None:
        reader = watching(storage.current_revision())
        key = prefix + "a"
        first = storage.create(key, b"one")
        second = storage.update(key, b"two", first)
        third = storage.delete(key, second)
        fourth = storage.create(key, b"")
        assert reader.wait_for_events(4) == [
            StorageEvent(EventType.PUT, key, b"one", None, first, 0),
            StorageEvent(EventType.PUT, key, b"two", b"one", second, first),
            StorageEvent(EventType.DELETE, key, None, b"two", third, second),
            StorageEvent(EventType.PUT, key, b"", None, fourth, 0),
        ]

    def test_a_watch_from_the_past_tells_the_same(
        self, storage: Storage, prefix: str, watching: Callable[[int], WatchReader]
    ) -> None:
        start = storage.current_revision()
        live = watching(start)
        revision = storage.create(prefix + "a", b"0")
        for number in range(5):
            revision = storage.update(prefix + "a", str(number).encode(), revision)
        storage.delete(prefix + "a", revision)
        expected = live.wait_for_events(7)
        assert watching(start).wait_for_events(7) == expected
        assert watching(expected[3].revision).wait_for_events(3) == expected[4:]

    def test_a_watch_keeps_to_its_prefix(
        self, storage: Storage, prefix: str, watching: Callable[[int], WatchReader]
    ) -> None:
        start = storage.current_revision()
        reader = watching(start)
        storage.create(prefix.rstrip("/") + "0", b"")
        storage.create(prefix + "a", b"")
        storage.create(prefix.rstrip("/") + "1", b"")
        last = storage.create(prefix + "b", b"")
        again = watching(start)
        for each in (reader, again):
            assert [event.key for event in each.wait_for_events(2)] == [prefix + "a", prefix + "b"]
            assert each.events[-1].revision == last

    def test_a_watch_has_no_gap_and_no_double_while_many_write(
        self, storage: Storage, other: Storage, prefix: str, watching: Callable[[int], WatchReader]
    ) -> None:
        start = storage.current_revision()
        readers = [watching(start)]

        def write(number: int) -> list[int]:
            instance = (storage, other)[number % 2]
            return [instance.create(f"{prefix}{number}-{count}", b"x") for count in range(40)]

        with ThreadPoolExecutor(4) as pool:
            results = pool.map(write, range(4))
            readers.append(watching(start))
            revisions = sorted(revision for result in results for revision in result)
        readers.append(watching(start))
        for reader in readers:
            assert [event.revision for event in reader.wait_for_events(len(revisions))] == revisions
            numbers = [batch.revision for batch in reader.batches]
            assert numbers == sorted(numbers)
            for batch in reader.batches:
                assert all(event.revision <= batch.revision for event in batch.events)

    def test_a_watch_sees_what_another_instance_writes(
        self, storage: Storage, other: Storage, prefix: str, watching: Callable[[int], WatchReader]
    ) -> None:
        reader = watching(storage.current_revision())
        revision = other.create(prefix + "a", b"0")
        revisions = [revision]
        for number in range(1, 30):
            revision = (storage, other)[number % 3 == 0].update(prefix + "a", b"%d" % number, revision)
            revisions.append(revision)
        assert [event.revision for event in reader.wait_for_events(30)] == revisions
        assert [event.prev_revision for event in reader.events] == [0, *revisions[:-1]]

    def test_a_watch_from_a_revision_to_come_waits_for_it(
        self, storage: Storage, prefix: str, watching: Callable[[int], WatchReader]
    ) -> None:
        first = storage.create(prefix + "a", b"1")
        reader = watching(first + 1)
        second = storage.update(prefix + "a", b"2", first)
        third = storage.update(prefix + "a", b"3", second)
        assert [event.revision for event in reader.wait_for_events(1)] == [third]

    def test_a_slow_reader_gets_everything(self, storage: Storage, prefix: str) -> None:
        watch = storage.watch(prefix, storage.current_revision())
        revisions = [storage.create(f"{prefix}{number}", b"x" * 100) for number in range(100)]
        batches = iter(watch)
        seen = list(next(batches).events)
        with ThreadPoolExecutor(4) as pool:
            more = pool.map(lambda number: storage.create(f"{prefix}more-{number}", b"x" * 100), range(2500))
            revisions += sorted(more)
        while len(seen) < len(revisions):
            seen += next(batches).events
        watch.close()
        assert [event.revision for event in seen] == revisions

    def test_progress_is_reported_while_nothing_happens(
        self, storage: Storage, watching: Callable[[int], WatchReader]
    ) -> None:
        reader = watching(storage.current_revision())
        reader.wait_until(lambda: len(reader.batches) >= 2)
        assert reader.events == []

    def test_progress_can_be_asked_for(
        self, storage: Storage, other: Storage, watching: Callable[[int], WatchReader]
    ) -> None:
        reader = watching(storage.current_revision())
        for instance in (storage, other):
            outside = instance.create(f"/elsewhere/{uuid.uuid4()}", b"")
            storage.request_progress()
            reader.wait_for_revision(outside)
        assert reader.events == []

    def test_progress_asked_for_before_the_iteration_is_reported_when_it_begins(
        self, storage: Storage, prefix: str
    ) -> None:
        begin = storage.create(prefix + "a", b"")
        began = time.monotonic()
        for _round in range(ROUNDS):
            outside = storage.create(f"/elsewhere/{uuid.uuid4()}", b"")
            watch = storage.watch(prefix, begin)
            storage.request_progress()
            for batch in watch:
                assert not batch.events
                if batch.revision >= outside:
                    break
            watch.close()
        # Reports that nobody asked for come seconds apart.
        assert time.monotonic() - began < ROUNDS

    def test_progress_never_overtakes_events(
        self, storage: Storage, other: Storage, prefix: str, watching: Callable[[int], WatchReader]
    ) -> None:
        reader = watching(storage.current_revision())
        done = threading.Event()

        def ask() -> None:
            while not done.wait(0.002):
                storage.request_progress()

        asking = threading.Thread(target=ask)
        asking.start()
        try:
            for number in range(200):
                (storage, other)[number % 2].create(f"{prefix}{number}", b"")
        finally:
            done.set()
            asking.join()
        reader.wait_for_events(200)
        position = 0
        for batch in reader.batches:
            assert all(event.revision > position for event in batch.events)
            assert batch.revision >= position
            position = batch.revision

    def test_close_ends_the_iteration(self, storage: Storage, watching: Callable[[int], WatchReader]) -> None:
        reader = watching(storage.current_revision())
        reader.wait_until(lambda: reader.batches)
        reader.watch.close()
        reader.wait_for_end()
        assert reader.error is None
        reader.watch.close()

    def test_a_watch_closed_before_it_is_read_is_empty(self, storage: Storage, prefix: str) -> None:
        watch = storage.watch(prefix, storage.current_revision())
        watch.close()
        assert list(watch) == []
