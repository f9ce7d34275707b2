"""Several processes on one store: guards hold, watches have no gap, and a killed one loses nothing acknowledged."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from apiserver.api.storage import Storage
from apiserver.storage import etcd, sqlite
from apiserver.testing.storage_contract import WatchReader

PROGRAM = Path(__file__).with_name("writing_process.py")


class Store:
    """A store by its URL, opened here and in other processes."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._opened = contextlib.ExitStack()

    def open(self) -> Storage:
        opener: Callable[..., Storage] = etcd.open_storage if self.url.startswith("etcd") else sqlite.open_storage
        return self._opened.enter_context(contextlib.closing(opener(self.url, {})))

    def process(self, *arguments: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, str(PROGRAM), self.url, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self._opened.callback(process.communicate)
        self._opened.callback(process.kill)
        return process

    def close(self) -> None:
        self._opened.close()


@pytest.fixture(params=["sqlite", "etcd"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    url = f"sqlite://{tmp_path}/store.db"
    if request.param == "etcd":
        url = request.getfixturevalue("etcd_server").url
    with contextlib.closing(Store(url)) as store:
        yield store


@pytest.fixture
def prefix(request: pytest.FixtureRequest) -> str:
    return f"/{request.node.name}/"


def read_lines(process: subprocess.Popen[bytes], number: int) -> list[tuple[str, int]]:
    """So many acknowledged writes of ``process``; all that come until its end if 0."""
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        if not line.endswith(b"\n"):
            break
        key, revision = line.split()
        lines.append((key.decode(), int(revision)))
        if len(lines) == number:
            break
    return lines


def test_a_killed_process_with_eight_writers_loses_no_acknowledged_write(store: Store, prefix: str) -> None:
    storage = store.open()
    reader = WatchReader(storage.watch(prefix, storage.current_revision()))
    acknowledged = []
    for _ in range(4):
        process = store.process(prefix, "8", "create")
        acknowledged += read_lines(process, 300)
        process.kill()
        acknowledged += read_lines(process, 0)
    assert len(acknowledged) >= 1200
    for place in (storage, store.open()):
        stored = {item.key: item for item in place.list(prefix).items}
        for key, revision in acknowledged:
            assert stored[key].mod_revision == revision
            assert stored[key].value == key.encode() * 10
    events = reader.wait_for_events(len(stored))
    assert [event.revision for event in events] == sorted(item.mod_revision for item in stored.values())
    reader.stop()


def test_no_increment_of_two_processes_and_this_one_is_lost(store: Store, prefix: str) -> None:
    storage = store.open()
    key = prefix + "counter"
    created = storage.create(key, b"0")
    reader = WatchReader(storage.watch(prefix, created))
    processes = [store.process(key, "1", "increment", "150") for _ in range(2)]
    revisions = [revision for process in processes for _, revision in read_lines(process, 0)]
    assert [process.wait() for process in processes] == [0, 0]
    assert len(set(revisions)) == 300
    stored = storage.get(key)
    assert stored is not None
    assert (stored.value, stored.mod_revision) == (b"300", max(revisions))
    events = reader.wait_for_events(300)
    assert [event.value for event in events] == [b"%d" % number for number in range(1, 301)]
    assert [event.prev_revision for event in events] == [created, *[event.revision for event in events[:-1]]]
    reader.stop()


def test_watches_of_this_process_see_all_writers_in_order(store: Store, prefix: str) -> None:
    storage = store.open()
    start = storage.current_revision()
    reader = WatchReader(storage.watch(prefix, start))
    processes = [store.process(prefix, "2", "create") for _ in range(2)]
    own = [storage.create(f"{prefix}own-{number}", b"") for number in range(100)]
    for process in processes:
        read_lines(process, 200)
        process.kill()
        process.wait()
    stored = sorted(item.mod_revision for item in storage.list(prefix).items)
    events = reader.wait_for_events(len(stored))
    assert [event.revision for event in events] == stored
    assert set(own) <= set(stored)
    reader.stop()
