"""Compaction: forgetting, every few minutes, what was superseded an interval ago.

The server starts one :class:`Compactor` per process. Of all processes and servers that share a store, one wins each
round: the one that replaces the key ``compact_rev_key``. It then compacts to the revision that was current at the
round before, so history always reaches back one interval at least. The key and its value are kube-apiserver's, so both
take turns on one etcd. COMPAT: storage/etcd3/compact.go.
"""

from __future__ import annotations

import logging
import threading

from apiserver.api.storage import CompactedError, KeyExistsError, RevisionMismatchError, Storage, StorageError

logger = logging.getLogger(__name__)

COMPACT_REV_KEY = "compact_rev_key"
"""Where the set agrees on whose turn it is. Not under the prefix of objects."""

DEFAULT_INTERVAL = 300.0
"""Seconds. COMPAT: --etcd-compaction-interval default."""


class Compactor:
    """The rounds of one process."""

    def __init__(self, storage: Storage, interval: float = DEFAULT_INTERVAL) -> None:
        """:param interval: seconds between two rounds; 0 = never compact."""
        self._storage = storage
        self._interval = interval
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._turn = 0
        self._revision = 0

    def start(self) -> None:
        """Run rounds in a thread until :meth:`stop`."""
        if self._interval > 0:
            self._thread = threading.Thread(target=self._run, name="compactor", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """End the thread; returns when a running round has ended."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def round(self) -> bool:
        """Take a turn; True if this process has won it (and has compacted, if it knows a revision to compact to).

        :raises StorageError: the store doesn't work; the next round tries again.
        """
        target = self._revision
        try:
            self._turn = self._revision = self._take(target)
        except RevisionMismatchError as mismatch:
            self._turn = mismatch.current.mod_revision if mismatch.current else 0
            self._revision = self._storage.current_revision()
            return False
        if target:
            self._storage.compact(target)
            logger.info("compacted the store up to revision %d", target)
        return True

    def _take(self, target: int) -> int:
        """Replace the key; returns the revision of that."""
        value = str(target).encode()
        if self._turn:
            return self._storage.update(COMPACT_REV_KEY, value, self._turn)
        try:
            return self._storage.create(COMPACT_REV_KEY, value)
        except KeyExistsError:
            raise RevisionMismatchError(COMPACT_REV_KEY, self._storage.get(COMPACT_REV_KEY)) from None

    def _run(self) -> None:
        while not self._stop.wait(self._interval):
            try:
                self.round()
            except CompactedError as error:
                logger.info("somebody else compacts this store: %s", error)
            except StorageError as error:
                logger.warning("compaction failed, trying again in %g s: %s", self._interval, error)
