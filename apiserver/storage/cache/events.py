"""Events as the cache keeps and hands them on.

:class:`CacheEvent` is one change with the object before and after it; the window keeps them. :class:`EventGroup` is
what the feed puts into the queues of the streams: the events of one batch that one set of watchers gets. Its frames
are built by the first stream that takes it, for all of them, and vanish with it when the last stream has taken it.
"""

from __future__ import annotations

from collections.abc import Sequence

from apiserver.api.encoded import EncodedObject
from apiserver.api.rest import WatchSource
from apiserver.storage.cache.codec import restamped
from apiserver.storage.cache.selection import Selection

ADDED = "ADDED"
MODIFIED = "MODIFIED"
DELETED = "DELETED"


class CacheEvent:
    """One change: ``obj`` after it (None: deleted), ``prev`` before it (None: created), ``time`` when it came."""

    __slots__ = ("key", "obj", "prev", "revision", "time")

    def __init__(
        self, key: str, obj: EncodedObject | None, prev: EncodedObject | None, revision: int, time: float
    ) -> None:
        self.key = key
        self.obj = obj
        self.prev = prev
        self.revision = revision
        self.time = time

    def transition(self, selection: Selection) -> str:
        """What a watcher of ``selection`` is told: ADDED, MODIFIED or DELETED; empty = nothing.

        An object that comes to match is ADDED, one that no longer matches DELETED.

        COMPAT: cacheWatcher.convertToWatchEvent.
        """
        obj, prev = self.obj, self.prev
        if selection.everything:
            now, before = obj is not None, prev is not None
        else:
            now = obj is not None and selection.matches(obj)
            before = prev is not None and selection.matches(prev)
        if now:
            return MODIFIED if before else ADDED
        return DELETED if before else ""

    def frame(self, kind: str, source: WatchSource) -> bytes:
        """The encoded event. DELETED shows the last state that matched, with this event's revision."""
        if kind == DELETED:
            assert self.prev is not None
            return source.frame(kind, restamped(self.prev, self.revision))
        assert self.obj is not None
        return source.frame(kind, self.obj)


class BatchFrames:
    """Frames of one batch, shared by its groups: the same event goes to watchers of a namespace and of everything."""

    __slots__ = ("_frames",)

    def __init__(self) -> None:
        self._frames: dict[tuple[int, str, str, object], bytes] = {}

    def frame(self, event: CacheEvent, selection: Selection, source: WatchSource) -> bytes:
        """The frame that a watcher gets of ``event``; empty when it gets none."""
        kind = event.transition(selection)
        if not kind:
            return b""
        memo = (event.revision, event.key, kind, source.key)
        frame = self._frames.get(memo)
        if frame is None:
            frame = self._frames[memo] = event.frame(kind, source)
        return frame


class EventGroup:
    """Events of one batch for the watchers of one scope and trait."""

    __slots__ = ("_frames", "_joined", "events")

    def __init__(self, events: Sequence[CacheEvent], frames: BatchFrames) -> None:
        self.events = events
        self._frames = frames
        self._joined: dict[object, bytes] = {}

    def frames(self, memo: object, selection: Selection, source: WatchSource) -> bytes:
        """The frames for one watcher, joined; ``memo`` is equal for watchers that get the same bytes."""
        joined = self._joined.get(memo)
        if joined is None:
            # Two threads may both build them: no harm, and no lock.
            frame = self._frames.frame
            joined = b"".join([frame(event, selection, source) for event in self.events])
            self._joined[memo] = joined
        return joined
