"""What a DELETE does to an object: grace periods, finalizers, propagation.

Called by :mod:`apiserver.registry.store`. Functions here change a dict in place and say what is to happen next.

COMPAT: k8s.io/apiserver/pkg/registry/rest BeforeDelete; .../generic/registry deletionFinalizersForGarbageCollection
"""

from __future__ import annotations

import calendar
import enum
import time
from dataclasses import replace
from typing import Any

from apiserver.api.errors import Conflict
from apiserver.api.names import GroupKind, GroupResource
from apiserver.api.rest import Context, DeleteOptions
from apiserver.api.strategy import Strategy

Object = dict[str, Any]

ORPHAN = "orphan"
FOREGROUND = "foregroundDeletion"


class Grace(enum.Enum):
    """How far a graceful deletion is."""

    NONE = "the kind knows no grace, or the grace is over"
    BEGUN = "deletionTimestamp was set or moved just now"
    PENDING = "somebody else's deletion is running; nothing changed"


def check_preconditions(kind: GroupKind, obj: Object, options: DeleteOptions) -> None:
    """:raises Conflict: uid or resourceVersion of ``options`` is not the object's."""
    # COMPAT: BeforeDelete puts the kind where other conflicts have the resource
    resource = GroupResource(kind.group, kind.kind)
    metadata = obj["metadata"]
    name = metadata.get("name", "")
    if options.uid is not None and options.uid != metadata.get("uid"):
        raise Conflict.for_object(
            resource,
            name,
            f"the UID in the precondition ({options.uid}) does not match the UID in record ({metadata.get('uid')}). "
            "The object might have been deleted and then recreated",
        )
    if options.resource_version is not None and options.resource_version != metadata.get("resourceVersion"):
        raise Conflict.for_object(
            resource,
            name,
            f"the ResourceVersion in the precondition ({options.resource_version}) does not match the ResourceVersion "
            f"in record ({metadata.get('resourceVersion')}). The object might have been modified",
        )


def begin_grace(strategy: Strategy, ctx: Context, obj: Object, options: DeleteOptions) -> tuple[Grace, int]:
    """Set or shorten the grace of ``obj``, in place; returns the state and the seconds that are left to wait."""
    metadata = obj["metadata"]
    asked = options.grace_period_seconds
    if asked is not None and asked < 0:
        # COMPAT: a negative grace counts as one second
        asked = 1
        options = replace(options, grace_period_seconds=asked)
    seconds = strategy.grace_period(ctx, obj, options)
    if seconds is None:
        return Grace.NONE, 0
    if metadata.get("deletionTimestamp"):
        running = metadata.get("deletionGracePeriodSeconds")
        if running is None:
            return Grace.NONE, 0
        if asked is None or asked >= running:
            return Grace.PENDING, running
        metadata["deletionTimestamp"] = _moved(metadata["deletionTimestamp"], asked - running)
        metadata["deletionGracePeriodSeconds"] = asked
        return Grace.BEGUN, asked
    metadata["deletionTimestamp"] = _moved(None, seconds)
    metadata["deletionGracePeriodSeconds"] = seconds
    _count_generation(metadata)
    return Grace.BEGUN, seconds


def mark_deleting(obj: Object) -> None:
    """Set deletionTimestamp to now with no grace, in place. COMPAT: markAsDeleting."""
    metadata = obj["metadata"]
    if not metadata.get("deletionTimestamp"):
        _count_generation(metadata)
        metadata["deletionTimestamp"] = _moved(None, 0)
    metadata["deletionGracePeriodSeconds"] = 0


def propagation_finalizers(strategy: Strategy, obj: Object, options: DeleteOptions) -> bool:
    """Add or remove the garbage collector's finalizers as the policy asks, in place; returns whether any changed."""
    metadata = obj["metadata"]
    old = list(metadata.get("finalizers") or ())
    new = [f for f in old if f not in (ORPHAN, FOREGROUND)]
    policy = _policy(strategy, old, options)
    if policy == "Orphan":
        new.append(ORPHAN)
    elif policy == "Foreground":
        new.append(FOREGROUND)
    if set(new) == set(old):
        return False
    if new:
        metadata["finalizers"] = new
    else:
        metadata.pop("finalizers", None)
    return True


def _policy(strategy: Strategy, finalizers: list[str], options: DeleteOptions) -> str:
    """COMPAT: shouldOrphanDependents, shouldDeleteDependents."""
    if options.orphan_dependents is not None:
        return "Orphan" if options.orphan_dependents else "Background"
    if options.propagation_policy is not None:
        return options.propagation_policy
    if ORPHAN in finalizers:
        return "Orphan"
    if FOREGROUND in finalizers:
        return "Foreground"
    return strategy.default_propagation or "Background"


def _count_generation(metadata: dict[str, Any]) -> None:
    if metadata.get("generation", 0) > 0:
        metadata["generation"] += 1


def _moved(timestamp: str | None, seconds: int) -> str:
    begin = time.time() if timestamp is None else calendar.timegm(time.strptime(timestamp, "%Y-%m-%dT%H:%M:%SZ"))
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(begin + seconds))
