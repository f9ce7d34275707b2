"""The SQLite file: schema, connections, and how its errors become ours.

Called by the other modules of this package only. Two tables hold everything: ``log`` has one row per revision (a row
without value is a deletion), ``current`` points from each existing key to its newest log row. Both are written in the
same transaction, so a reader of either sees a whole number of revisions.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from apiserver.api.storage import StorageError, UnavailableError

SCHEMA_VERSION = 1
"""``PRAGMA user_version`` of the files that this module writes."""

BUSY_TIMEOUT = 10.0
"""Seconds that an operation waits for other processes before it gives up with UnavailableError."""

_SCHEMA = (
    """CREATE TABLE log(
        revision INTEGER PRIMARY KEY,
        key TEXT NOT NULL,
        value BLOB,
        create_revision INTEGER NOT NULL,
        prev_revision INTEGER NOT NULL)""",
    "CREATE INDEX log_key ON log(key, revision)",
    """CREATE TABLE current(
        key TEXT PRIMARY KEY,
        revision INTEGER NOT NULL,
        create_revision INTEGER NOT NULL,
        expires REAL) WITHOUT ROWID""",
    "CREATE INDEX current_expires ON current(expires) WHERE expires IS NOT NULL",
    "CREATE TABLE meta(name TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID",
    "INSERT INTO meta VALUES ('compacted', 0), ('swept', 0)",
    f"PRAGMA user_version = {SCHEMA_VERSION}",
)

SELECT_REVISION = "SELECT ifnull(max(revision), 1) FROM log"
"""The newest revision; 1 in an empty store, so that the first write is 2. COMPAT: etcd."""

SELECT_COMPACTED = "SELECT number FROM meta WHERE name = 'compacted'"


@contextlib.contextmanager
def storage_errors() -> Iterator[None]:
    """Turn what sqlite3 raises (busy, disk full, I/O error, closed connection) into UnavailableError."""
    try:
        yield
    except sqlite3.Error as error:
        raise unavailable(error) from error


def unavailable(error: BaseException) -> UnavailableError:
    """The UnavailableError that tells of ``error``."""
    name = getattr(error, "sqlite_errorname", None)
    return UnavailableError(f"sqlite: {error}" + (f" ({name})" if name else ""))


class Database:
    """One SQLite file and this process's connections to it."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Open the file, make it if it isn't there.

        :raises StorageError: the file is not ours, or written by a newer version of this program.
        :raises UnavailableError: it can't be opened.
        """
        self.path = Path(path).absolute()
        self._idle: deque[sqlite3.Connection] = deque()
        self._closed = False
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _create(self.path)
            self._identity = self._stat()
        except OSError as error:
            raise UnavailableError(f"sqlite: {error}") from error
        with storage_errors():
            connection = self.connect()
            try:
                _prepare(connection, self.path)
            finally:
                connection.close()

    def connect(self, timeout: float = BUSY_TIMEOUT) -> sqlite3.Connection:
        """A new connection in autocommit mode, usable from any one thread at a time."""
        connection = sqlite3.connect(self.path, timeout=timeout, isolation_level=None, check_same_thread=False)
        # FULL: a commit is on the disk when it returns, which is what "acknowledged" means here.
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA journal_size_limit = 67108864")
        return connection

    @contextlib.contextmanager
    def reading(self, *, snapshot: bool = False) -> Iterator[sqlite3.Connection]:
        """Lend a connection for reading.

        :param snapshot: several statements shall see the same state.
        """
        connection = self.borrow()
        try:
            if snapshot:
                connection.execute("BEGIN")
            yield connection
        except sqlite3.Error as error:
            raise unavailable(error) from error
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            self.give_back(connection)

    def borrow(self) -> sqlite3.Connection:
        """A connection for reading; the caller hands it to :meth:`give_back`."""
        if self._closed:
            raise UnavailableError("sqlite: the storage is closed")
        try:
            # The most recently used one has the warmest page cache.
            return self._idle.pop()
        except IndexError:
            with storage_errors():
                return self.connect()

    def give_back(self, connection: sqlite3.Connection) -> None:
        """Return what :meth:`borrow` lent."""
        if self._closed:
            connection.close()
        else:
            self._idle.append(connection)

    def verify_identity(self) -> None:
        """:raises UnavailableError: the file under our path is gone or another one."""
        try:
            same = self._stat() == self._identity
        except OSError as error:
            raise UnavailableError(f"sqlite: {error}") from error
        if not same:
            raise UnavailableError(f"sqlite: {self.path} has been replaced by another file")

    def wal_size(self) -> int:
        """Bytes in the write-ahead log."""
        try:
            return os.stat(f"{self.path}-wal").st_size
        except FileNotFoundError:
            return 0

    def close(self) -> None:
        """Close the idle connections; lent ones close when they come back."""
        self._closed = True
        while self._idle:
            self._idle.pop().close()

    def _stat(self) -> tuple[int, int]:
        status = os.stat(self.path)
        return status.st_dev, status.st_ino


_creating = threading.Lock()


def _create(path: Path) -> None:
    """Make an empty file that only the owner reads (the journal files inherit its mode), unless there is one.

    An existing file must not be opened here: closing it would drop the POSIX locks that other connections of this
    process hold on it.
    """
    with _creating, contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    """Make the schema, once, whichever process comes first."""
    _refuse_foreign(connection, path)
    _enable_wal(connection)
    connection.execute("BEGIN IMMEDIATE")
    try:
        if not _refuse_foreign(connection, path):
            for statement in _SCHEMA:
                connection.execute(statement)
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _refuse_foreign(connection: sqlite3.Connection, path: Path) -> bool:
    """True if the schema is there, False if the file is empty."""
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version > SCHEMA_VERSION:
        raise StorageError(
            f"{path}: schema version {version} is newer than {SCHEMA_VERSION}, the newest that this program knows; "
            "use the program that wrote it, or a newer one"
        )
    tables = int(connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])
    if version == 0 and tables:
        raise StorageError(f"{path}: is a SQLite database of another program")
    return version > 0


def _enable_wal(connection: sqlite3.Connection) -> None:
    """Switch to write-ahead logging. SQLite doesn't call its busy handler for this one, so we wait ourselves."""
    deadline = time.monotonic() + BUSY_TIMEOUT
    while True:
        try:
            mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
            continue
        if mode != "wal":
            raise UnavailableError(f"sqlite: the file system does not support write-ahead logging (mode is {mode})")
        return
