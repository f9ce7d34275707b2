"""The compactor: one of a set wins each round, and history reaches back one interval."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from apiserver.api.storage import CompactedError, Storage
from apiserver.storage.compaction import COMPACT_REV_KEY, Compactor


@pytest.fixture
def storage(open_store: Callable[[], Storage]) -> Storage:
    return open_store()


def write(storage: Storage, key: str) -> int:
    found = storage.get(key)
    return storage.update(key, b"x", found.mod_revision) if found else storage.create(key, b"x")


def test_the_first_round_compacts_nothing_and_the_next_up_to_the_first(storage: Storage) -> None:
    before = storage.compacted_revision()
    compactor = Compactor(storage)
    for _ in range(2):
        # The key may be there from an earlier life of the store: the first round then only learns whose turn it is.
        if compactor.round():
            break
    assert storage.compacted_revision() == before
    kept = storage.current_revision()
    write(storage, "/compaction/a")
    assert compactor.round()
    assert storage.compacted_revision() == kept
    storage.list("/compaction/", revision=kept)
    with pytest.raises(CompactedError):
        storage.list("/compaction/", revision=kept - 1)


def test_one_of_a_set_wins_each_round(open_store: Callable[[], Storage]) -> None:
    compactors = [Compactor(open_store()) for _ in range(3)]
    storage = open_store()
    for compactor in compactors:
        compactor.round()
    for _ in range(4):
        write(storage, "/compaction/b")
        before = storage.compacted_revision()
        won = [compactor.round() for compactor in compactors]
        assert sum(won) == 1
        assert storage.compacted_revision() > before


def test_a_loser_that_takes_over_keeps_one_interval_of_history(open_store: Callable[[], Storage]) -> None:
    first, second, storage = Compactor(open_store()), Compactor(open_store()), open_store()
    for _ in range(2):
        first.round()
        second.round()
    since = write(storage, "/compaction/c")
    write(storage, "/compaction/c")
    # The first is gone; the second knows only what was current at its own last round.
    assert second.round()
    assert storage.compacted_revision() < since
    write(storage, "/compaction/c")
    assert second.round()
    assert storage.compacted_revision() > since


def test_the_key_and_its_value_are_those_of_kube_apiserver(storage: Storage) -> None:
    compactor = Compactor(storage)
    for _ in range(3):
        compactor.round()
    stored = storage.get(COMPACT_REV_KEY)
    assert COMPACT_REV_KEY == "compact_rev_key"
    assert stored is not None
    assert int(stored.value) == storage.compacted_revision()


def test_a_running_compactor_compacts_by_itself(storage: Storage) -> None:
    revision = write(storage, "/compaction/d")
    compactor = Compactor(storage, interval=0.05)
    compactor.start()
    try:
        deadline = time.monotonic() + 20
        while storage.compacted_revision() < revision:
            assert time.monotonic() < deadline
            time.sleep(0.02)
    finally:
        compactor.stop()
    assert storage.get("/compaction/d") is not None


def test_an_interval_of_zero_never_compacts(storage: Storage) -> None:
    compactor = Compactor(storage, interval=0)
    compactor.start()
    compactor.stop()
    assert compactor._thread is None
