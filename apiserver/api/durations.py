"""Times and ages as people read them in tables.

COMPAT: k8s.io/apimachinery/pkg/util/duration HumanDuration, ShortHumanDuration
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Any

UNKNOWN = "<unknown>"
INVALID = "<invalid>"

_MINUTE = 60
_HOUR = 60 * _MINUTE
_DAY = 24 * _HOUR
_YEAR = 365 * _DAY

# Below the limit (seconds), a duration is shown in whole steps of the unit, with the rest in the smaller unit if there
# is one and the rest is not zero.
_SCALE: tuple[tuple[float, int, str, int, str], ...] = (
    (2 * _MINUTE, 1, "s", 0, ""),
    (10 * _MINUTE, _MINUTE, "m", 1, "s"),
    (3 * _HOUR, _MINUTE, "m", 0, ""),
    (8 * _HOUR, _HOUR, "h", _MINUTE, "m"),
    (2 * _DAY, _HOUR, "h", 0, ""),
    (8 * _DAY, _DAY, "d", _HOUR, "h"),
    (2 * _YEAR, _DAY, "d", 0, ""),
    (8 * _YEAR, _YEAR, "y", _DAY, "d"),
    (float("inf"), _YEAR, "y", 0, ""),
)


def human_duration(seconds: float) -> str:
    """``seconds`` with two or three digits that matter: ``45s``, ``3m20s``, ``5d``. Clock skew of a second is now."""
    whole = int(seconds)
    if whole < -1:
        return INVALID
    whole = max(whole, 0)
    for limit, unit, mark, small, small_mark in _SCALE:
        if whole < limit:
            count, rest = divmod(whole, unit)
            part = rest // small if small else 0
            return f"{count}{mark}{part}{small_mark}" if part else f"{count}{mark}"
    raise AssertionError("the last limit is infinite")


def parse_time(text: str) -> datetime | None:
    """An RFC 3339 time, None for what is none."""
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        return None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def since(value: Any) -> str:
    """The age of a time stamp of an object. COMPAT: translateTimestampSince, translateMicroTimestampSince."""
    if not value:
        return UNKNOWN
    parsed = parse_time(value)
    return UNKNOWN if parsed is None else human_duration(time.time() - parsed.timestamp())


def now() -> str:
    """The current time as ``metav1.Time`` writes it: RFC 3339, UTC, whole seconds."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
