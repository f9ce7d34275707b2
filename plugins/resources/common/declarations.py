"""Kinds without rules of their own, declared by one line each.

    #GROUP/VERSION             KIND          PLURAL          SCOPE       SHORT NAMES   CATEGORIES  SINCE
    node.k8s.io/v1             RuntimeClass  runtimeclasses  Cluster     -             -
    networking.k8s.io/v1beta1  IPAddress     ipaddresses     Cluster     ip            -           1.31

Words are separated by space; several short names or categories by commas; ``-`` stands for none. The last word, the
Kubernetes minor that the version came with, is left out when every minor that can be emulated has it. What a kind has
beyond that (columns, a strategy, subresources) is given by its kind's name for all its versions, or by version and
name for one of them.
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

    :param more: further arguments of :class:`~apiserver.api.resource.Resource`, by ``Kind`` or ``group/v1 Kind``.
    :raises ValueError: a line does not have six or seven words, or names an unknown scope or minor.
    """
    extra = more or {}
    return [replace(resource, **_beyond(resource, extra)) for resource in _rows(table)]


def _beyond(resource: Resource, more: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    return more.get(f"{resource.group_version} {resource.kind}", more.get(resource.kind, {}))


def _rows(table: str) -> Iterator[Resource]:
    for line in table.splitlines():
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if not 6 <= len(words) <= 7 or words[3] not in SCOPES:
            raise ValueError(f"not a declaration of a kind: {line.strip()!r}")
        version, kind, plural, scope, short, categories, *since = words
        yield Resource(
            *GroupVersion.parse(version),
            kind,
            plural,
            namespaced=SCOPES[scope],
            short_names=_several(short),
            categories=_several(categories),
            introduced=int(since[0].removeprefix("1.")) if since else 0,
        )


def _several(text: str) -> tuple[str, ...]:
    return () if text == "-" else tuple(text.split(","))
