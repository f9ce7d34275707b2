"""Changes that the garbage collector makes to objects: ownerReferences and finalizers taken away, owners unblocked.

Each changes a dict in place, its managedFields too: nobody manages what is no longer there.

COMPAT: pkg/controller/garbagecollector patch.go, operations.go removeFinalizer
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import orjson

Object = dict[str, Any]
Change = Callable[[Object], None]

ORPHAN = "orphan"
FOREGROUND = "foregroundDeletion"


def without_owners(uids: Collection[str]) -> Change:
    """Take away the ownerReferences with these uids."""

    def change(obj: Object) -> None:
        metadata = obj["metadata"]
        _keep(metadata, "ownerReferences", lambda ref: ref.get("uid") not in uids)
        for uid in uids:
            _unmanage(metadata, "ownerReferences", f'k:{{"uid":{orjson.dumps(uid).decode()}}}')

    return change


def without_finalizer(finalizer: str) -> Change:
    """Take away a finalizer."""

    def change(obj: Object) -> None:
        metadata = obj["metadata"]
        _keep(metadata, "finalizers", lambda name: name != finalizer)
        _unmanage(metadata, "finalizers", f"v:{orjson.dumps(finalizer).decode()}")

    return change


def unblock_owners(obj: Object) -> None:
    """No ownerReference blocks the deletion of its owner any more."""
    for reference in obj["metadata"].get("ownerReferences") or ():
        if reference.get("blockOwnerDeletion"):
            reference["blockOwnerDeletion"] = False


def _keep(metadata: Object, field: str, wanted: Callable[[Any], bool]) -> None:
    kept = [item for item in metadata.get(field) or () if wanted(item)]
    if kept:
        metadata[field] = kept
    else:
        metadata.pop(field, None)


def _unmanage(metadata: Object, field: str, item: str) -> None:
    """Take ``item`` of a list out of everybody's managed fields; a list without items goes, too."""
    for entry in metadata.get("managedFields") or ():
        managed = (entry.get("fieldsV1") or {}).get("f:metadata") or {}
        items = managed.get(f"f:{field}")
        if items and items.pop(item, None) is not None and not items.keys() - {"."}:
            del managed[f"f:{field}"]
