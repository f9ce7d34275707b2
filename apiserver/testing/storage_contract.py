"""What every storage driver must do, as a pytest class.

A driver's author subclasses it and says how to open the store::

    from apiserver.testing.storage_contract import StorageContract

    class TestMyDriver(StorageContract):
        @pytest.fixture
        def open_storage(self, tmp_path):
            return lambda: my_driver.open_storage(f"mine://{tmp_path}", {})

``open_storage`` gives a function that opens one more independent instance on the same store, as another process would.
The store needn't be empty: each test writes under a prefix of its own. To see the values in a failed assertion, call
``pytest.register_assert_rewrite`` in a conftest with the names of this module, ``apiserver.testing.watch_reader`` and
``apiserver.testing.storage_watch_contract`` before they are imported.

The built-in drivers pass it too; what it demands is what the registry and the watch cache rely on.
"""

from __future__ import annotations

import contextlib
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from apiserver.api.storage import (
    CompactedError,
    EventType,
    FutureRevisionError,
    KeyExistsError,
    KeyValue,
    RevisionMismatchError,
    Storage,
    UnavailableError,
    ValueTooLargeError,
)
from apiserver.testing.storage_watch_contract import WatchContract
from apiserver.testing.watch_reader import PATIENCE, WatchReader

__all__ = ["PATIENCE", "OpenStorage", "StorageContract", "WatchReader"]

OpenStorage = Callable[[], Storage]


class StorageContract(WatchContract):
    """The suite. Subclass it and define the fixture ``open_storage``."""

    @pytest.fixture
    def open_storage(self) -> OpenStorage:
        """A function that opens an instance on the store under test."""
        raise NotImplementedError("define the fixture open_storage in the subclass")

    @pytest.fixture
    def storage(self, open_storage: OpenStorage) -> Iterator[Storage]:
        """An instance."""
        with contextlib.closing(open_storage()) as storage:
            yield storage

    @pytest.fixture
    def other(self, open_storage: OpenStorage) -> Iterator[Storage]:
        """Another instance on the same store."""
        with contextlib.closing(open_storage()) as storage:
            yield storage

    @pytest.fixture
    def prefix(self) -> str:
        """Where this test writes."""
        return f"/contract/{uuid.uuid4()}/"

    @pytest.fixture
    def watching(self, storage: Storage, prefix: str) -> Iterator[Callable[[int], WatchReader]]:
        """Watch ``prefix`` from a revision on."""
        readers: list[WatchReader] = []

        def start(from_revision: int) -> WatchReader:
            readers.append(WatchReader(storage.watch(prefix, from_revision)))
            return readers[-1]

        yield start
        for reader in readers:
            reader.stop()

    # Writes and reads of one key

    def test_a_created_key_can_be_read(self, storage: Storage, prefix: str) -> None:
        revision = storage.create(prefix + "a", b"one")
        assert storage.get(prefix + "a") == KeyValue(prefix + "a", b"one", revision, revision)

    def test_a_key_that_was_never_written_is_none(self, storage: Storage, prefix: str) -> None:
        assert storage.get(prefix + "a") is None

    def test_a_key_is_created_once(self, storage: Storage, prefix: str) -> None:
        revision = storage.create(prefix + "a", b"one")
        with pytest.raises(KeyExistsError):
            storage.create(prefix + "a", b"two")
        assert storage.get(prefix + "a") == KeyValue(prefix + "a", b"one", revision, revision)

    def test_an_update_keeps_the_create_revision(self, storage: Storage, prefix: str) -> None:
        created = storage.create(prefix + "a", b"one")
        updated = storage.update(prefix + "a", b"two", created)
        assert updated > created
        assert storage.get(prefix + "a") == KeyValue(prefix + "a", b"two", updated, created)

    def test_an_update_with_a_stale_revision_tells_what_is_stored(self, storage: Storage, prefix: str) -> None:
        created = storage.create(prefix + "a", b"one")
        updated = storage.update(prefix + "a", b"two", created)
        with pytest.raises(RevisionMismatchError) as caught:
            storage.update(prefix + "a", b"three", created)
        assert caught.value.current == KeyValue(prefix + "a", b"two", updated, created)

    @pytest.mark.parametrize("expected", [0, 1, 1 << 40])
    def test_writes_of_a_missing_key_tell_that_it_is_missing(
        self, storage: Storage, prefix: str, expected: int
    ) -> None:
        with pytest.raises(RevisionMismatchError) as updating:
            storage.update(prefix + "a", b"one", expected)
        with pytest.raises(RevisionMismatchError) as deleting:
            storage.delete(prefix + "a", expected)
        assert updating.value.current is deleting.value.current is None

    def test_a_deletion_with_a_stale_revision_tells_what_is_stored(self, storage: Storage, prefix: str) -> None:
        created = storage.create(prefix + "a", b"one")
        updated = storage.update(prefix + "a", b"two", created)
        with pytest.raises(RevisionMismatchError) as caught:
            storage.delete(prefix + "a", created)
        assert caught.value.current == KeyValue(prefix + "a", b"two", updated, created)

    def test_a_deleted_key_is_gone(self, storage: Storage, prefix: str) -> None:
        created = storage.create(prefix + "a", b"one")
        assert storage.delete(prefix + "a", created) > created
        assert storage.get(prefix + "a") is None
        with pytest.raises(RevisionMismatchError):
            storage.delete(prefix + "a", created)

    def test_a_key_created_again_has_a_new_create_revision(self, storage: Storage, prefix: str) -> None:
        first = storage.create(prefix + "a", b"one")
        storage.delete(prefix + "a", first)
        second = storage.create(prefix + "a", b"two")
        assert storage.get(prefix + "a") == KeyValue(prefix + "a", b"two", second, second)

    @pytest.mark.parametrize("value", [b"", b"\0\xff\n", bytes(range(256)) * 1000], ids=["empty", "binary", "large"])
    def test_values_are_opaque(self, storage: Storage, prefix: str, value: bytes) -> None:
        storage.create(prefix + "a", value)
        stored = storage.get(prefix + "a")
        assert stored is not None
        assert stored.value == value
        assert [item.value for item in storage.list(prefix).items] == [value]

    def test_a_value_over_the_limit_is_refused_with_etcds_text(self, storage: Storage, prefix: str) -> None:
        revision = storage.create(prefix + "a", b"x" * 1_500_000)
        for size in (1_572_865, 4_000_000):
            with pytest.raises(ValueTooLargeError, match=r"^etcdserver: request is too large$"):
                storage.create(prefix + "b", b"x" * size)
            with pytest.raises(ValueTooLargeError, match=r"^etcdserver: request is too large$"):
                storage.update(prefix + "a", b"x" * size, revision)
        assert [item.key for item in storage.list(prefix).items] == [prefix + "a"]

    # Revisions

    def test_one_sequence_of_revisions_for_all_keys(self, storage: Storage, prefix: str) -> None:
        revisions = [storage.create(prefix + name, b"") for name in "abc"]
        revisions.append(storage.update(prefix + "a", b"x", revisions[0]))
        revisions.append(storage.delete(prefix + "b", revisions[1]))
        assert revisions == sorted(set(revisions))
        assert storage.current_revision() >= revisions[-1]

    def test_a_refused_write_takes_no_revision(self, storage: Storage, prefix: str) -> None:
        revision = storage.create(prefix + "a", b"one")
        with pytest.raises(KeyExistsError):
            storage.create(prefix + "a", b"two")
        with pytest.raises(RevisionMismatchError):
            storage.delete(prefix + "a", revision + 1000)
        assert storage.current_revision() == revision

    def test_old_values_can_be_read_by_revision(self, storage: Storage, prefix: str) -> None:
        before = storage.current_revision()
        first = storage.create(prefix + "a", b"one")
        second = storage.update(prefix + "a", b"two", first)
        third = storage.delete(prefix + "a", second)
        assert storage.get(prefix + "a", revision=before) is None
        assert storage.get(prefix + "a", revision=first) == KeyValue(prefix + "a", b"one", first, first)
        assert storage.get(prefix + "a", revision=second) == KeyValue(prefix + "a", b"two", second, first)
        assert storage.get(prefix + "a", revision=third) is None

    def test_a_revision_to_come_is_refused(self, storage: Storage, prefix: str) -> None:
        future = storage.current_revision() + 1000
        for read in (storage.get, storage.list):
            with pytest.raises(FutureRevisionError) as caught:
                read(prefix, revision=future)
            assert 0 < caught.value.current < future

    def test_another_instance_sees_each_acknowledged_write(self, storage: Storage, other: Storage, prefix: str) -> None:
        revision = storage.create(prefix + "a", b"0")
        for number in range(1, 50):
            writer, reader = (storage, other) if number % 2 else (other, storage)
            revision = writer.update(prefix + "a", str(number).encode(), revision)
            assert reader.current_revision() >= revision
            seen = reader.get(prefix + "a")
            assert seen is not None
            assert (seen.value, seen.mod_revision) == (str(number).encode(), revision)

    # Lists

    def test_a_list_is_in_bytewise_order(self, storage: Storage, prefix: str) -> None:
        names = ["a", "a-b", "a/b", "a.b", "a0", "Z", "z", "é", "\ue000", "\U0001f600", "_"]
        for name in names:
            storage.create(prefix + name, name.encode())
        page = storage.list(prefix)
        assert [item.key for item in page.items] == sorted((prefix + name for name in names), key=str.encode)
        assert (page.more, page.remaining) == (False, 0)

    def test_a_list_keeps_to_its_prefix(self, storage: Storage, prefix: str) -> None:
        for name in ("pods", "pods/", "pods/a", "pods/\U0010ffff", "pods0", "podsets/a"):
            storage.create(prefix + name, b"")
        keys = [item.key.removeprefix(prefix) for item in storage.list(prefix + "pods/").items]
        assert keys == ["pods/", "pods/a", "pods/\U0010ffff"]

    def test_a_list_of_everything_includes_all(self, storage: Storage, prefix: str) -> None:
        storage.create(prefix + "a", b"")
        assert prefix + "a" in [item.key for item in storage.list("").items]

    def test_an_empty_list_has_the_current_revision(self, storage: Storage, prefix: str) -> None:
        page = storage.list(prefix)
        assert (list(page.items), page.more, page.remaining) == ([], False, 0)
        assert page.revision == storage.current_revision()

    def test_a_list_in_parts_tells_what_remains(self, storage: Storage, prefix: str) -> None:
        keys = [f"{prefix}{number:02}" for number in range(10)]
        for key in keys:
            storage.create(key, b"")
        first = storage.list(prefix, limit=4)
        assert [item.key for item in first.items] == keys[:4]
        assert (first.more, first.remaining) == (True, 6)
        middle = storage.list(prefix, start=keys[4], limit=4, revision=first.revision)
        assert [item.key for item in middle.items] == keys[4:8]
        assert (middle.more, middle.remaining, middle.revision) == (True, 2, first.revision)
        last = storage.list(prefix, start=keys[7] + "\0", limit=4)
        assert [item.key for item in last.items] == keys[8:]
        assert (last.more, last.remaining) == (False, 0)
        exact = storage.list(prefix, limit=10)
        assert (len(exact.items), exact.more, exact.remaining) == (10, False, 0)
        assert list(storage.list(prefix, start=prefix + "99", limit=4).items) == []
        assert list(storage.list(prefix, start=prefix + "\U0010ffff").items) == []

    def test_a_start_outside_the_prefix_adds_nothing(self, storage: Storage, prefix: str) -> None:
        for name in ("a/1", "b/1", "c/1"):
            storage.create(prefix + name, b"")
        assert [item.key for item in storage.list(prefix + "b/", start=prefix + "a").items] == [prefix + "b/1"]
        assert list(storage.list(prefix + "b/", start=prefix + "c").items) == []

    def test_a_list_at_a_revision_is_what_it_was_then(self, storage: Storage, prefix: str) -> None:
        first = storage.create(prefix + "a", b"one")
        second = storage.create(prefix + "b", b"two")
        then = storage.list(prefix)
        storage.update(prefix + "a", b"changed", first)
        storage.delete(prefix + "b", second)
        storage.create(prefix + "c", b"new")
        assert storage.list(prefix, revision=second).items == then.items
        assert storage.list(prefix, revision=second).revision == second
        part = storage.list(prefix, limit=1, revision=second)
        assert ([item.value for item in part.items], part.more, part.remaining) == ([b"one"], True, 1)

    # Writers at the same time

    def test_of_writers_with_the_same_guard_one_wins(self, storage: Storage, other: Storage, prefix: str) -> None:
        revision = storage.create(prefix + "a", b"")

        def write(number: int) -> int | None:
            try:
                return (storage, other)[number % 2].update(prefix + "a", str(number).encode(), revision)
            except RevisionMismatchError as mismatch:
                found.append(mismatch.current)
                return None

        found: list[KeyValue | None] = []
        with ThreadPoolExecutor(8) as pool:
            results = list(pool.map(write, range(16)))
        assert all(current is not None and current.mod_revision > revision for current in found)
        won = [number for number, result in enumerate(results) if result is not None]
        assert len(won) == 1
        stored = storage.get(prefix + "a")
        assert stored is not None
        assert (stored.value, stored.mod_revision) == (str(won[0]).encode(), results[won[0]])

    def test_of_creators_of_the_same_key_one_wins(self, storage: Storage, other: Storage, prefix: str) -> None:
        def create(number: int) -> bool:
            try:
                (storage, other)[number % 2].create(prefix + "a", b"")
            except KeyExistsError:
                return False
            return True

        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(create, range(16))) == 1

    def test_no_update_is_lost_among_many_writers(self, storage: Storage, other: Storage, prefix: str) -> None:
        storage.create(prefix + "a", b"0")

        def increment(number: int) -> None:
            instance = (storage, other)[number % 2]
            current = instance.get(prefix + "a")
            while True:
                assert current is not None
                try:
                    instance.update(prefix + "a", str(int(current.value) + 1).encode(), current.mod_revision)
                    return
                except RevisionMismatchError as mismatch:
                    current = mismatch.current

        with ThreadPoolExecutor(6) as pool:
            list(pool.map(increment, range(60)))
        stored = storage.get(prefix + "a")
        assert stored is not None
        assert stored.value == b"60"

    # Compaction

    def test_compaction_forgets_what_was_superseded(self, storage: Storage, other: Storage, prefix: str) -> None:
        first = storage.create(prefix + "a", b"one")
        kept = storage.create(prefix + "b", b"kept")
        second = storage.update(prefix + "a", b"two", first)
        gone = storage.create(prefix + "c", b"gone")
        deleted = storage.delete(prefix + "c", gone)
        third = storage.update(prefix + "a", b"three", second)
        storage.compact(third)
        for instance in (storage, other):
            assert instance.compacted_revision() == third
            for revision in (first, second, gone, deleted):
                with pytest.raises(CompactedError) as caught:
                    instance.get(prefix + "a", revision=revision)
                assert caught.value.compacted == third
                with pytest.raises(CompactedError):
                    instance.list(prefix, revision=revision)
            expected = [
                KeyValue(prefix + "a", b"three", third, first),
                KeyValue(prefix + "b", b"kept", kept, kept),
            ]
            assert list(instance.list(prefix).items) == expected
            assert list(instance.list(prefix, revision=third).items) == expected
            assert instance.get(prefix + "c") is None

    def test_what_comes_after_a_compaction_is_kept(
        self, storage: Storage, prefix: str, watching: Callable[[int], WatchReader]
    ) -> None:
        first = storage.create(prefix + "a", b"one")
        second = storage.update(prefix + "a", b"two", first)
        third = storage.update(prefix + "a", b"three", second)
        fourth = storage.delete(prefix + "a", third)
        storage.compact(second)
        assert storage.get(prefix + "a", revision=second) == KeyValue(prefix + "a", b"two", second, first)
        assert storage.get(prefix + "a", revision=third) == KeyValue(prefix + "a", b"three", third, first)
        events = watching(second).wait_for_events(2)
        assert [(event.prev_value, event.revision) for event in events] == [(b"two", third), (b"three", fourth)]

    def test_a_watch_from_before_the_compaction_is_refused(self, storage: Storage, other: Storage, prefix: str) -> None:
        revisions = [storage.create(prefix + "a", b"")]
        for _ in range(3):
            revisions.append(storage.update(prefix + "a", b"", revisions[-1]))
        storage.compact(revisions[-1])
        for instance in (storage, other):
            for revision in revisions[:-1]:
                with pytest.raises(CompactedError):
                    next(iter(instance.watch(prefix, revision)))

    def test_the_sequence_goes_on_after_everything_is_deleted_and_compacted(
        self, storage: Storage, prefix: str
    ) -> None:
        deleted = storage.delete(prefix + "a", storage.create(prefix + "a", b""))
        storage.compact(deleted)
        storage.compact(deleted)
        assert storage.current_revision() == deleted
        assert storage.create(prefix + "a", b"") > deleted
        storage.compact(storage.current_revision())
        assert [item.key for item in storage.list(prefix).items] == [prefix + "a"]

    def test_a_revision_to_come_can_not_be_compacted(self, storage: Storage) -> None:
        with pytest.raises(FutureRevisionError):
            storage.compact(storage.current_revision() + 1000)

    # Time to live

    def test_a_key_with_a_time_to_live_is_deleted(
        self, storage: Storage, prefix: str, watching: Callable[[int], WatchReader]
    ) -> None:
        reader = watching(storage.current_revision())
        created = storage.create(prefix + "a", b"short", ttl=1)
        stays = storage.create(prefix + "b", b"long", ttl=3600)
        events = reader.wait_for_events(3)
        assert events[2].type is EventType.DELETE
        assert (events[2].key, events[2].prev_value, events[2].prev_revision) == (prefix + "a", b"short", created)
        assert [item.key for item in storage.list(prefix).items] == [prefix + "b"]
        assert events[2].revision > stays

    def test_an_update_decides_anew_how_long_a_key_lives(
        self, storage: Storage, prefix: str, watching: Callable[[int], WatchReader]
    ) -> None:
        reader = watching(storage.current_revision())
        for name in ("kept", "shortened", "gone"):
            storage.create(prefix + name, b"", ttl=None if name == "shortened" else 2)
        by_key = {item.key: item.mod_revision for item in storage.list(prefix).items}
        storage.update(prefix + "kept", b"", by_key[prefix + "kept"])
        storage.update(prefix + "shortened", b"", by_key[prefix + "shortened"], ttl=2)
        deleted = [event.key for event in reader.wait_for_events(7)[5:]]
        assert sorted(deleted) == [prefix + "gone", prefix + "shortened"]
        assert [item.key for item in storage.list(prefix).items] == [prefix + "kept"]

    # Life cycle

    def test_a_store_that_works_is_healthy(self, storage: Storage) -> None:
        storage.check()

    def test_closing_ends_watches_and_refuses_everything_after(self, open_storage: OpenStorage, prefix: str) -> None:
        storage = open_storage()
        revision = storage.create(prefix + "a", b"")
        reader = WatchReader(storage.watch(prefix, revision))
        reader.wait_until(lambda: reader.batches)
        storage.close()
        reader.wait_for_end()
        calls: list[Callable[[], object]] = [
            lambda: storage.get(prefix),
            lambda: storage.list(prefix),
            lambda: storage.create(prefix + "b", b""),
            lambda: storage.update(prefix + "a", b"", revision),
            lambda: storage.delete(prefix + "a", revision),
            lambda: next(iter(storage.watch(prefix, revision))),
            storage.current_revision,
            storage.check,
        ]
        for call in calls:
            with pytest.raises(UnavailableError):
                call()
        storage.close()

    def test_what_was_written_is_there_after_opening_again(self, open_storage: OpenStorage, prefix: str) -> None:
        with contextlib.closing(open_storage()) as storage:
            first = storage.create(prefix + "a", b"one")
            second = storage.update(prefix + "a", b"two", first)
        with contextlib.closing(open_storage()) as storage:
            assert storage.get(prefix + "a") == KeyValue(prefix + "a", b"two", second, first)
            assert storage.get(prefix + "a", revision=first) == KeyValue(prefix + "a", b"one", first, first)
            assert storage.current_revision() >= second

    def test_closing_does_not_wait_for_silent_watches(self, open_storage: OpenStorage, prefix: str) -> None:
        storage = open_storage()
        readers = [WatchReader(storage.watch(prefix, storage.current_revision())) for _ in range(3)]
        time.sleep(0.1)
        storage.close()
        for reader in readers:
            reader.wait_for_end()
            assert reader.error is None
