"""The storage driver on SQLite: :class:`SqliteStorage`.

The registry writes and the watch cache reads through it (:class:`apiserver.api.storage.Storage`). Reads use a pool of
connections and see every commit of every process; writes go through the group commit of
:mod:`apiserver.storage.sqlite.writer`; watches through :mod:`apiserver.storage.sqlite.feed`. A process has two threads
for it: the tailer and the housekeeping.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from apiserver.api.storage import (
    CompactedError,
    FutureRevisionError,
    KeyValue,
    ListPage,
    RevisionMismatchError,
    StorageError,
    StorageWatch,
    ValueTooLargeError,
)
from apiserver.storage.sqlite.compacting import compact
from apiserver.storage.sqlite.database import SELECT_COMPACTED, SELECT_REVISION, Database, unavailable
from apiserver.storage.sqlite.feed import Feed, SqliteWatch
from apiserver.storage.sqlite.housekeeping import Housekeeping
from apiserver.storage.sqlite.peers import Peers
from apiserver.storage.sqlite.writer import Write, Writer

MAX_REQUEST_BYTES = 1_572_864
"""Largest key plus value. COMPAT: etcd --max-request-bytes default."""

_GET = """SELECT c.key, l.value, c.revision, c.create_revision FROM current c JOIN log l ON l.revision = c.revision
    WHERE c.key = ?"""
_GET_AT = """SELECT key, value, revision, create_revision FROM log WHERE key = ? AND revision <= ?
    ORDER BY revision DESC LIMIT 1"""
_LIST = """SELECT c.key, l.value, c.revision, c.create_revision FROM current c JOIN log l ON l.revision = c.revision
    WHERE c.key >= :first AND c.key < :end ORDER BY c.key LIMIT :limit"""
_COUNT = "SELECT count(*) FROM current WHERE key >= :first AND key < :end"
_LIST_AT = """SELECT l.key, l.value, l.revision, l.create_revision FROM log l INDEXED BY log_key
    WHERE l.key >= :first AND l.key < :end AND l.revision <= :revision AND NOT EXISTS (
        SELECT 1 FROM log n WHERE n.key = l.key AND n.revision > l.revision AND n.revision <= :revision)
    AND l.value IS NOT NULL ORDER BY l.key LIMIT :limit"""
_COUNT_AT = """SELECT count(*) FROM log l INDEXED BY log_key
    WHERE l.key >= :first AND l.key < :end AND l.revision <= :revision AND NOT EXISTS (
        SELECT 1 FROM log n WHERE n.key = l.key AND n.revision > l.revision AND n.revision <= :revision)
    AND l.value IS NOT NULL"""


def open_storage(url: str, options: Mapping[str, object]) -> SqliteStorage:
    """Open the store of ``sqlite:relative/path`` or ``sqlite:///absolute/path``.

    :param options: ``path`` goes before the URL's.
    :raises StorageError: the file is another program's, or a newer version's.
    :raises UnavailableError: it can't be opened.
    """
    path = options.get("path")
    if path is None:
        parts = urlsplit(url)
        path = unquote(parts.netloc + parts.path)
    if not path:
        raise StorageError(f"{url}: names no file")
    return SqliteStorage(str(path))


def prefix_end(prefix: str) -> str | bytes:
    """The first key after all keys with ``prefix``. If there is none: a blob, which SQLite sorts after any text."""
    while prefix:
        following = ord(prefix[-1]) + 1
        prefix = prefix[:-1]
        if following <= 0x10FFFF:
            # Surrogates are no characters; UTF-8 sorts as code points do.
            return prefix + chr(0xE000 if following == 0xD800 else following)
    return b""


class SqliteStorage:
    """A store in one file. See :class:`apiserver.api.storage.Storage` for what the methods do."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Open or make the file at ``path``; see :func:`open_storage`."""
        self._closing = threading.Lock()
        self._closed = False
        self._database = Database(path)
        # Before the feed looks at the log: from here on, whoever commits tells us.
        self._peers = Peers(self._database.path)
        self._feed = Feed(self._database, self._peers)
        self._writer = Writer(self._database, self._peers, self._feed.publish)
        self._housekeeping = Housekeeping(self._database, self._writer)

    def create(self, key: str, value: bytes, *, ttl: int | None = None) -> int:
        """Store a new key; returns its revision."""
        return self._put(key, value, 0, ttl)

    def update(self, key: str, value: bytes, expected_revision: int, *, ttl: int | None = None) -> int:
        """Replace the value if the key's mod revision is ``expected_revision``; returns the new revision."""
        self._refuse_no_revision(key, expected_revision)
        return self._put(key, value, expected_revision, ttl)

    def _put(self, key: str, value: bytes, expected_revision: int, ttl: int | None) -> int:
        size = len(key.encode()) + len(value)
        if size > MAX_REQUEST_BYTES:
            raise ValueTooLargeError("etcdserver: request is too large")
        expires = None if ttl is None else time.time() + ttl
        return self._writer.write(Write(key, value, expected_revision, expires))

    def delete(self, key: str, expected_revision: int) -> int:
        """Delete if the key's mod revision is ``expected_revision``; returns the revision of the deletion."""
        self._refuse_no_revision(key, expected_revision)
        return self._writer.write(Write(key, None, expected_revision, None))

    def _refuse_no_revision(self, key: str, expected_revision: int) -> None:
        """No key has this mod revision; to the writer 0 stands for a create."""
        if expected_revision <= 0:
            raise RevisionMismatchError(key, self.get(key))

    def get(self, key: str, *, revision: int | None = None) -> KeyValue | None:
        """The newest value, or the one at ``revision``."""
        if revision is None:
            row = self._fetch(_GET, (key,))
        else:
            with self._database.reading(snapshot=True) as connection:
                self._check_revision(connection, revision)
                row = connection.execute(_GET_AT, (key, revision)).fetchone()
        return KeyValue(*row) if row and row[1] is not None else None

    def list(self, prefix: str, *, start: str | None = None, limit: int = 0, revision: int | None = None) -> ListPage:
        """Keys with ``prefix`` in bytewise order."""
        first = prefix if start is None else max(prefix, start)
        arguments = {"first": first, "end": prefix_end(prefix), "limit": limit or -1, "revision": revision}
        with self._database.reading(snapshot=True) as connection:
            newest = self._check_revision(connection, revision)
            select, count = (_LIST, _COUNT) if revision is None else (_LIST_AT, _COUNT_AT)
            rows = connection.execute(select, arguments).fetchall()
            remaining = 0
            if len(rows) == limit > 0:
                arguments["first"] = rows[-1][0] + "\0"
                remaining = connection.execute(count, arguments).fetchone()[0]
        return ListPage([KeyValue(*row) for row in rows], revision or newest, remaining > 0, remaining)

    @staticmethod
    def _check_revision(connection: sqlite3.Connection, revision: int | None) -> int:
        """Refuse revisions that are gone or to come; returns the newest."""
        newest = int(connection.execute(SELECT_REVISION).fetchone()[0])
        if revision is not None:
            compacted = connection.execute(SELECT_COMPACTED).fetchone()[0]
            if revision > newest:
                raise FutureRevisionError(newest)
            if revision < compacted:
                raise CompactedError(compacted)
        return newest

    def watch(self, prefix: str, from_revision: int) -> StorageWatch:
        """All changes of keys with ``prefix`` with a revision > ``from_revision``."""
        compacted = self.compacted_revision()
        if from_revision < compacted:
            raise CompactedError(compacted)
        return SqliteWatch(self._feed, self._database, prefix, from_revision)

    def request_progress(self) -> None:
        """Report the current revision to all watches of this process, now."""
        self._feed.progress()

    def current_revision(self) -> int:
        """The newest revision that any process has committed: one read of the last row of the log."""
        return self._number(SELECT_REVISION)

    def compact(self, revision: int) -> None:
        """Forget superseded values up to and including ``revision``."""
        newest = self.current_revision()
        if revision > newest:
            raise FutureRevisionError(newest)
        compact(self._writer, revision)

    def compacted_revision(self) -> int:
        """The newest revision that has been compacted; 0 = none."""
        return self._number(SELECT_COMPACTED)

    def check(self) -> None:
        """Raise :class:`UnavailableError` when the file is gone, replaced or can't be read."""
        self._database.verify_identity()
        self.current_revision()

    def close(self) -> None:
        """End watches and let go of the file."""
        with self._closing:
            if self._closed:
                return
            self._closed = True
        self._housekeeping.close()
        self._writer.close()
        self._feed.close()
        self._peers.close()
        self._database.close()

    def _number(self, statement: str) -> int:
        row = self._fetch(statement, ())
        return int(row[0]) if row else 0

    def _fetch(self, statement: str, arguments: tuple[str, ...]) -> tuple[Any, ...] | None:
        """One row by one statement, on the shortest way."""
        connection = self._database.borrow()
        try:
            row: tuple[Any, ...] | None = connection.execute(statement, arguments).fetchone()
        except sqlite3.Error as error:
            connection.close()
            raise unavailable(error) from error
        self._database.give_back(connection)
        return row
