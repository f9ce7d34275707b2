"""The storage interface: what a driver offers to the registry and the watch cache.

A driver is chosen by URL scheme (entry point group ``apiserver.storage``). It stores opaque bytes under
slash-separated keys in one sequence of revisions, as etcd does: every successful write of any key takes the next
revision. Callers are :mod:`apiserver.storage.cache` (reads and watches) and :mod:`apiserver.registry` (writes).
``apiserver.testing.storage_contract`` holds the suite that every driver passes.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class KeyValue:
    """One key as stored.

    ``mod_revision`` is the revision of the last write of this key, ``create_revision`` that of the write which
    made it exist.
    """

    key: str
    value: bytes
    mod_revision: int
    create_revision: int


@dataclass(frozen=True, slots=True)
class ListPage:
    """A part of a range, in bytewise key order, as it was at ``revision``.

    ``more`` tells whether keys follow; ``remaining`` how many.
    """

    items: Sequence[KeyValue]
    revision: int
    more: bool
    remaining: int


class EventType(enum.Enum):
    """What happened to a key. A create is a PUT whose ``prev_value`` is None."""

    PUT = "PUT"
    DELETE = "DELETE"


@dataclass(frozen=True, slots=True)
class StorageEvent:
    """One change of one key.

    ``value`` is None for a DELETE. ``prev_value`` is the value before the change (None for a create);
    ``prev_revision`` its mod revision (0 for a create). ``revision`` is the change's own.
    """

    type: EventType
    key: str
    value: bytes | None
    prev_value: bytes | None
    revision: int
    prev_revision: int


@dataclass(frozen=True, slots=True)
class WatchBatch:
    """What a watch delivers at once: events in revision order, complete up to ``revision``.

    A batch without events is a progress notification: nothing else happened up to ``revision``. All events of one
    revision come in one batch.
    """

    events: Sequence[StorageEvent]
    revision: int


class StorageError(Exception):
    """The root of what a driver raises."""


class KeyExistsError(StorageError):
    """``create`` found the key."""


class RevisionMismatchError(StorageError):
    """A guarded write found another mod revision than expected.

    ``current`` is what is stored now, None when the key is gone.
    """

    def __init__(self, key: str, current: KeyValue | None) -> None:
        super().__init__(f"{key}: modified since it was read")
        self.key = key
        self.current = current


class CompactedError(StorageError):
    """The revision asked for is older than what the store still knows. ``compacted`` is the oldest gone one."""

    def __init__(self, compacted: int) -> None:
        super().__init__(f"the requested revision has been compacted (up to {compacted})")
        self.compacted = compacted


class FutureRevisionError(StorageError):
    """The revision asked for has not happened yet. ``current`` is the newest."""

    def __init__(self, current: int) -> None:
        super().__init__(f"the requested revision is in the future (now {current})")
        self.current = current


class ValueTooLargeError(StorageError):
    """The store does not take a value of this size. Text as etcd's: ``etcdserver: request is too large``."""


class UnavailableError(StorageError):
    """The store can't be reached or can't commit now; nothing is known about the outcome of a write."""


class StorageWatch(Protocol):
    """A running watch. Iterating blocks; it ends after :meth:`close` and raises :class:`StorageError` on trouble.

    A watch survives a store that is away for a while by itself where it can resume without a gap; where it can't
    (history compacted) it raises :class:`CompactedError`.
    """

    def __iter__(self) -> Iterator[WatchBatch]: ...

    def close(self) -> None:
        """End the iteration, from any thread."""


class Storage(Protocol):
    """What the registry needs of a store. All methods may be called from many threads."""

    def create(self, key: str, value: bytes, *, ttl: int | None = None) -> int:
        """Store a new key; returns its revision.

        :param ttl: seconds after which the store deletes the key by itself (visible to watches as DELETE).
        :raises KeyExistsError: the key exists.
        :raises ValueTooLargeError: the store refuses the size.
        """

    def get(self, key: str, *, revision: int | None = None) -> KeyValue | None:
        """The newest value (linearizable), or the one at ``revision``.

        :raises CompactedError: / :raises FutureRevisionError: for ``revision``.
        """

    def list(self, prefix: str, *, start: str | None = None, limit: int = 0, revision: int | None = None) -> ListPage:
        """Keys with ``prefix`` in bytewise order, from ``start`` (inclusive) on, at most ``limit`` (0 = all).

        :param revision: None = newest.
        :raises CompactedError: / :raises FutureRevisionError: for ``revision``.
        """

    def update(self, key: str, value: bytes, expected_revision: int, *, ttl: int | None = None) -> int:
        """Replace the value if the key's mod revision is ``expected_revision``; returns the new revision.

        :raises RevisionMismatchError: somebody else wrote (or deleted) it; carries what is there now.
        """

    def delete(self, key: str, expected_revision: int) -> int:
        """Delete if the key's mod revision is ``expected_revision``; returns the revision of the deletion.

        :raises RevisionMismatchError: as for :meth:`update`.
        """

    def watch(self, prefix: str, from_revision: int) -> StorageWatch:
        """All changes of keys with ``prefix`` with a revision > ``from_revision``, in order, without a gap.

        Also sends progress batches while nothing happens (at least every few seconds) and soon after
        :meth:`request_progress`.

        :raises CompactedError: the history from there is gone (here or in the iteration).
        """

    def request_progress(self) -> None:
        """Ask that running watches report the current revision soon. Cheap; needs no answer."""

    def current_revision(self) -> int:
        """The newest revision (linearizable: every write acknowledged by any process before the call is included)."""

    def compact(self, revision: int) -> None:
        """Forget superseded values up to and including ``revision``."""

    def compacted_revision(self) -> int:
        """The newest revision that has been compacted; 0 = none."""

    def check(self) -> None:
        """Raise :class:`UnavailableError` when the store doesn't answer within its health timeout (2 s)."""

    def close(self) -> None:
        """End watches and let go of files and connections. Later calls raise :class:`UnavailableError`."""
