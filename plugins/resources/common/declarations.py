"""Kinds without rules of their own, declared by one line each.

    #GROUP/VERSION     KIND          PLURAL          SCOPE       SHORT NAMES   CATEGORIES
    node.k8s.io/v1     RuntimeClass  runtimeclasses  Cluster     -             -

Words are separated by space; several short names or categories by commas; ``-`` stands for none. What a kind has
beyond that (columns, a strategy, subresources) is given by its kind's name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from apiserver.api.names import GroupVersion
from apiserver.api.resource import Resource

SCOPES = {"Namespaced": True, "Cluster": False}


def declare(table: str, more: Mapping[str, Mapping[str, Any]] | None = None) -> list[Resource]:
    """The resources of a table.

    :param more: further arguments of :class:`~apiserver.api.resource.Resource`, by kind.
    :raises ValueError: a line does not have six words, or names an unknown scope.
    """
    extra = more or {}
    return [replace(resource, **extra.get(resource.kind, {})) for resource in _rows(table)]


def _rows(table: str) -> Iterator[Resource]:
    for line in table.splitlines():
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if len(words) != 6 or words[3] not in SCOPES:
            raise ValueError(f"not a declaration of a kind: {line.strip()!r}")
        version, kind, plural, scope, short, categories = words
        yield Resource(
            *GroupVersion.parse(version),
            kind,
            plural,
            namespaced=SCOPES[scope],
            short_names=_several(short),
            categories=_several(categories),
        )


def _several(text: str) -> tuple[str, ...]:
    return () if text == "-" else tuple(text.split(","))
