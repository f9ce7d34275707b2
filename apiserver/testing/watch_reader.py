"""Reading a storage watch in a test: a thread that keeps what came, and waiting for it with a limit."""

from __future__ import annotations

import threading
from collections.abc import Callable

from apiserver.api.storage import StorageError, StorageEvent, StorageWatch, WatchBatch

PATIENCE = 20.0
"""Seconds until a test gives up waiting."""


class WatchReader:
    """Reads a watch in a thread and keeps what came."""

    def __init__(self, watch: StorageWatch) -> None:
        self.watch = watch
        self.batches: list[WatchBatch] = []
        self.error: StorageError | None = None
        self.ended = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        try:
            for batch in self.watch:
                with self._changed:
                    self.batches.append(batch)
                    self._changed.notify_all()
        except StorageError as error:
            self.error = error
        with self._changed:
            self.ended = True
            self._changed.notify_all()

    @property
    def events(self) -> list[StorageEvent]:
        """All events so far."""
        return [event for batch in list(self.batches) for event in batch.events]

    def wait_until(self, condition: Callable[[], object]) -> None:
        """Wait until ``condition`` holds; fails the test if it doesn't in time."""
        with self._changed:
            assert self._changed.wait_for(lambda: condition() or self.ended, PATIENCE), self.batches[-3:]
        assert condition(), f"the watch has ended: {self.error!r}"

    def wait_for_events(self, number: int) -> list[StorageEvent]:
        """Wait for so many events; returns them all."""
        self.wait_until(lambda: len(self.events) >= number)
        return self.events

    def wait_for_revision(self, revision: int) -> None:
        """Wait until the watch is complete up to ``revision``."""
        self.wait_until(lambda: self.batches and self.batches[-1].revision >= revision)

    def wait_for_end(self) -> None:
        """Wait until the iteration has ended."""
        with self._changed:
            assert self._changed.wait_for(lambda: self.ended, PATIENCE)

    def stop(self) -> None:
        """Close the watch and wait for the thread."""
        self.watch.close()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()
