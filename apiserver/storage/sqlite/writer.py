"""Group commit: writes that wait at the same time become one transaction, with one fsync.

Called by the driver (creates, updates, deletes), its expiry sweep included. There is no writer thread: the first
thread that comes while nobody commits leads, takes everything that waits into its transaction, and passes the lead to
the first of those who came meanwhile. A lone write so costs no switch of threads. A failed guard fails only its own
writer. Committed events go to the feed before the writers return, so a process sees its own writes at once.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence

from apiserver.api.storage import (
    EventType,
    KeyExistsError,
    KeyValue,
    RevisionMismatchError,
    StorageError,
    StorageEvent,
    UnavailableError,
)
from apiserver.storage.sqlite.database import BUSY_TIMEOUT, SELECT_REVISION, Database, unavailable
from apiserver.storage.sqlite.peers import Peers

_BATCH_OPERATIONS = 256
_LOCK_POLL_SECONDS = 0.0002
_LOCK_POLL_LONGEST = 0.005
_AUTOCHECKPOINT_PAGES = 4000

_SELECT_STORED = """SELECT l.value, l.revision, l.create_revision FROM current c JOIN log l ON l.revision = c.revision
    WHERE c.key = ?"""
_INSERT_LOG = "INSERT INTO log(revision, key, value, create_revision, prev_revision) VALUES (?, ?, ?, ?, ?)"
_INSERT_CURRENT = "INSERT INTO current(key, revision, create_revision, expires) VALUES (?, ?, ?, ?)"
_UPDATE_CURRENT = "UPDATE current SET revision = ?, expires = ? WHERE key = ?"
_DELETE_CURRENT = "DELETE FROM current WHERE key = ?"

Publish = Callable[[Sequence[StorageEvent]], None]


class Write:
    """One waiting write. ``expected_revision`` 0 stands for "must not exist"; ``value`` None for a deletion."""

    __slots__ = ("alone", "done", "error", "expected_revision", "expires", "key", "leads", "ready", "revision", "value")

    def __init__(self, key: str, value: bytes | None, expected_revision: int, expires: float | None) -> None:
        self.key = key
        self.value = value
        self.expected_revision = expected_revision
        self.expires = expires
        self.revision = 0
        self.error: StorageError | None = None
        self.done = False
        self.leads = False
        self.alone = False
        self.ready = threading.Lock()
        self.ready.acquire()

    def apply(self, connection: sqlite3.Connection, revision: int) -> StorageEvent | None:
        """Do it as ``revision`` inside the open transaction; None (and ``error`` set) if the guard fails."""
        row = connection.execute(_SELECT_STORED, (self.key,)).fetchone()
        value, stored, created = row or (None, 0, 0)
        if stored != self.expected_revision:
            current = KeyValue(self.key, row[0], stored, created) if row else None
            self.error = (
                RevisionMismatchError(self.key, current) if self.expected_revision else KeyExistsError(self.key)
            )
            return None
        created = created or revision
        connection.execute(_INSERT_LOG, (revision, self.key, self.value, created, stored))
        if self.value is None:
            connection.execute(_DELETE_CURRENT, (self.key,))
        elif stored:
            connection.execute(_UPDATE_CURRENT, (revision, self.expires, self.key))
        else:
            connection.execute(_INSERT_CURRENT, (self.key, revision, revision, self.expires))
        self.revision = revision
        kind = EventType.DELETE if self.value is None else EventType.PUT
        return StorageEvent(kind, self.key, self.value, value, revision, stored)


class Writer:
    """The one path by which this process changes the database."""

    def __init__(self, database: Database, peers: Peers, publish: Publish) -> None:
        """:param publish: called with the events of each commit, in order, before the writers return."""
        self._database = database
        self._peers = peers
        self._publish = publish
        self._mutex = threading.Lock()
        self._waiting: deque[Write] = deque()
        self._led = False
        self._closed = False
        # Timeout 0: SQLite's own waiting sleeps up to 100 ms at a time; _begin waits more finely.
        self._connection = database.connect(timeout=0)
        self._connection.execute(f"PRAGMA wal_autocheckpoint = {_AUTOCHECKPOINT_PAGES}")
        self._connection.execute("PRAGMA cache_size = -8192")

    def write(self, write: Write) -> int:
        """Commit ``write``, together with whatever else waits; returns its revision.

        :raises StorageError: as :class:`apiserver.api.storage.Storage` says.
        """
        self._queue(write)
        if write.leads and not write.done:
            self._lead(write)
        if write.error is not None:
            raise write.error
        return write.revision

    def write_together(self, writes: Sequence[Write]) -> None:
        """Commit all of ``writes`` in as few transactions as can be; the outcome of each is in it.

        :raises UnavailableError: the storage is closed.
        """
        if not writes:
            return
        leads = self._enqueue(writes)
        for write in writes:
            if not write.done and not leads:
                self._wait(write)
            leads = False
            if write.leads and not write.done:
                self._lead(write)

    def exclusively(self, statements: Callable[[sqlite3.Connection], None]) -> None:
        """Run ``statements`` in a transaction of their own, between two batches (compaction).

        :raises UnavailableError: it can't be committed.
        """
        token = Write("", None, 0, None)
        token.alone = True
        self._queue(token)
        try:
            with self._mutex:
                self._waiting.popleft()
            self._begin()
            statements(self._connection)
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise unavailable(error) from error
        finally:
            self._rollback()
            self._hand_over()

    def _queue(self, write: Write) -> None:
        """Stand in line; returns when the write is done or has to lead (it is then the first of the line)."""
        if not self._enqueue((write,)):
            self._wait(write)

    def _enqueue(self, writes: Sequence[Write]) -> bool:
        """Put ``writes`` at the end of the line; True if the first of them has to lead at once."""
        with self._mutex:
            if self._closed:
                raise UnavailableError("sqlite: the storage is closed")
            self._waiting.extend(writes)
            leads = writes[0].leads = not self._led
            self._led = True
            return leads

    def _wait(self, write: Write) -> None:
        """Sleep until ``write`` is done or has to lead."""
        try:
            write.ready.acquire()
        except BaseException:
            # A signal handler raised in the main thread. Whoever waits behind us must not wait for ever.
            self._withdraw(write)
            if write.leads and not write.done:
                self._hand_over()
            raise

    def _lead(self, own: Write) -> None:
        """Commit what waits, ``own`` first, then pass the lead on."""
        batch: list[Write] = []
        failure: StorageError = UnavailableError("sqlite: the write was interrupted")
        try:
            self._begin()
            batch = self._take()
            events = self._commit(batch)
            if events:
                self._publish(events)
                self._peers.notify()
        except (sqlite3.Error, StorageError) as error:
            failure = error if isinstance(error, StorageError) else unavailable(error)
            batch = batch or self._take()
        except BaseException:
            # A signal handler raised in the main thread: who waits behind us is not concerned.
            batch = batch or self._withdraw(own)
            raise
        finally:
            self._rollback()
            self._finish(batch, failure)
            self._hand_over()

    def _withdraw(self, write: Write) -> list[Write]:
        """Leave the line; what has left it."""
        with self._mutex:
            if write not in self._waiting:
                return []
            self._waiting.remove(write)
            return [write]

    def _take(self) -> list[Write]:
        """The waiting writes, oldest first, up to one that must be alone."""
        batch: list[Write] = []
        with self._mutex:
            while self._waiting and not self._waiting[0].alone and len(batch) < _BATCH_OPERATIONS:
                batch.append(self._waiting.popleft())
        return batch

    def _begin(self) -> None:
        """Take SQLite's write lock, waiting for other processes up to BUSY_TIMEOUT."""
        # SQLite writes on into a file that was removed: what is acknowledged then would be gone at the next start.
        self._database.verify_identity()
        if self._peers.alone and self._try_begin():
            return
        deadline = time.monotonic() + BUSY_TIMEOUT
        pause = _LOCK_POLL_SECONDS
        with self._peers.turn(deadline):
            while not self._try_begin():
                if time.monotonic() > deadline:
                    raise UnavailableError("sqlite: database is locked by another process")
                time.sleep(pause)
                pause = min(pause * 1.5, _LOCK_POLL_LONGEST)

    def _try_begin(self) -> bool:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
            return False
        return True

    def _commit(self, batch: list[Write]) -> list[StorageEvent]:
        """Apply the batch in the open transaction and commit; guards that fail leave no trace."""
        revision = self._connection.execute(SELECT_REVISION).fetchone()[0]
        events: list[StorageEvent] = []
        for write in batch:
            event = write.apply(self._connection, revision + 1)
            if event is not None:
                revision += 1
                events.append(event)
        if events:
            self._connection.execute("COMMIT")
        for write in batch:
            write.done = True
        return events

    def _rollback(self) -> None:
        if self._connection.in_transaction:
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")

    @staticmethod
    def _finish(batch: list[Write], failure: StorageError) -> None:
        """Wake the batch; what is not committed fails."""
        for write in batch:
            if not write.done:
                write.revision = 0
                write.error = failure
                write.done = True
            write.ready.release()

    def _hand_over(self) -> None:
        with self._mutex:
            self._led = bool(self._waiting)
            if self._led:
                self._waiting[0].leads = True
                self._waiting[0].ready.release()

    def close(self) -> None:
        """Refuse further writes, let the running ones end, close the connection."""
        with self._mutex:
            self._closed = True
        deadline = time.monotonic() + BUSY_TIMEOUT
        while self._led and time.monotonic() < deadline:
            time.sleep(0.001)
        self._connection.close()
