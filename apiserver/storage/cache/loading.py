"""Reading a resource from the store: all of it at one revision, its past events, one object, an old page.

Called by :mod:`.resource` and :mod:`.listing`; runs in the thread of the request that needs it.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence

from apiserver.api.encoded import EncodedObject
from apiserver.api.errors import TooManyRequests
from apiserver.api.storage import EventType, KeyValue, Storage, StorageEvent, UnavailableError
from apiserver.storage.cache.codec import Codec
from apiserver.storage.cache.events import CacheEvent

log = logging.getLogger(__name__)

ATTEMPTS = 3
"""How often something is tried that the feed's progress can undo."""

HISTORY_SECONDS = 10.0
"""How long reading past events may take."""


def not_ready(seconds: float = 0.0) -> TooManyRequests:
    """The answer while a cache can't be loaded, which has been so for ``seconds``.

    COMPAT: the Cacher's text; Retry-After grows from 1 to 30 with the time.
    """
    return TooManyRequests("storage is (re)initializing", retry_after=min(max(round(0.06 * seconds**2), 1), 30))


def decoded(codec: Codec, key: str, value: bytes, revision: int) -> EncodedObject | None:
    """The object of a stored value, or None, with a line in the log, when it can't be read."""
    try:
        return codec.decode_stored(key, value, revision)
    except Exception:  # one bad value must not take the whole resource away
        log.exception("the stored value of %s (revision %d) can't be decoded; the object is left out", key, revision)
        return None


def read_all(storage: Storage, prefix: str, codec: Codec, page: int) -> tuple[list[EncodedObject], int]:
    """All objects below ``prefix`` and the revision of that state.

    :raises CompactedError: it took so long that the revision of the first page is gone.
    """
    objects: list[EncodedObject] = []
    start: str | None = None
    revision: int | None = None
    while True:
        part = storage.list(prefix, start=start, limit=page, revision=revision)
        revision = part.revision if revision is None else revision
        for item in part.items:
            obj = decoded(codec, item.key, item.value, item.mod_revision)
            if obj is not None:
                objects.append(obj)
        if not part.more:
            return objects, revision
        start = part.items[-1].key + "\0"


def read_range(storage: Storage, prefix: str, start: str, revision: int, page: int) -> Iterator[KeyValue]:
    """The keys below ``prefix``, from ``start`` on, as they were at ``revision``.

    :raises CompactedError: nobody knows any more.
    """
    while True:
        part = storage.list(prefix, start=start, limit=page, revision=revision)
        yield from part.items
        if not part.more:
            return
        start = part.items[-1].key + "\0"


def read_history(
    storage: Storage,
    prefix: str,
    codec: Codec,
    after: int,
    until: int,
    known: Callable[[str, int], EncodedObject | None],
) -> Sequence[CacheEvent]:
    """The events below ``prefix`` after the revision ``after``, up to and including ``until``.

    :param known: finds an object of a key and revision that need not be decoded again.
    :raises CompactedError: the store has forgotten the first of them.
    """
    newest: dict[str, EncodedObject | None] = {}

    def obj_of(event: StorageEvent) -> EncodedObject | None:
        if event.type is EventType.DELETE or event.value is None:
            return None
        found = known(event.key, event.revision)
        return found or decoded(codec, event.key, event.value, event.revision)

    def prev_of(event: StorageEvent) -> EncodedObject | None:
        if event.key in newest:
            return newest[event.key]
        if event.prev_value is None:
            return None
        return decoded(codec, event.key, event.prev_value, event.prev_revision)

    events: list[CacheEvent] = []
    now = time.monotonic()
    for event in _past(storage, prefix, after, until):
        obj, prev = obj_of(event), prev_of(event)
        newest[event.key] = obj
        if obj is not None or prev is not None:
            events.append(CacheEvent(event.key, obj, prev, event.revision, now))
    return events


def _past(storage: Storage, prefix: str, after: int, until: int) -> Iterator[StorageEvent]:
    watch = storage.watch(prefix, after)
    # A store that is away makes a watch wait; a request can't.
    timer = threading.Timer(HISTORY_SECONDS, watch.close)
    timer.daemon = True
    timer.start()
    try:
        storage.request_progress()
        for batch in watch:
            yield from (event for event in batch.events if event.revision <= until)
            if batch.revision >= until:
                return
    finally:
        timer.cancel()
        watch.close()
    raise UnavailableError(f"the history of {prefix} could not be read in {HISTORY_SECONDS:.0f} seconds")
