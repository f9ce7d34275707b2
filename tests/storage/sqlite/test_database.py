"""The file of the SQLite driver: whose it is, who may read it, and what happens when it can't be written."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FrameType

import pytest

from apiserver.api.storage import CompactedError, EventType, KeyExistsError, StorageError, UnavailableError
from apiserver.storage.sqlite import SqliteStorage, open_storage, writer
from apiserver.testing.storage_contract import PATIENCE, WatchReader

PROGRAM = Path(__file__).parents[1] / "writing_process.py"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "store.db"


@pytest.fixture
def storage(path: Path) -> Iterator[SqliteStorage]:
    with contextlib.closing(SqliteStorage(path)) as storage:
        yield storage


@pytest.fixture
def locked(storage: SqliteStorage, path: Path) -> Iterator[Callable[[], None]]:
    """Somebody else holds the write lock until the returned function is called."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as holder:
        holder.execute("BEGIN IMMEDIATE")

        def release() -> None:
            if holder.in_transaction:
                holder.execute("ROLLBACK")

        yield release
        release()


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_the_url_or_the_option_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for url, options, name in (
        (f"sqlite://{tmp_path}/absolute.db", {}, "absolute.db"),
        ("sqlite:relative.db", {}, "relative.db"),
        ("sqlite:", {"path": "option.db"}, "option.db"),
    ):
        open_storage(url, options).close()
        assert (tmp_path / name).exists()
    with pytest.raises(StorageError, match="names no file"):
        open_storage("sqlite:", {})


def test_only_the_owner_may_read_the_files(storage: SqliteStorage, path: Path) -> None:
    storage.create("/a", b"secret")
    for file in (path, *path.parent.glob("store.db-*")):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_file_of_a_newer_version_is_refused(storage: SqliteStorage, path: Path) -> None:
    storage.close()
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(StorageError, match=r"schema version 99 is newer than 1, the newest that this program knows"):
        SqliteStorage(path)


def test_another_programs_file_is_refused(tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / "other.db")) as connection:
        connection.execute("CREATE TABLE cats(name)")
    with pytest.raises(StorageError, match="of another program"):
        SqliteStorage(tmp_path / "other.db")
    (tmp_path / "text.db").write_text("no database at all" * 100)
    with pytest.raises(UnavailableError, match="file is not a database"):
        SqliteStorage(tmp_path / "text.db")


def test_a_directory_that_can_not_be_made_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UnavailableError, match="File exists"):
        SqliteStorage(tmp_path / "file" / "store.db")


def test_a_full_disk_fails_the_write_and_later_ones_work(storage: SqliteStorage) -> None:
    revision = storage.create("/a", b"one")
    connection = storage._writer._connection
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(UnavailableError, match="database or disk is full"):
        storage.create("/b", b"x" * 100_000)
    assert storage.get("/b") is None
    assert storage.current_revision() == revision
    connection.execute("PRAGMA max_page_count = 1000000")
    assert storage.create("/b", b"x" * 100_000) == revision + 1


def test_a_write_lock_that_is_never_released_ends_in_an_error(
    storage: SqliteStorage, locked: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "BUSY_TIMEOUT", 0.1)
    with pytest.raises(UnavailableError, match="locked by another process"):
        storage.create("/a", b"")
    assert storage.get("/a") is None
    locked()
    storage.create("/a", b"")


def test_waiting_writes_are_committed_together_and_a_failed_guard_fails_alone(
    storage: SqliteStorage, locked: Callable[[], None]
) -> None:
    reader = WatchReader(storage.watch("/", storage.current_revision()))
    results: dict[int, object] = {}

    def create(number: int) -> None:
        try:
            results[number] = storage.create(f"/{number % 6}", b"%d" % number)
        except StorageError as error:
            results[number] = error

    threads = [threading.Thread(target=create, args=(number,)) for number in range(8)]
    for number, thread in enumerate(threads):
        thread.start()
        wait_for(lambda number=number: len(storage._writer._waiting) == number + 1)
    locked()
    for thread in threads:
        thread.join()
    assert [isinstance(results[number], KeyExistsError) for number in range(8)] == [False] * 6 + [True] * 2
    reader.wait_for_events(6)
    assert [len(batch.events) for batch in reader.batches if batch.events] == [6]
    assert [event.revision for event in reader.events] == [results[number] for number in range(6)]
    reader.stop()


class Interrupted(Exception):
    """What the signal handler raises."""


@pytest.fixture
def interrupting() -> Iterator[Callable[[], None]]:
    """Interrupts the main thread soon, as a worker's timeout does."""

    def raise_it(number: int, frame: FrameType | None) -> None:
        raise Interrupted

    before = signal.signal(signal.SIGALRM, raise_it)
    yield lambda: signal.setitimer(signal.ITIMER_REAL, 0.1) and None
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def test_an_interrupted_follower_leaves_the_line(
    storage: SqliteStorage, locked: Callable[[], None], interrupting: Callable[[], None]
) -> None:
    leader = threading.Thread(target=storage.create, args=("/leader", b""))
    leader.start()
    wait_for(lambda: storage._writer._waiting)
    interrupting()
    with pytest.raises(Interrupted):
        storage.create("/interrupted", b"")
    locked()
    leader.join(PATIENCE)
    storage.create("/after", b"")
    assert [item.key for item in storage.list("/").items] == ["/after", "/leader"]


def test_an_interrupted_leader_passes_the_lead_on(
    storage: SqliteStorage, locked: Callable[[], None], interrupting: Callable[[], None]
) -> None:
    follower = threading.Thread(target=storage.create, args=("/follower", b""))

    def start_follower() -> None:
        wait_for(lambda: storage._writer._waiting)
        follower.start()

    starting = threading.Thread(target=start_follower)
    starting.start()
    interrupting()
    with pytest.raises(Interrupted):
        storage.create("/interrupted", b"")
    locked()
    starting.join(PATIENCE)
    follower.join(PATIENCE)
    storage.create("/after", b"")
    assert [item.key for item in storage.list("/").items] == ["/after", "/follower"]


def test_a_file_that_was_replaced_is_unhealthy(storage: SqliteStorage, path: Path) -> None:
    storage.check()
    path.rename(path.with_name("moved.db"))
    with pytest.raises(UnavailableError, match="No such file"):
        storage.check()
    path.touch()
    with pytest.raises(UnavailableError, match="replaced"):
        storage.check()


def test_nothing_is_written_into_a_file_that_was_removed(storage: SqliteStorage, path: Path) -> None:
    storage.create("/a", b"1")
    path.unlink()
    with pytest.raises(UnavailableError):
        storage.create("/b", b"2")
    with pytest.raises(UnavailableError):
        storage.compact(storage.current_revision())


def test_the_write_ahead_log_starts_over_while_others_read_and_write(storage: SqliteStorage) -> None:
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            storage.list("/", limit=10)

    reader = threading.Thread(target=read)
    reader.start()
    revision = storage.create("/a", b"")
    written = 0
    try:
        while written < 80 << 20:
            revision = storage.update("/a", b"x" * 200_000, revision)
            written += 200_000
    finally:
        stop.set()
        reader.join()
    assert storage._database.wal_size() < written / 2


def test_compaction_removes_rows_and_survives_a_process_that_dies_in_it(storage: SqliteStorage, path: Path) -> None:
    revision = storage.create("/a", b"")
    for _ in range(20):
        revision = storage.update("/a", b"", revision)
    last = storage.delete("/b", storage.create("/b", b""))
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE meta SET number = ? WHERE name = 'compacted'", (revision - 5,))
        connection.commit()
        storage.compact(last)
        rows = connection.execute("SELECT revision FROM log ORDER BY revision").fetchall()
        # The deletion of /b is the newest row and carries the sequence on.
        assert rows == [(revision,), (last,)]
        storage.create("/c", b"")
        storage.compact(last + 1)
        assert connection.execute("SELECT key FROM log ORDER BY key").fetchall() == [("/a",), ("/c",)]


def test_an_expired_key_is_deleted_once_by_two_processes(path: Path) -> None:
    with contextlib.closing(SqliteStorage(path)) as one, contextlib.closing(SqliteStorage(path)) as two:
        reader = WatchReader(two.watch("/", 1))
        created = one.create("/a", b"", ttl=1)
        assert [event.revision for event in reader.wait_for_events(2)] == [created, created + 1]
        time.sleep(1.2)
        assert one.current_revision() == created + 1
        reader.stop()


def test_pipes_of_dead_processes_are_removed(storage: SqliteStorage, path: Path) -> None:
    process = subprocess.Popen([sys.executable, str(PROGRAM), f"sqlite://{path}", "/", "1", "create"], stdout=-1)
    assert process.stdout is not None
    process.stdout.readline()
    peers = path.with_name("store.db.peers")
    pipes = {name for name in os.listdir(peers) if name.startswith(f"{process.pid}-")}
    assert len(pipes) == 1
    process.kill()
    process.wait()
    process.stdout.close()
    os.mkfifo(peers / "12345-never-read")
    storage.create("/a", b"")
    left = [name for name in os.listdir(peers) if name != "turnstile"]
    assert left == [storage._peers._name]


def test_processes_that_start_together_make_one_schema(path: Path) -> None:
    processes = [
        subprocess.Popen([sys.executable, str(PROGRAM), f"sqlite://{path}", "/", "1", "create"], stdout=-1)
        for _ in range(3)
    ]
    try:
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline().startswith(b"/")
    finally:
        for process in processes:
            process.kill()
            process.communicate()
    with contextlib.closing(SqliteStorage(path)) as storage:
        assert {item.key.split("-")[0] for item in storage.list("/").items} == {f"/{each.pid}" for each in processes}


def test_closing_leaves_no_thread_and_no_open_file(path: Path) -> None:
    def descriptors() -> set[str]:
        found = set()
        for name in os.listdir("/proc/self/fd"):
            with contextlib.suppress(OSError):
                found.add(os.readlink(f"/proc/self/fd/{name}"))
        return {name for name in found if str(path) in name}

    before = threading.active_count()
    storage = SqliteStorage(path)
    storage.create("/a", b"")
    storage.list("/")
    assert descriptors()
    assert threading.active_count() == before + 2
    storage.close()
    assert threading.active_count() == before
    assert descriptors() == set()


def test_many_expired_keys_go_in_few_transactions(storage: SqliteStorage) -> None:
    reader = WatchReader(storage.watch("/", storage.current_revision()))
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: storage.create(f"/{number}", b"", ttl=1), range(600)))
    reader.wait_for_events(1200)
    assert list(storage.list("/").items) == []
    deletions = [batch for batch in reader.batches if batch.events and batch.events[0].type is EventType.DELETE]
    assert len(deletions) < 20
    reader.stop()


def test_a_watch_whose_feed_was_behind_a_compaction_says_so(storage: SqliteStorage, path: Path) -> None:
    reader = WatchReader(storage.watch("/", storage.current_revision()))
    storage.create("/a", b"")
    reader.wait_for_events(1)
    with contextlib.closing(SqliteStorage(path)) as other, storage._feed._lock:
        revision = other.delete("/b", other.create("/b", b""))
        other.compact(revision)
    reader.wait_for_end()
    assert isinstance(reader.error, CompactedError)
    again = WatchReader(storage.watch("/", revision))
    created = storage.create("/c", b"")
    assert again.wait_for_events(1)[0].revision == created
    again.stop()
    reader.stop()
