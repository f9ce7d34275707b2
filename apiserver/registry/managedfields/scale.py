"""Ownership of ``spec.replicas`` seen through a scale endpoint, and back. Called by the storage of ``/scale``.

The Scale object shows the entries of its parent that own the replicas; what becomes of them there is carried over.

COMPAT: managedfields ScaleHandler
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from apiserver.registry.managedfields import entries
from apiserver.registry.managedfields.entries import Entry, Managers
from apiserver.registry.managedfields.fieldset import Fields, contains, difference, of_path

SCALE_VERSION: Final = "autoscaling/v1"
_IN_SCALE: Final = ("f:spec", "f:replicas")

ReplicasPaths = Mapping[str, tuple[str, ...] | None]
"""apiVersion of the parent -> where its replicas are, as field names; None if it has no such field."""

Entries = list[dict[str, Any]] | None


def to_scale(parent: Entries, paths: ReplicasPaths) -> list[dict[str, Any]]:
    """The managedFields of the Scale object.

    :param parent: ``metadata.managedFields`` of the scaled object.
    """
    managers: Managers = {}
    for owner, entry in entries.decode(parent, trusted=True).items():
        path = _elements(paths.get(entry.api_version))
        if path and contains(entry.fields, path):
            managers[owner] = Entry(SCALE_VERSION, of_path(_IN_SCALE), entry.time)
    return entries.encode(managers)


def to_parent(parent: Entries, scale: Entries, api_version: str, paths: ReplicasPaths) -> list[dict[str, Any]]:
    """The managedFields of the scaled object after a write to its Scale; empty if nobody owns anything.

    An owner that comes in through the Scale has no time.

    :param parent: before the write.
    :param scale: of the Scale object after the write.
    :param api_version: the parent's version at this endpoint.
    """
    before = entries.decode(parent, trusted=True)
    in_scale = entries.decode(scale, trusted=True)
    managers: Managers = {}
    for owner, entry in before.items():
        if entry.api_version not in paths:
            continue
        path = _elements(paths[entry.api_version])
        if not path or not contains(entry.fields, path):
            managers[owner] = entry
        elif owner in in_scale:
            managers[owner] = entry
            del in_scale[owner]
        else:
            left: Fields = difference(entry.fields, of_path(path))
            if left:
                managers[owner] = entry.owning(left)
    for owner, entry in in_scale.items():
        path = _elements(paths.get(api_version))
        if path and contains(entry.fields, _IN_SCALE):
            since = before[owner].time if owner in before else ""
            managers[owner] = Entry(api_version, of_path(path), since)
    return entries.encode(managers)


def _elements(path: tuple[str, ...] | None) -> tuple[str, ...]:
    return tuple(f"f:{name}" for name in path or ())
