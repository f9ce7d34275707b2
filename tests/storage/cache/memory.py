"""A store in memory, for tests of what is built on stores: it can be held up, broken and compacted at will."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Iterator

from apiserver.api.storage import (
    CompactedError,
    EventType,
    FutureRevisionError,
    KeyExistsError,
    KeyValue,
    ListPage,
    RevisionMismatchError,
    StorageEvent,
    UnavailableError,
    WatchBatch,
)


class MemoryStorage:
    """See :class:`apiserver.api.storage.Storage`."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.revision = 1
        self.compacted = 0
        self.log: list[StorageEvent] = []
        self.state: dict[str, KeyValue] = {}
        self.away = False
        self.held = False
        """Watches deliver nothing while this is set."""
        self.broken: Exception | None = None
        """The next watch that looks raises this, once."""
        self.lists = 0
        self.watches = 0

    def create(self, key: str, value: bytes, *, ttl: int | None = None) -> int:
        with self.changed:
            self._check()
            if key in self.state:
                raise KeyExistsError(key)
            return self._write(key, value)

    def get(self, key: str, *, revision: int | None = None) -> KeyValue | None:
        with self.changed:
            self._check()
            return self._at(revision).get(key)

    def list(self, prefix: str, *, start: str | None = None, limit: int = 0, revision: int | None = None) -> ListPage:
        with self.changed:
            self._check()
            self.lists += 1
            state = self._at(revision)
            keys = sorted(key for key in state if key.startswith(prefix))
            keys = keys[bisect_left(keys, start or "") :]
            page = keys[:limit] if limit else keys
            more = len(keys) - len(page)
            return ListPage([state[key] for key in page], revision or self.revision, more > 0, more)

    def update(self, key: str, value: bytes, expected_revision: int, *, ttl: int | None = None) -> int:
        with self.changed:
            self._expect(key, expected_revision)
            return self._write(key, value)

    def delete(self, key: str, expected_revision: int) -> int:
        with self.changed:
            self._expect(key, expected_revision)
            return self._write(key, None)

    def put(self, key: str, value: bytes | None) -> int:
        """Write (or delete, with None) without a guard."""
        with self.changed:
            return self._write(key, value)

    def put_many(self, changes: list[tuple[str, bytes | None]]) -> int:
        """Writes that a watch gets in one batch."""
        with self.changed:
            return [self._write(key, value) for key, value in changes][-1]

    def watch(self, prefix: str, from_revision: int) -> MemoryWatch:
        with self.changed:
            self._check()
            self.watches += 1
            return MemoryWatch(self, prefix, from_revision)

    def request_progress(self) -> None:
        pass

    def current_revision(self) -> int:
        with self.changed:
            self._check()
            return self.revision

    def compact(self, revision: int) -> None:
        with self.changed:
            self.compacted = max(self.compacted, revision)
            self.changed.notify_all()

    def compacted_revision(self) -> int:
        return self.compacted

    def check(self) -> None:
        self._check()

    def close(self) -> None:
        self.go_away()

    def go_away(self) -> None:
        """Answer nothing; running watches fail."""
        with self.changed:
            self.away = True
            self.changed.notify_all()

    def come_back(self) -> None:
        """Be there again."""
        with self.changed:
            self.away = False

    def hold(self, held: bool) -> None:
        """Make watches late, or let them catch up."""
        with self.changed:
            self.held = held
            self.changed.notify_all()

    def break_watches(self, error: Exception) -> None:
        """Let the running watch fail."""
        with self.changed:
            self.broken = error
            self.changed.notify_all()

    def _check(self) -> None:
        if self.away:
            raise UnavailableError("memory: away")

    def _expect(self, key: str, revision: int) -> None:
        self._check()
        current = self.state.get(key)
        if current is None or current.mod_revision != revision:
            raise RevisionMismatchError(key, current)

    def _write(self, key: str, value: bytes | None) -> int:
        prev = self.state.get(key)
        self.revision += 1
        kind = EventType.DELETE if value is None else EventType.PUT
        before = (prev.value, prev.mod_revision) if prev else (None, 0)
        self.log.append(StorageEvent(kind, key, value, before[0], self.revision, before[1]))
        if value is None:
            self.state.pop(key, None)
        else:
            created = prev.create_revision if prev else self.revision
            self.state[key] = KeyValue(key, value, self.revision, created)
        self.changed.notify_all()
        return self.revision

    def _at(self, revision: int | None) -> dict[str, KeyValue]:
        if revision is None:
            return self.state
        if revision < self.compacted:
            raise CompactedError(self.compacted)
        if revision > self.revision:
            raise FutureRevisionError(self.revision)
        state: dict[str, KeyValue] = {}
        for event in self.log:
            if event.revision > revision:
                break
            if event.value is None:
                state.pop(event.key, None)
            else:
                state[event.key] = KeyValue(event.key, event.value, event.revision, 0)
        return state


class MemoryWatch:
    """See :class:`apiserver.api.storage.StorageWatch`."""

    def __init__(self, store: MemoryStorage, prefix: str, revision: int) -> None:
        self._store = store
        self._prefix = prefix
        self._revision = revision
        self._closed = False

    def __iter__(self) -> Iterator[WatchBatch]:
        while (batch := self._next()) is not None:
            yield batch

    def close(self) -> None:
        with self._store.changed:
            self._closed = True
            self._store.changed.notify_all()

    def _next(self) -> WatchBatch | None:
        store = self._store
        with store.changed:
            while True:
                if self._closed:
                    return None
                store._check()
                if store.broken is not None:
                    error, store.broken = store.broken, None
                    raise error
                if self._revision < store.compacted:
                    raise CompactedError(store.compacted)
                if store.revision > self._revision and not store.held:
                    return self._batch()
                store.changed.wait()

    def _batch(self) -> WatchBatch:
        store, after = self._store, self._revision
        self._revision = store.revision
        begin = bisect_left(store.log, after + 1, key=lambda event: event.revision)
        events = [event for event in store.log[begin:] if event.key.startswith(self._prefix)]
        return WatchBatch(events, store.revision)
