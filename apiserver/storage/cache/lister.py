"""Reads for admission plugins and controllers. See :class:`apiserver.api.server.Lister`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from apiserver.api.encoded import EncodedObject
from apiserver.api.rest import ListOptions
from apiserver.storage.cache.resource import ResourceCache
from apiserver.storage.cache.selection import Selection


@dataclass(frozen=True, slots=True)
class _Labels:
    """A selector of labels that must all be there."""

    equalities: tuple[tuple[str, str], ...]

    def matches(self, values: Mapping[str, str], /) -> bool:
        return all(values.get(key) == value for key, value in self.equalities)


class CacheLister:
    """A :class:`~apiserver.api.server.Lister` on a cache. The first use loads the cache."""

    def __init__(self, cache: ResourceCache) -> None:
        self._cache = cache

    def get(self, namespace: str, name: str) -> EncodedObject | None:
        """One object, or None; ``namespace`` is "" for cluster-scoped objects."""
        self._cache.load()
        return self._cache.peek(f"{self._prefix(namespace)}{name}")

    def list(self, namespace: str = "", labels: Mapping[str, str] | None = None) -> Sequence[EncodedObject]:
        """All objects (of a namespace) that carry ``labels``, in key order."""
        if not labels:
            # Admission asks this for every write: what a request's list weighs up does not matter here.
            selection = Selection(self._prefix(namespace), None, None)
            return self._cache.snapshot().objects.range(selection.start, selection.end)
        selector = _Labels(tuple(labels.items()))
        options = ListOptions(label_selector=selector, resource_version="0")
        return self._cache.list(self._prefix(namespace), options).items

    @property
    def revision(self) -> int:
        """Of the newest change that the cache has."""
        return self._cache.revision

    def wait_until_newest(self) -> None:
        """Return when everything that was acknowledged is in the cache."""
        self._cache.load()
        self._cache.wait_until_newest()

    def _prefix(self, namespace: str) -> str:
        return f"{self._cache.prefix}{namespace}/" if namespace else self._cache.prefix
