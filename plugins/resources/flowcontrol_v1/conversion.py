"""Priority levels of ``v1beta1`` and ``v1beta2``, which called their shares by another name.

COMPAT: pkg/apis/flowcontrol/v1beta2 Convert_v1beta2_LimitedPriorityLevelConfiguration_To_flowcontrol
"""

from __future__ import annotations

from typing import Any

OLD, NEW = "assuredConcurrencyShares", "nominalConcurrencyShares"


def _renamed(obj: dict[str, Any], name: str, other: str) -> None:
    limited = (obj.get("spec") or {}).get("limited") or {}
    if name in limited:
        limited[other] = limited.pop(name)


def to_v1beta2(obj: dict[str, Any]) -> None:
    """Turn a stored priority level into one of the older versions, in place."""
    _renamed(obj, NEW, OLD)


def from_v1beta2(obj: dict[str, Any]) -> None:
    """Turn a priority level of the older versions into a stored one, in place."""
    _renamed(obj, OLD, NEW)
