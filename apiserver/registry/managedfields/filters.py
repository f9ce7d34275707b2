"""Which fields an endpoint lets nobody own, because it does not write them: a main endpoint its status, for example.

A resource hands a filter to ``record_update`` and ``apply`` for each of its endpoints.

COMPAT: rest.ResetFieldsStrategy, rest.ResetFieldsFilterStrategy, fieldpath.Filter
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from apiserver.registry.managedfields.fieldset import EMPTY, Fields, exclude, is_member, of_path, union

ANY = "*"
"""In :class:`Only`: any element (every item of a list)."""


class FieldFilter(Protocol):
    """What an endpoint may own of a set of fields. ``skipped`` are top-level fields of which it never keeps any."""

    skipped: frozenset[str]

    def __call__(self, fields: Fields) -> Fields:
        """The part of ``fields`` that may be owned."""


class Everything:
    """No restriction."""

    skipped: frozenset[str] = frozenset()

    def __call__(self, fields: Fields) -> Fields:
        return fields


class Except:
    """All but the named fields and what is below them: ``Except("status")``, ``Except("spec", "metadata.labels")``.

    :param paths: field names joined with dots.
    """

    def __init__(self, *paths: str) -> None:
        self._excluded = EMPTY
        for path in paths:
            self._excluded = union(self._excluded, of_path(tuple(f"f:{name}" for name in path.split("."))))
        self.skipped = frozenset(path for path in paths if "." not in path)
        self._rest = {label: node for label, node in self._excluded.items() if not is_member(node)}

    def __call__(self, fields: Fields) -> Fields:
        return exclude(fields, self._excluded)


class Only:
    """Nothing but what is at or below the named fields: ``Only(("spec", "containers", ANY, "resources"))``."""

    skipped: frozenset[str] = frozenset()

    def __init__(self, *paths: Sequence[str]) -> None:
        self._paths = [tuple(step if step == ANY else f"f:{step}" for step in path) for path in paths]

    def __call__(self, fields: Fields) -> Fields:
        kept = EMPTY
        for path in self._paths:
            kept = union(kept, _at(fields, path))
        return kept


def _at(fields: Fields, path: Sequence[str]) -> Fields:
    """The part of a set that is at or below a path. COMPAT: Set.FilterIncludeMatches"""
    first, rest = path[0], path[1:]
    found = {}
    for element, node in fields.items():
        if element == "." or first not in (ANY, element):
            continue
        if not rest:
            found[element] = node
            continue
        below = _at(node, rest)
        if is_member(node):
            found[element] = {".": EMPTY, **below} if below else EMPTY
        elif below:
            found[element] = below
    return found


def of_endpoint(
    subresource: str,
    *,
    has_status: bool,
    custom: bool = False,
    also: Sequence[str] = (),
    only: Sequence[str] = (),
) -> FieldFilter:
    """The filter that most kinds use: status belongs to its own endpoint, and everything else to the main one.

    :param subresource: "" for the main endpoint.
    :param has_status: the kind has a status endpoint.
    :param custom: a custom resource, whose status endpoint leaves metadata alone too.
    :param also: further fields that the status endpoint does not write, such as ``metadata.labels`` of deployments.
    :param only: the only fields that another subresource writes; none = no restriction.
    """
    if only:
        return Only(*(path.split(".") for path in only))
    if subresource == "status":
        return Except("spec", *(("metadata",) if custom else also))
    return Except("status") if has_status and not subresource else Everything()
