"""Selectors, and how the objects that they select are found without looking at all.

Called by :mod:`.listing` for lists and by :mod:`.stream` for watches. :class:`Selection` is what a request selects:
a range of keys and two selectors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from apiserver.api.encoded import EncodedObject
from apiserver.storage.cache.objects import prefix_end


class Selector(Protocol):
    """A label or a field selector. Frames are shared between watches that have the very same one."""

    def matches(self, values: Mapping[str, str], /) -> bool:
        """Whether an object with these labels (or fields) is selected."""

    @property
    def equalities(self) -> Sequence[tuple[str, str]]:
        """Pairs (key, value) that every selected object has; empty when there are none."""


Trait = tuple[str, str, str]
"""``("label", key, value)`` or ``("field", path, value)``: something that an object has, by which it is found."""


class Selection:
    """What a list or watch selects.

    ``scope`` is the key prefix (with a slash at the end) or the one key that can match; ``label`` and ``field`` the
    selectors, None for everything. ``trait`` is something that every selected object has, None where nothing is known.
    """

    __slots__ = ("field", "label", "scope", "trait")

    def __init__(self, scope: str, label: Selector | None, field: Selector | None) -> None:
        self.scope = scope
        self.label = label
        self.field = field
        self.trait: Trait | None = None
        if field is not None:
            # Name and namespace are in the key; they are no trait of their own.
            self.trait = _first("field", ((k, v) for k, v in field.equalities if not k.startswith("metadata.")))
        if label is not None and self.trait is None:
            self.trait = _first("label", label.equalities)

    @property
    def everything(self) -> bool:
        """Whether all objects of the scope are selected."""
        return self.label is None and self.field is None

    @property
    def start(self) -> str:
        """The first key that can match."""
        return self.scope

    @property
    def end(self) -> str:
        """The first key after those that can match."""
        return prefix_end(self.scope) if self.scope.endswith("/") else self.scope + "\0"

    def covers(self, key: str) -> bool:
        """Whether ``key`` is in the scope."""
        return key.startswith(self.scope) if self.scope.endswith("/") else key == self.scope

    def matches(self, obj: EncodedObject) -> bool:
        """Whether the selectors select ``obj``, which is in the scope."""
        if self.label is not None and not self.label.matches(obj.labels):
            return False
        return self.field is None or self.field.matches(obj.fields)

    def filter(self, objects: Iterable[EncodedObject]) -> Iterator[EncodedObject]:
        """Those of ``objects`` that match, for many of them at once."""
        if self.everything:
            yield from objects
            return
        label, field = self.label, self.field
        # Many objects share their labels, and then they are one mapping (kept, so that its identity stays its own).
        verdicts: dict[int, tuple[bool, Mapping[str, str]]] = {}
        for obj in objects:
            if label is not None:
                labels = obj.labels
                verdict = verdicts.get(id(labels))
                if verdict is None:
                    verdict = verdicts[id(labels)] = (label.matches(labels), labels)
                if not verdict[0]:
                    continue
            if field is None or field.matches(obj.fields):
                yield obj


def narrowed(scope: str, resource_prefix: str, namespaced: bool, field: Selector | None) -> str:
    """The scope of a request that selects by ``metadata.name`` or ``metadata.namespace``.

    COMPAT: SelectionPredicate.MatchesSingle: such a list or watch looks at one key only.
    """
    if field is None or not scope.endswith("/"):
        return scope
    wanted = dict(field.equalities)
    name, namespace = wanted.get("metadata.name"), wanted.get("metadata.namespace")
    if namespaced and scope == resource_prefix and namespace and "/" not in namespace:
        scope = f"{scope}{namespace}/"
    single = not namespaced or scope != resource_prefix
    return scope + name if single and name and "/" not in name else scope


def trait_value(obj: EncodedObject, kind: str, key: str) -> str | None:
    """The value of the label or field ``key`` of an object."""
    return (obj.labels if kind == "label" else obj.extra_fields).get(key)


def _first(kind: str, pairs: Iterable[tuple[str, str]]) -> Trait | None:
    for key, value in pairs:
        return kind, key, value
    return None
