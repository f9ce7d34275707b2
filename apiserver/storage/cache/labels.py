"""Which objects carry a label: an inverted index beside the objects.

Owned by :mod:`.contents`: changed with each event, asked by selecting lists and watches. The caller holds the cache's
lock.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping


class LabelIndex:
    """Keys by label and value. Most values have many keys or just one; one key is kept without a set around it."""

    __slots__ = ("_keys",)

    def __init__(self) -> None:
        self._keys: dict[tuple[str, str], str | set[str]] = {}

    def find(self, label: str, value: str) -> Collection[str]:
        """The keys of the objects with this label, in no order. Valid until the next change."""
        found = self._keys.get((label, value), ())
        return (found,) if isinstance(found, str) else found

    def change(self, key: str, old: Mapping[str, str], new: Mapping[str, str]) -> None:
        """The object of ``key`` had the labels ``old`` and has ``new`` now."""
        if old is new or old == new:
            return
        for pair in old.items() - new.items():
            self._remove(pair, key)
        for pair in new.items() - old.items():
            self._add(pair, key)

    def _add(self, pair: tuple[str, str], key: str) -> None:
        there = self._keys.setdefault(pair, key)
        if isinstance(there, set):
            there.add(key)
        elif there != key:
            self._keys[pair] = {there, key}

    def _remove(self, pair: tuple[str, str], key: str) -> None:
        there = self._keys.get(pair)
        if isinstance(there, set):
            there.discard(key)
            if not there:
                del self._keys[pair]
        elif there == key:
            del self._keys[pair]
