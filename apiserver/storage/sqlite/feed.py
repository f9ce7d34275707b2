"""The change feed of a SQLite file: one per process, fanned out to any number of watches.

Called by the driver. Commits of this process are handed over by the writer's thread as they happen; those of other
processes are read from the log by the tailer thread when a peer calls (:mod:`apiserver.storage.sqlite.peers`) or, at
the latest, after half a second. A watch that starts in the past, or whose reader is slow, reads the log itself until
it has caught up.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
import time
from collections.abc import Iterator, Sequence

from apiserver.api.storage import CompactedError, EventType, StorageError, StorageEvent, UnavailableError, WatchBatch
from apiserver.storage.sqlite.database import SELECT_COMPACTED, SELECT_REVISION, Database
from apiserver.storage.sqlite.peers import Peers

logger = logging.getLogger(__name__)

_POLL_SECONDS = 0.5
_PROGRESS_SECONDS = 2.0
_CHUNK = 1000
_QUEUED_BATCHES = 1000
_RETRY_SECONDS = 0.2

# The plus sign keeps SQLite from using the index on keys: the order of revisions is that of the table.
_SELECT_EVENTS = """SELECT l.revision, l.key, l.value, l.prev_revision, p.value
    FROM log l LEFT JOIN log p ON p.revision = l.prev_revision
    WHERE l.revision > ? AND l.revision <= ? AND substr(+l.key, 1, ?) = ? ORDER BY l.revision LIMIT ?"""


def read_events(database: Database, prefix: str, after: int, until: int) -> tuple[list[StorageEvent], int]:
    """Events of keys with ``prefix`` in (``after``, ``until``], at most a thousand, and how far that is complete.

    :raises CompactedError: events after ``after`` may be missing.
    """
    with database.reading(snapshot=True) as connection:
        compacted = connection.execute(SELECT_COMPACTED).fetchone()[0]
        if compacted > after:
            raise CompactedError(compacted)
        rows = connection.execute(_SELECT_EVENTS, (after, until, len(prefix), prefix, _CHUNK)).fetchall()
    events = [
        StorageEvent(
            EventType.DELETE if value is None else EventType.PUT, key, value, previous_value, revision, previous
        )
        for revision, key, value, previous, previous_value in rows
    ]
    return events, events[-1].revision if len(events) == _CHUNK else until


class Feed:
    """Delivers every revision once, in order, to the watches of this process."""

    def __init__(self, database: Database, peers: Peers) -> None:
        self._database = database
        self._peers = peers
        self._lock = threading.Lock()
        self._watches: tuple[SqliteWatch, ...] = ()
        self._stopping = threading.Event()
        self._position = self._newest()
        self._tailer = threading.Thread(target=self._tail, name="sqlite-tailer", daemon=True)
        self._tailer.start()

    def publish(self, events: Sequence[StorageEvent]) -> None:
        """Deliver what this process has just committed. Never raises: what can't be read now, the tailer will read."""
        with self._lock:
            if events[0].revision == self._position + 1:
                self._deliver(events, events[-1].revision)
            elif events[-1].revision > self._position:
                with contextlib.suppress(StorageError):
                    self._catch_up()

    def progress(self) -> None:
        """Report the newest revision to all watches."""
        with self._lock:
            self._catch_up()
            self._deliver((), self._position)

    def attach(self, watch: SqliteWatch) -> int:
        """Deliver to ``watch`` what comes after the returned revision."""
        with self._lock:
            if self._stopping.is_set():
                raise UnavailableError("sqlite: the storage is closed")
            self._watches = (*self._watches, watch)
            return self._position

    def detach(self, watch: SqliteWatch) -> None:
        """The reverse of :meth:`attach`."""
        with self._lock:
            self._watches = tuple(other for other in self._watches if other is not watch)

    def close(self) -> None:
        """End all watches and the tailer thread."""
        with self._lock:
            self._stopping.set()
            watches = self._watches
        for watch in watches:
            watch.close()
        self._peers.wake()
        self._tailer.join()

    def _newest(self) -> int:
        with self._database.reading() as connection:
            return int(connection.execute(SELECT_REVISION).fetchone()[0])

    def _catch_up(self) -> None:
        """Read the log up to its end. Call with the lock held."""
        newest = self._newest()
        while self._position < newest:
            if not self._watches:
                self._position = newest
                return
            try:
                events, until = read_events(self._database, "", self._position, newest)
            except CompactedError as error:
                self._fail(error)
                continue
            self._deliver(events, until)

    def _fail(self, error: StorageError) -> None:
        for watch in self._watches:
            watch.put(error)
        self._watches = ()

    def _deliver(self, events: Sequence[StorageEvent], until: int) -> None:
        self._position = until
        for watch in self._watches:
            if not watch.offer(events, until):
                self._watches = tuple(other for other in self._watches if other is not watch)

    def _tail(self) -> None:
        reported = time.monotonic()
        while not self._stopping.is_set():
            called = self._peers.wait(_POLL_SECONDS)
            try:
                if time.monotonic() - reported >= _PROGRESS_SECONDS:
                    reported = time.monotonic()
                    self.progress()
                else:
                    with self._lock:
                        self._catch_up()
            except StorageError as error:
                if self._stopping.is_set():
                    return
                logger.warning("can't read the log, trying again: %s", error)
                if called:
                    time.sleep(_RETRY_SECONDS)
            except Exception:
                # A mistake of ours must not end this thread, and with it all watches, without a word.
                logger.exception("can't read the log, trying again")
                time.sleep(_RETRY_SECONDS)


class SqliteWatch:
    """One watch. Iterate it from one thread."""

    def __init__(self, feed: Feed, database: Database, prefix: str, from_revision: int) -> None:
        self._feed = feed
        self._database = database
        self._prefix = prefix
        self._from = from_revision
        self._queue: queue.SimpleQueue[WatchBatch | StorageError | None] = queue.SimpleQueue()
        self._closed = False

    def offer(self, events: Sequence[StorageEvent], until: int) -> bool:
        """Called by the feed with all events up to ``until``; False if this watch must read the log by itself."""
        if until < self._from:
            return True
        if self._queue.qsize() >= _QUEUED_BATCHES:
            self._queue.put(None)
            return False
        if events:
            events = self._select(events)
            if not events:
                return True
        self._queue.put(WatchBatch(events, until))
        return True

    def put(self, error: StorageError) -> None:
        """Called by the feed when the history is gone."""
        self._queue.put(error)

    def _select(self, events: Sequence[StorageEvent]) -> Sequence[StorageEvent]:
        prefix, start = self._prefix, self._from
        return [event for event in events if event.revision > start and event.key.startswith(prefix)]

    def __iter__(self) -> Iterator[WatchBatch]:
        position = self._from
        try:
            while not self._closed:
                live = self._feed.attach(self)
                while position < live and not self._closed:
                    events, position = read_events(self._database, self._prefix, position, live)
                    if events or position >= live:
                        yield WatchBatch(events, position)
                for batch in self._live():
                    yield batch
                    position = batch.revision
        finally:
            self._feed.detach(self)

    def _live(self) -> Iterator[WatchBatch]:
        """What the feed delivers, until the watch is closed or has fallen behind."""
        while True:
            item = self._queue.get()
            if self._closed or item is None:
                return
            if isinstance(item, StorageError):
                raise item
            yield item

    def close(self) -> None:
        """End the iteration, from any thread."""
        self._closed = True
        self._queue.put(None)
