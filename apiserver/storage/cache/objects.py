"""The objects of one resource in key order: an immutable sorted map, so that a snapshot is a reference.

A change makes a new :class:`SortedObjects` that shares all chunks but one with the old one. It costs the copy of one
chunk and of the list of chunks, which does not depend on the number of objects in any way that can be measured
(:mod:`.resource` has one change per event). Readers need no lock: what they hold never changes.

Keys are compared as strings; that is the bytewise order of their UTF-8, as etcd's.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from operator import attrgetter

from apiserver.api.encoded import EncodedObject

CHUNK = 256
"""The most objects of a chunk: a bigger one costs more to copy, a smaller one makes the list of chunks longer."""

_key = attrgetter("key")


def prefix_end(prefix: str) -> str:
    """The first string after all that begin with ``prefix``, which must not be empty."""
    return prefix[:-1] + chr(ord(prefix[-1]) + 1)


class SortedObjects:
    """Encoded objects by key; immutable."""

    __slots__ = ("_chunks", "_firsts", "_length")

    def __init__(
        self, chunks: list[list[EncodedObject]] | None = None, firsts: list[str] | None = None, length: int = 0
    ) -> None:
        """For this module; use :meth:`of`. Takes possession of the lists."""
        self._chunks = chunks or []
        self._firsts = firsts or []
        self._length = length

    @classmethod
    def of(cls, objects: Sequence[EncodedObject]) -> SortedObjects:
        """From objects in key order, each key once."""
        # Two thirds full: the first inserts after loading don't split every chunk.
        size = CHUNK * 2 // 3
        chunks = [list(objects[i : i + size]) for i in range(0, len(objects), size)]
        return cls(chunks, [chunk[0].key for chunk in chunks], len(objects))

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[EncodedObject]:
        for chunk in self._chunks:
            yield from chunk

    def get(self, key: str) -> EncodedObject | None:
        """The object of ``key``."""
        at = bisect_right(self._firsts, key) - 1
        if at < 0:
            return None
        chunk = self._chunks[at]
        i = bisect_left(chunk, key, key=_key)
        return chunk[i] if i < len(chunk) and chunk[i].key == key else None

    def put(self, obj: EncodedObject) -> SortedObjects:
        """With ``obj`` in the place of what had its key, or inserted."""
        key = obj.key
        if not self._chunks:
            return SortedObjects([[obj]], [key], 1)
        at = max(bisect_right(self._firsts, key) - 1, 0)
        chunk = self._chunks[at].copy()
        i = bisect_left(chunk, key, key=_key)
        if i < len(chunk) and chunk[i].key == key:
            chunk[i] = obj
            return SortedObjects(self._with(at, [chunk]), self._firsts, self._length)
        chunk.insert(i, obj)
        halves = [chunk] if len(chunk) <= CHUNK else _split(chunk, i)
        firsts = self._firsts.copy()
        firsts[at : at + 1] = [half[0].key for half in halves]
        return SortedObjects(self._with(at, halves), firsts, self._length + 1)

    def remove(self, key: str) -> SortedObjects:
        """Without ``key``; the same object when it isn't there."""
        at = bisect_right(self._firsts, key) - 1
        if at < 0:
            return self
        chunk = self._chunks[at].copy()
        i = bisect_left(chunk, key, key=_key)
        if i == len(chunk) or chunk[i].key != key:
            return self
        del chunk[i]
        last = at
        if at + 1 < len(self._chunks) and len(chunk) + len(self._chunks[at + 1]) <= CHUNK // 2:
            chunk += self._chunks[at + 1]
            last = at + 1
        rest = [chunk] if chunk else []
        chunks = self._chunks.copy()
        firsts = self._firsts.copy()
        chunks[at : last + 1] = rest
        firsts[at : last + 1] = [part[0].key for part in rest]
        return SortedObjects(chunks, firsts, self._length - 1)

    def count(self, start: str, end: str) -> int:
        """How many keys are in [start, end)."""
        low, i = self._locate(start)
        high, j = self._locate(end)
        if low == high:
            return max(j - i, 0)
        if low > high:
            return 0
        return sum(map(len, self._chunks[low:high])) - i + j

    def range(self, start: str, end: str, limit: int = 0) -> list[EncodedObject]:
        """The objects with keys in [start, end), at most ``limit`` (0 = all)."""
        low, i = self._locate(start)
        high, j = self._locate(end)
        if low >= high:
            found = self._chunks[low][i:j] if low == high and low < len(self._chunks) else []
            return found[:limit] if limit else found
        found = self._chunks[low][i:]
        for at in range(low + 1, high):
            if limit and len(found) >= limit:
                return found[:limit]
            found += self._chunks[at]
        if j and not (limit and len(found) >= limit):
            found += self._chunks[high][:j]
        return found[:limit] if limit else found

    def iterate(self, start: str, end: str) -> Iterator[EncodedObject]:
        """Like :meth:`range`, a chunk at a time."""
        low, i = self._locate(start)
        high, j = self._locate(end)
        for at in range(low, min(high + 1, len(self._chunks))):
            yield from self._chunks[at][i if at == low else 0 : j if at == high else None]

    def _locate(self, key: str) -> tuple[int, int]:
        """The chunk and the place in it where the first object >= ``key`` is or would be."""
        at = bisect_right(self._firsts, key) - 1
        if at < 0:
            return 0, 0
        return at, bisect_left(self._chunks[at], key, key=_key)

    def _with(self, at: int, parts: list[list[EncodedObject]]) -> list[list[EncodedObject]]:
        chunks = self._chunks.copy()
        chunks[at : at + 1] = parts
        return chunks


def _split(chunk: list[EncodedObject], inserted: int) -> list[list[EncodedObject]]:
    """Two parts. Keys that come in ascending order leave full chunks behind, not half-empty ones."""
    middle = len(chunk) - 1 if inserted == len(chunk) - 1 else len(chunk) // 2
    return [chunk[:middle], chunk[middle:]]
