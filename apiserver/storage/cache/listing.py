"""A page of a list: which state it shows, which objects are on it, how the next page is asked for.

Called by :meth:`.resource.ResourceCache.list`. The options have passed the handler's checks.

COMPAT: Cacher.GetList, etcd3 store.GetList, storage.ShouldDelegateList.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from apiserver.api.encoded import EncodedObject
from apiserver.api.errors import BadRequest, Expired
from apiserver.api.rest import ListOptions, ListResult
from apiserver.api.storage import CompactedError, KeyValue
from apiserver.storage.cache.continuation import INCONSISTENT, decode_token, encode_token, parse_revision
from apiserver.storage.cache.loading import decoded, read_range
from apiserver.storage.cache.selection import Selection
from apiserver.storage.cache.snapshots import Snapshot

if TYPE_CHECKING:
    from apiserver.storage.cache.resource import ResourceCache

CONTINUE_EXPIRED = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without "
    "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. "
    "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or "
    "deleted between the time the first chunk was returned and now may show up in the list."
)
REVISION_EXPIRED = "The resourceVersion for the provided list is too old."


class Page:
    """What is asked for: ``selection`` from the key ``start`` on, at most ``limit`` objects (0 = all).

    ``prefix`` is the request's, to which continue tokens are relative.
    """

    __slots__ = ("limit", "prefix", "selection", "start")

    def __init__(self, prefix: str, selection: Selection, start: str, limit: int) -> None:
        self.prefix = prefix
        self.selection = selection
        self.start = max(start, selection.start)
        self.limit = limit

    def result(self, items: list[EncodedObject], revision: int, more: bool, remaining: int | None = None) -> ListResult:
        """The page, with a token for the next one if there are ``more`` objects."""
        if not more:
            return ListResult(items, str(revision))
        token = encode_token(items[-1].key[len(self.prefix) :] + "\0", revision)
        return ListResult(items, str(revision), token, remaining if self.selection.everything else None)


def list_page(cache: ResourceCache, prefix: str, options: ListOptions) -> ListResult:
    """See :meth:`.resource.ResourceCache.list`."""
    selection = cache.selection(prefix, options)
    limit = max(options.limit, 0)
    if options.continue_token:
        return _continued(cache, prefix, selection, options.continue_token, limit)
    version, match = options.resource_version, options.resource_version_match
    try:
        revision = parse_revision(version)
    except ValueError as error:
        raise BadRequest(f"invalid resource version: {error}") from None
    if not version:
        cache.wait_until_newest()
    elif not revision:
        # COMPAT: a list from the cache at any age is given whole.
        limit = 0
    else:
        cache.wait_until_fresh(revision)
        if match == "Exact" or (not match and limit):
            return _exact(cache, Page(prefix, selection, "", limit), revision, Expired(REVISION_EXPIRED))
    return _from_snapshot(cache, Page(prefix, selection, "", limit), cache.snapshot())


def _continued(cache: ResourceCache, prefix: str, selection: Selection, token: str, limit: int) -> ListResult:
    start, revision = decode_token(token)
    page = Page(prefix, selection, prefix + start, limit)
    if revision < 0:
        cache.wait_until_newest()
        return _from_snapshot(cache, page, cache.snapshot())
    cache.wait_until_fresh(revision)
    expired = Expired(CONTINUE_EXPIRED, continue_token=encode_token(start, INCONSISTENT))
    return _exact(cache, page, revision, expired)


def _exact(cache: ResourceCache, page: Page, revision: int, expired: Expired) -> ListResult:
    snapshot = cache.snapshot_at(revision)
    if snapshot is not None:
        return _from_snapshot(cache, page, snapshot)
    try:
        return _from_history(cache, page, revision)
    except CompactedError:
        raise expired from None


def _from_snapshot(cache: ResourceCache, page: Page, snapshot: Snapshot) -> ListResult:
    objects, revision = snapshot
    selection, limit = page.selection, page.limit
    start, end = page.start, selection.end
    if selection.everything:
        items = objects.range(start, end, limit)
        more = limit > 0 and len(items) == limit
        remaining = objects.count(start, end) - limit if more else 0
        if remaining:
            cache.keep(snapshot)
        return page.result(items, revision, remaining > 0, remaining)
    candidates = cache.candidates(selection, objects)
    if candidates is not None and not limit:
        return page.result(list(selection.filter(o for o in candidates if o.key >= start)), revision, False)
    items, more = _selected(objects.iterate(start, end), selection, limit)
    if more:
        cache.keep(snapshot)
    return page.result(items, revision, more)


def _from_history(cache: ResourceCache, page: Page, revision: int) -> ListResult:
    """The page as the store remembers it."""
    selection = page.selection

    def objects(items: Iterable[KeyValue]) -> Iterator[EncodedObject]:
        for item in items:
            if selection.covers(item.key):
                # What has not changed since needs no decoding.
                obj = cache.known(item.key, item.mod_revision)
                obj = obj or decoded(cache.codec, item.key, item.value, item.mod_revision)
                if obj is not None:
                    yield obj

    if selection.everything:
        part = cache.storage.list(page.prefix, start=page.start, limit=page.limit, revision=revision)
        return page.result(list(objects(part.items)), revision, part.more, part.remaining)
    stored = read_range(cache.storage, page.prefix, page.start, revision, cache.settings.page)
    items, more = _selected(objects(stored), selection, page.limit)
    return page.result(items, revision, more)


def _selected(objects: Iterator[EncodedObject], selection: Selection, limit: int) -> tuple[list[EncodedObject], bool]:
    """Those that match, up to ``limit``, and whether any object follows the last of them.

    COMPAT: the object that follows need not match: a token then leads to an empty last page.
    """
    matching = selection.filter(objects)
    items = list(islice(matching, limit)) if limit else list(matching)
    return items, bool(limit) and len(items) == limit and next(objects, None) is not None
