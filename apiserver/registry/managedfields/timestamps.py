"""Writes that change nothing but times of managedFields are no writes. Called by the store before it stores.

COMPAT: endpoints/handlers/fieldmanager IgnoreManagedFieldsTimestampsTransformer
"""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]


def keep_times(live: Object, new: Object) -> None:
    """Give ``new`` the times of ``live`` if it differs in nothing else, in place.

    Both are in the same version and normalised; their resourceVersion counts as part of them.
    """
    old, fresh = live["metadata"].get("managedFields"), new["metadata"].get("managedFields")
    if not old or not fresh or len(old) != len(fresh) or old == fresh:
        return
    if not all(map(_same_but_time, old, fresh)):
        return
    aside = new["metadata"]["managedFields"]
    new["metadata"]["managedFields"] = old
    if live != new:
        new["metadata"]["managedFields"] = aside


def _same_but_time(left: Object, right: Object) -> bool:
    return left is right or {**left, "time": None} == {**right, "time": None}
