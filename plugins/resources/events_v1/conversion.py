"""An Event of ``events.k8s.io/v1`` and one of ``v1`` are the same thing under two names.

Stored as ``v1``; called by the registry for requests through the newer group.

COMPAT: pkg/apis/events/v1 Convert_v1_Event_To_core_Event
"""

from __future__ import annotations

from typing import Any

_RENAMED = (
    ("regarding", "involvedObject"),
    ("note", "message"),
    ("reportingController", "reportingComponent"),
    ("deprecatedSource", "source"),
    ("deprecatedFirstTimestamp", "firstTimestamp"),
    ("deprecatedLastTimestamp", "lastTimestamp"),
    ("deprecatedCount", "count"),
)
# What every core event shows, set or not, and the newer one leaves out when empty (or the other way round).
_CORE_ALWAYS = {"involvedObject": dict, "source": dict, "reportingComponent": str, "reportingInstance": str}
_CORE_NULL = ("eventTime", "firstTimestamp", "lastTimestamp")
_OPTIONAL = ("regarding", "reportingController", "reportingInstance", "note", "deprecatedCount")


def to_core(obj: dict[str, Any]) -> None:
    """Turn an event of ``events.k8s.io/v1`` into one of ``v1``, in place."""
    for new, core in _RENAMED:
        if new in obj:
            obj[core] = obj.pop(new)
    for field, kind in _CORE_ALWAYS.items():
        obj.setdefault(field, kind())
    for field in _CORE_NULL:
        obj.setdefault(field, None)


def from_core(obj: dict[str, Any]) -> None:
    """Turn an event of ``v1`` into one of ``events.k8s.io/v1``, in place."""
    for new, core in _RENAMED:
        if core in obj:
            obj[new] = obj.pop(core)
    for field in _OPTIONAL:
        if not obj.get(field, True):
            del obj[field]
