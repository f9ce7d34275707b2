"""Each driver against a plain model in memory: whatever the order of calls, they agree."""

from __future__ import annotations

import contextlib
import tempfile
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, Phase, settings, target
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from apiserver.api.storage import (
    CompactedError,
    EventType,
    KeyExistsError,
    KeyValue,
    RevisionMismatchError,
    Storage,
    StorageEvent,
)
from apiserver.storage import etcd, sqlite
from tests.etcd_server import EtcdServer

NAMES = ["", "a", "a/", "a/b", "a-b", "b", "é", "\U0001f600"]
VALUES = st.binary(max_size=8)


@dataclass
class Model:
    """The keys now, what they were after each revision, and the events."""

    keys: dict[str, KeyValue] = field(default_factory=dict)
    states: dict[int, dict[str, KeyValue]] = field(default_factory=dict)
    events: list[StorageEvent] = field(default_factory=list)
    compacted: int = 0

    def put(self, key: str, value: bytes, revision: int) -> None:
        old = self.keys.get(key)
        self.keys[key] = KeyValue(key, value, revision, old.create_revision if old else revision)
        self._record(key, value, old, revision)

    def delete(self, key: str, revision: int) -> None:
        self._record(key, None, self.keys.pop(key), revision)

    def _record(self, key: str, value: bytes | None, old: KeyValue | None, revision: int) -> None:
        kind = EventType.DELETE if value is None else EventType.PUT
        before, at = (old.value, old.mod_revision) if old else (None, 0)
        self.events.append(StorageEvent(kind, key, value, before, revision, at))
        self.states[revision] = dict(self.keys)

    def list(self, prefix: str, start: str | None, revision: int | None) -> list[KeyValue]:
        keys = self.keys if revision is None else self.states[revision]
        chosen = [key for key in keys if key.startswith(prefix) and (start is None or key >= start)]
        return [keys[key] for key in sorted(chosen)]


class Machine(RuleBasedStateMachine):
    """Calls on a store and on the model."""

    open_storage: Callable[[], Storage]

    @initialize()
    def start(self) -> None:
        self.prefix = f"/model/{uuid.uuid4()}/"
        self.storage = type(self).open_storage()
        self.model = Model()
        first = self.storage.create(self.prefix + "first", b"")
        self.began = first - 1
        self.model.put(self.prefix + "first", b"", first)

    def teardown(self) -> None:
        if not hasattr(self, "storage"):
            return
        try:
            start = max(self.began, self.model.compacted)
            expected = [event for event in self.model.events if event.revision > start]
            watch = self.storage.watch(self.prefix, start)
            with contextlib.closing(watch):
                seen: list[StorageEvent] = []
                batches = iter(watch)
                while len(seen) < len(expected):
                    seen += next(batches).events
            assert seen == expected
            target(float(len(expected)))
        finally:
            self.storage.close()

    @rule(name=st.sampled_from(NAMES), value=VALUES)
    def create(self, name: str, value: bytes) -> None:
        key = self.prefix + name
        if key in self.model.keys:
            with pytest.raises(KeyExistsError):
                self.storage.create(key, value)
        else:
            self.model.put(key, value, self.storage.create(key, value))

    @rule(name=st.sampled_from(NAMES), value=VALUES, offset=st.sampled_from([0, 0, 0, -1, 1]))
    def update(self, name: str, value: bytes, offset: int) -> None:
        key = self.prefix + name
        old = self.model.keys.get(key)
        if old and not offset:
            self.model.put(key, value, self.storage.update(key, value, old.mod_revision))
            return
        with pytest.raises(RevisionMismatchError) as caught:
            self.storage.update(key, value, (old.mod_revision if old else 0) + offset)
        assert caught.value.current == old

    @rule(name=st.sampled_from(NAMES), offset=st.sampled_from([0, 0, 0, -1, 1]))
    def delete(self, name: str, offset: int) -> None:
        key = self.prefix + name
        old = self.model.keys.get(key)
        if old and not offset:
            self.model.delete(key, self.storage.delete(key, old.mod_revision))
            return
        with pytest.raises(RevisionMismatchError) as caught:
            self.storage.delete(key, (old.mod_revision if old else 0) + offset)
        assert caught.value.current == old

    @rule(data=st.data(), name=st.sampled_from(NAMES))
    def get(self, data: st.DataObject, name: str) -> None:
        key = self.prefix + name
        revision = data.draw(st.sampled_from(sorted(self.model.states)))
        assert self.storage.get(key) == self.model.keys.get(key)
        if revision < self.model.compacted:
            with pytest.raises(CompactedError):
                self.storage.get(key, revision=revision)
        else:
            assert self.storage.get(key, revision=revision) == self.model.states[revision].get(key)

    @rule(
        data=st.data(),
        name=st.sampled_from(NAMES),
        start=st.none() | st.sampled_from(NAMES),
        limit=st.integers(0, 4),
        old=st.booleans(),
    )
    def list(self, data: st.DataObject, name: str, start: str | None, limit: int, old: bool) -> None:
        revision = data.draw(st.sampled_from(sorted(self.model.states))) if old else None
        prefix = self.prefix + name
        first = None if start is None else self.prefix + start
        if revision is not None and revision < self.model.compacted:
            with pytest.raises(CompactedError):
                self.storage.list(prefix, start=first, limit=limit, revision=revision)
            return
        page = self.storage.list(prefix, start=first, limit=limit, revision=revision)
        expected = self.model.list(prefix, first, revision)
        size = limit or len(expected)
        assert list(page.items) == expected[:size]
        assert page.remaining == len(expected[size:])
        assert page.more == (page.remaining > 0)
        assert page.revision == (revision or self.storage.current_revision())

    @rule(data=st.data())
    def compact(self, data: st.DataObject) -> None:
        revision = data.draw(st.sampled_from(sorted(self.model.states)))
        self.storage.compact(revision)
        self.model.compacted = max(self.model.compacted, revision)
        assert self.storage.compacted_revision() >= self.model.compacted

    @invariant()
    def revisions_agree(self) -> None:
        if hasattr(self, "storage"):
            assert self.storage.current_revision() == max(self.model.states)


@pytest.fixture(params=["sqlite", "etcd"])
def machine(request: pytest.FixtureRequest) -> Iterator[type[Machine]]:
    """The machine for one driver. SQLite gets a new file each time; in etcd the prefix is new."""
    with tempfile.TemporaryDirectory() as directory:

        def open_sqlite() -> Storage:
            return sqlite.open_storage(f"sqlite://{directory}/{uuid.uuid4()}.db", {})

        opener: Callable[[], Storage] = open_sqlite
        if request.param == "etcd":
            server: EtcdServer = request.getfixturevalue("etcd_server")
            opener = lambda: etcd.open_storage(server.url, {})  # noqa: E731

        class DriverMachine(Machine):
            open_storage = staticmethod(opener)

        yield DriverMachine


def test_the_driver_does_what_the_model_does(machine: type[Machine]) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=25,
            stateful_step_count=30,
            deadline=None,
            phases=[Phase.explicit, Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
        ),
    )
