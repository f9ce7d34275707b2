"""Removing superseded rows from the log.

Called by the driver's ``compact``. First the compacted revision is stored, so that from then on nobody reads history
before it; then the rows go, in short transactions between which writers come through. A process that dies in the
middle leaves the rest to the next compaction.
"""

from __future__ import annotations

import sqlite3

from apiserver.storage.sqlite.database import SELECT_COMPACTED
from apiserver.storage.sqlite.writer import Writer

_REVISIONS_PER_TRANSACTION = 1000

_STORE_COMPACTED = "UPDATE meta SET number = ? WHERE name = 'compacted' AND number < ?"
_SELECT_SWEPT = "SELECT number FROM meta WHERE name = 'swept'"
_STORE_SWEPT = "UPDATE meta SET number = ? WHERE name = 'swept'"
_DELETE_SUPERSEDED = """DELETE FROM log WHERE revision IN (
    SELECT prev_revision FROM log WHERE revision > :after AND revision <= :until AND prev_revision > 0)"""
# The last row stays even if it is a deletion: the revision sequence goes on from it. It goes with the next compaction,
# hence the "at or after".
_DELETE_TOMBSTONES = """DELETE FROM log WHERE revision >= :after AND revision <= :until AND value IS NULL
    AND revision < (SELECT max(revision) FROM log)"""


def compact(writer: Writer, revision: int) -> None:
    """Forget what was superseded up to ``revision``. An earlier, further compaction stands.

    :raises UnavailableError: it can't be committed; what is done so far stays.
    """

    def store(connection: sqlite3.Connection) -> None:
        connection.execute(_STORE_COMPACTED, (revision, revision))

    writer.exclusively(store)
    done = False

    def sweep(connection: sqlite3.Connection) -> None:
        nonlocal done
        after = connection.execute(_SELECT_SWEPT).fetchone()[0]
        compacted = connection.execute(SELECT_COMPACTED).fetchone()[0]
        until = min(after + _REVISIONS_PER_TRANSACTION, compacted)
        window = {"after": after, "until": until}
        connection.execute(_DELETE_SUPERSEDED, window)
        connection.execute(_DELETE_TOMBSTONES, window)
        connection.execute(_STORE_SWEPT, (until,))
        done = until >= compacted

    while not done:
        writer.exclusively(sweep)
