"""The stream of one watch on the cache: a queue of event groups that the feed fills and one consumer empties.

Made by :meth:`.resource.ResourceCache.watch`. The feed appends to the queue under the cache's lock and wakes the
consumer once per batch; selectors are applied and frames built in :meth:`CacheWatch.take`, by the consumer, without
any lock. What exists already (the initial state, or the events since the revision asked for) is a backlog that is
handed out in parts, before the queue.
"""

from __future__ import annotations

import logging
import math
import random
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from apiserver.api.encoded import EncodedObject
from apiserver.api.errors import ApiError, InternalError
from apiserver.api.rest import WatchSource
from apiserver.api.stream import WatchStream
from apiserver.storage.cache.events import ADDED, CacheEvent, EventGroup
from apiserver.storage.cache.freshness import Freshness
from apiserver.storage.cache.selection import Selection

if TYPE_CHECKING:
    from apiserver.storage.cache.watchers import Watchers

log = logging.getLogger(__name__)

BOOKMARK_SECONDS = 60.0
"""COMPAT: defaultBookmarkFrequency."""

BEFORE_DEADLINE = 2.0
"""Seconds before the end at which the last bookmark is sent. COMPAT: cacheWatcher.nextBookmarkTime."""

PART = 200
"""How many objects or events of the backlog one ``take`` looks at: more would make the other streams wait."""

Wake = Callable[[WatchStream], None]


class CacheWatch(WatchStream):
    """A watch.

    :param deadline: ``time.monotonic()`` at which it ends.
    :param bookmarks: seconds between bookmarks; 0 = none.
    :param revision: where it begins: the queue gets what comes after it, the backlog ends there.
    """

    def __init__(
        self,
        selection: Selection,
        source: WatchSource,
        *,
        watchers: Watchers,
        freshness: Freshness,
        revision: int,
        deadline: float = math.inf,
        bookmarks: float = 0.0,
    ) -> None:
        self.selection = selection
        self.queue: deque[EventGroup] = deque()
        self.produced = 0
        self.consumed = 0
        self.signalled = False
        self._source = source
        # Watchers with equal memos get the same bytes for the same group. Identity will do for the selectors: parsers
        # give the same one for the same text, and hashing them would cost more than all the rest. (No selector of
        # this group's watchers can have vanished and left its identity to one that came later: that one's watcher
        # does not get the group.)
        self._memo = (source.key, id(selection.label), id(selection.field))
        self._watchers = watchers
        self._freshness = freshness
        self._backlog: Sequence[EncodedObject] | Sequence[CacheEvent] = ()
        self._position = 0
        self._deadline = deadline
        self._bookmarks = bookmarks
        self._next_bookmark = self._bookmark_after(time.monotonic())
        self._initial_end = False
        self._revision = revision
        self._ending = False
        self._finished = False
        self._wake: Wake | None = None

    def begin(self, backlog: Sequence[EncodedObject] | Sequence[CacheEvent], *, initial_end: bool = False) -> None:
        """What to send first: objects (as ADDED) or events. Called before the consumer has the stream.

        :param initial_end: whether a bookmark ends the initial state.
        """
        self._backlog = backlog
        self._initial_end = initial_end

    def subscribe(self, wake: Wake) -> None:
        self._wake = wake
        if self._ending or self._pending():
            self.wake()

    def wake(self) -> None:
        """Tell the consumer that there is something, unless it has been told and has not come yet."""
        wake = self._wake
        if wake is not None and not self.signalled:
            self.signalled = True
            wake(self)

    def take(self, now: float) -> Sequence[bytes] | None:
        """See :class:`~apiserver.api.stream.WatchStream`.

        Gives at most a part of the backlog; :meth:`next_timer` is then in the past, so that the consumer comes again
        when it has sent that.
        """
        if self._finished:
            return None
        # Before the queue is looked at: the producer appends first and then looks whether it must wake.
        self.signalled = False
        ending = self._ending
        if now >= self._deadline:
            ending, self._backlog, self._initial_end = True, (), False
        # Whatever came up to this revision is in the queue already.
        revision = self._freshness.revision
        try:
            frames = self._frames(revision, now)
        except Exception as error:  # whatever a conversion or a plugin's Table raises
            frames, ending = [self._error(error)], True
            self.abandon()
        if ending and not self._pending():
            self._finish()
            return frames or None
        return frames

    def next_timer(self) -> float:
        if self._ending or self._finished or self._backlog:
            return 0.0
        return min(self._deadline, self._next_bookmark)

    @property
    def on_demand(self) -> bool:
        return bool(self._backlog)

    def close(self) -> None:
        self._finish()
        self.wake()
        super().close()

    def terminate(self) -> None:
        self.end()

    def end(self) -> None:
        """Send what waits, then end."""
        self._watchers.remove(self)
        self._ending = True
        self.wake()

    def abandon(self) -> None:
        """End without sending what waits: the consumer is too slow. Called by :class:`.watchers.Watchers`."""
        self._ending = True
        self._backlog = ()
        self._initial_end = False
        self.queue.clear()

    def _finish(self) -> None:
        self._finished = True
        self._watchers.remove(self)
        self.abandon()

    def _pending(self) -> bool:
        return bool(self.queue or self._backlog or self._initial_end)

    def _frames(self, revision: int, now: float) -> list[bytes]:
        frames: list[bytes] = []
        if self._backlog:
            self._take_backlog(frames)
            if self._backlog:
                return frames
        if self._initial_end:
            frames.append(self._source.bookmark(self._revision, True))
            self._initial_end = False
        queue, memo = self.queue, self._memo
        while queue:
            group = queue.popleft()
            self.consumed += len(group.events)
            self._revision = group.events[-1].revision
            joined = group.frames(memo, self.selection, self._source)
            if joined:
                frames.append(joined)
        if now >= self._next_bookmark:
            # Events of a batch that is still being handed out are newer than what all caches have seen.
            self._revision = max(self._revision, revision)
            frames.append(self._source.bookmark(self._revision, False))
            self._next_bookmark = self._bookmark_after(now)
        return frames

    def _take_backlog(self, frames: list[bytes]) -> None:
        backlog, begin = self._backlog, self._position
        self._position = begin + PART
        source, selection = self._source, self.selection
        for item in backlog[begin : self._position]:
            if isinstance(item, EncodedObject):
                frames.append(source.frame(ADDED, item))
            elif selection.covers(item.key) and (kind := item.transition(selection)):
                frames.append(item.frame(kind, source))
        if self._position >= len(backlog):
            self._backlog = ()

    def _bookmark_after(self, now: float) -> float:
        """COMPAT: cacheWatcher.nextBookmarkTime, with the jitter that spreads many watches."""
        if not self._bookmarks:
            return math.inf
        regular = now + self._bookmarks * random.uniform(1.0, 1.25)  # noqa: S311 # nothing secret
        last = self._deadline - BEFORE_DEADLINE
        if last <= now:
            return math.inf
        return min(regular, last)

    def _error(self, error: Exception) -> bytes:
        if not isinstance(error, ApiError):
            log.exception("a watch on %s ends: an event can't be encoded", self.selection.scope)
            error = InternalError(str(error))
        return self._source.error(error.status())


class ErrorWatch(WatchStream):
    """A stream of one ERROR event.

    COMPAT: newErrWatcher: errors that are found after the checks of the options don't become the answer's status.
    """

    def __init__(self, error: ApiError, source: WatchSource) -> None:
        self._frames: list[bytes] | None = [source.error(error.status())]

    def subscribe(self, wake: Wake) -> None:
        wake(self)

    def take(self, now: float) -> Sequence[bytes] | None:
        frames, self._frames = self._frames, None
        return frames

    def next_timer(self) -> float:
        return 0.0

    def close(self) -> None:
        self._frames = None
        super().close()
