"""The embedded storage driver: one SQLite file, shared by any number of threads and processes of one machine.

Entry point ``sqlite`` of the group ``apiserver.storage``. :func:`open_storage` is called in each worker process after
the fork (SQLite connections don't survive one). How it works is told in :mod:`apiserver.storage.sqlite.driver`.
"""

from __future__ import annotations

from apiserver.storage.sqlite.driver import SqliteStorage, open_storage

__all__ = ["SqliteStorage", "open_storage"]
