"""What a SQLite store does by itself: deleting expired keys and keeping the write-ahead log short.

One thread per process, started by the driver. Several processes may sweep the same file: each deletion is guarded by
the revision it was decided on, so only one of them takes effect.
"""

from __future__ import annotations

import logging
import random
import sqlite3
import threading
import time

from apiserver.api.storage import RevisionMismatchError, StorageError
from apiserver.storage.sqlite.database import SELECT_REVISION, Database, storage_errors
from apiserver.storage.sqlite.writer import Write, Writer

logger = logging.getLogger(__name__)

_INTERVAL_SECONDS = 1.0
_SWEEP = 500
_PASSIVE_BYTES = 4 << 20
_TRUNCATE_BYTES = 128 << 20
_TRUNCATE_WAIT_SECONDS = 1.0

_SELECT_EXPIRED = "SELECT key, revision FROM current WHERE expires <= ? ORDER BY expires LIMIT ?"


class Housekeeping:
    """The thread."""

    def __init__(self, database: Database, writer: Writer) -> None:
        self._database = database
        self._writer = writer
        self._checkpointed = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sqlite-housekeeping", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        # Several processes start together; let them not sweep together.
        while not self._stop.wait(_INTERVAL_SECONDS * random.uniform(0.8, 1.0)):  # noqa: S311
            try:
                self._sweep()
                self._checkpoint()
            except StorageError as error:
                if not self._stop.is_set():
                    logger.warning("housekeeping failed, trying again: %s", error)
            except Exception:
                # A mistake of ours must not end this thread for good without a word.
                logger.exception("housekeeping failed, trying again")

    def _sweep(self) -> None:
        """Delete what has expired, as ordinary deletions."""
        while not self._stop.is_set():
            with self._database.reading() as connection:
                expired = connection.execute(_SELECT_EXPIRED, (time.time(), _SWEEP)).fetchall()
            deletions = [Write(key, None, revision, None) for key, revision in expired]
            self._writer.write_together(deletions)
            for deletion in deletions:
                # Another process was faster, or somebody has just renewed the key.
                if deletion.error is not None and not isinstance(deletion.error, RevisionMismatchError):
                    raise deletion.error
            if len(expired) < _SWEEP:
                return

    def _checkpoint(self) -> None:
        """Copy the write-ahead log into the main file outside of any write's commit.

        A passive checkpoint disturbs nobody, but where readers and writers never pause it can't start the log over;
        then one that waits for them does, and the file shrinks.
        """
        size = self._database.wal_size()
        if size < _PASSIVE_BYTES:
            return
        with self._database.reading() as reader:
            newest = reader.execute(SELECT_REVISION).fetchone()[0]
        if newest == self._checkpointed:
            return
        self._checkpointed = newest
        with storage_errors():
            connection = self._database.connect(timeout=_TRUNCATE_WAIT_SECONDS)
            try:
                mode = "TRUNCATE" if size > _TRUNCATE_BYTES else "PASSIVE"
                connection.execute(f"PRAGMA wal_checkpoint({mode})").fetchone()
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                    raise
            finally:
                connection.close()

    def close(self) -> None:
        """Stop the thread and wait for it."""
        self._stop.set()
        self._thread.join()
