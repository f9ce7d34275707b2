"""The etcd driver when etcd is away: restarted, killed, frozen, or only one of its servers."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

import pytest

from apiserver.api.storage import StorageError, UnavailableError
from apiserver.storage.etcd import EtcdStorage, open_storage, watch
from apiserver.testing.storage_contract import PATIENCE, WatchReader
from tests.etcd_server import EtcdServer, free_port


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EtcdServer]:
    with EtcdServer(tmp_path_factory.mktemp("etcd")) as server:
        yield server


@pytest.fixture
def storage(server: EtcdServer) -> Iterator[EtcdStorage]:
    with contextlib.closing(open_storage(server.url, {})) as storage:
        yield storage


@pytest.fixture
def prefix(request: pytest.FixtureRequest) -> str:
    return f"/{request.node.name}/"


@pytest.fixture
def reader(storage: EtcdStorage, prefix: str) -> Iterator[WatchReader]:
    reader = WatchReader(storage.watch(prefix, storage.current_revision()))
    reader.wait_until(lambda: reader.batches)
    yield reader
    reader.stop()


def create_when_back(storage: EtcdStorage, key: str) -> int:
    """Create ``key`` as soon as etcd takes it."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return storage.create(key, b"")
        except UnavailableError:
            assert time.monotonic() < deadline
            time.sleep(0.05)


@pytest.mark.parametrize("way", ["stop", "kill"])
def test_a_watch_goes_on_after_etcd_was_restarted(
    server: EtcdServer, storage: EtcdStorage, reader: WatchReader, prefix: str, way: str
) -> None:
    revisions = [storage.create(f"{prefix}before-{number}", b"") for number in range(20)]
    getattr(server, way)()
    with pytest.raises(UnavailableError):
        storage.create(prefix + "away", b"")
    with pytest.raises(UnavailableError):
        storage.get(prefix + "away")
    with pytest.raises(UnavailableError):
        storage.check()
    server.start()
    revisions.append(create_when_back(storage, prefix + "back"))
    revisions += [storage.create(f"{prefix}after-{number}", b"") for number in range(20)]
    assert [event.revision for event in reader.wait_for_events(41)] == revisions
    storage.check()


def test_what_others_wrote_meanwhile_is_not_missed(
    server: EtcdServer, storage: EtcdStorage, reader: WatchReader, prefix: str
) -> None:
    revision = storage.create(prefix + "a", b"0")
    reader.wait_for_events(1)
    for _ in range(3):
        server.kill()
        server.start()
        with contextlib.closing(open_storage(server.url, {})) as other:
            for _ in range(20):
                revision = other.update(prefix + "a", b"", revision)
    events = reader.wait_for_events(61)
    assert [event.prev_revision for event in events] == [0, *[event.revision for event in events[:-1]]]


def test_a_frozen_etcd_is_unhealthy_and_its_watch_resumes(
    server: EtcdServer, storage: EtcdStorage, reader: WatchReader, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "_SILENCE_SECONDS", 0.5)
    first = storage.create(prefix + "a", b"")
    server.freeze()
    try:
        with pytest.raises(UnavailableError, match="Deadline Exceeded"):
            storage.check()
    finally:
        server.thaw()
    second = create_when_back(storage, prefix + "b")
    assert [event.revision for event in reader.wait_for_events(2)] == [first, second]


@pytest.mark.parametrize("position", [0, 1])
def test_an_endpoint_that_is_down_is_passed_over(server: EtcdServer, prefix: str, position: int) -> None:
    servers = [server.endpoint]
    servers.insert(position, f"http://127.0.0.1:{free_port()}")
    with contextlib.closing(open_storage("etcd:", {"servers": servers})) as storage:
        reader = WatchReader(storage.watch(prefix, storage.current_revision()))
        revision = storage.create(prefix + "a", b"")
        assert storage.get(prefix + "a") is not None
        assert reader.wait_for_events(1)[0].revision == revision
        storage.check()
        reader.stop()


def test_a_write_as_the_first_call_finds_the_endpoint_that_works(server: EtcdServer, prefix: str) -> None:
    servers = f"http://127.0.0.1:{free_port()},{server.endpoint}"
    with contextlib.closing(open_storage("etcd:", {"servers": servers})) as storage:
        assert storage.create(prefix + "a", b"") > 0


def test_nothing_is_needed_to_open_but_everything_fails_without_etcd() -> None:
    with contextlib.closing(open_storage(f"etcd://127.0.0.1:{free_port()}", {})) as storage:
        with pytest.raises(UnavailableError, match=r"^etcd: failed to connect"):
            storage.current_revision()
        with pytest.raises(UnavailableError):
            storage.create("/a", b"")
        reader = WatchReader(storage.watch("/", 1))
        time.sleep(0.3)
        reader.stop()
        assert reader.error is None


def test_servers_must_be_named_rightly() -> None:
    with pytest.raises(StorageError, match="no servers"):
        open_storage("etcd://", {})
    with pytest.raises(StorageError, match="scheme must be http or https"):
        open_storage("etcd:", {"servers": ["ftp://127.0.0.1:1"]})
    with pytest.raises(StorageError, match="is no list of URLs"):
        open_storage("etcd:", {"servers": 2379})
    with pytest.raises(UnavailableError, match="No such file"):
        open_storage("etcd://127.0.0.1:1", {"cafile": "/nowhere/ca.pem"})
