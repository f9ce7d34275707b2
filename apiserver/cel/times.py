"""Times and durations in the forms that CEL and OpenAPI formats accept, exact to the nanosecond.

Called for values of custom resources (formats ``date``, ``date-time``, ``duration``) and for literals in expressions.
"""

from __future__ import annotations

import datetime
import re
from fractions import Fraction
from typing import Final

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

_NANOS: Final = 10**9
_LONGEST: Final = 100
_LIMIT: Final = 315_576_000_000  # seconds of google.protobuf.Duration

_UNITS: Final[dict[str, int]] = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ms": 10**6,
    "s": _NANOS,
    "m": 60 * _NANOS,
    "h": 3600 * _NANOS,
}
_PART: Final = re.compile(r"([0-9]*(?:\.[0-9]*)?)(ns|us|µs|μs|ms|s|m|h)")
_RFC3339: Final = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9})\d*)?(?:[Zz]|([+-])(\d{2}):(\d{2}))", re.ASCII
)
_DATE: Final = re.compile(r"(\d{4})-(\d{2})-(\d{2})", re.ASCII)

# COMPAT: strfmt.ParseDuration reads words for the units, too
_WORDS: Final[dict[str, int]] = {
    **dict.fromkeys(("ns", "nano", "nanosecond"), 1),
    **dict.fromkeys(("us", "µs", "micro", "microsecond"), 10**3),
    **dict.fromkeys(("ms", "milli", "millisecond"), 10**6),
    **dict.fromkeys(("s", "sec", "second"), _NANOS),
    **dict.fromkeys(("m", "min", "minute"), 60 * _NANOS),
    **dict.fromkeys(("h", "hr", "hour"), 3600 * _NANOS),
    **dict.fromkeys(("d", "day"), 24 * 3600 * _NANOS),
    **dict.fromkeys(("w", "wk", "week"), 7 * 24 * 3600 * _NANOS),
}
_WORDED: Final = re.compile(r"\s*(\d+)\s*([A-Za-zµ]+)", re.ASCII)


def duration(text: str) -> Duration | None:
    """A duration as Go writes it (``1h30m``), or None. COMPAT: time.ParseDuration"""
    body = text[1:] if text[:1] in ("-", "+") else text
    if body == "0":
        return Duration()
    total, place = Fraction(), 0
    while place < len(body) and len(body) <= _LONGEST:
        part = _PART.match(body, place)
        if part is None or part[1] in ("", "."):
            return None
        total += Fraction(part[1] if not part[1].startswith(".") else "0" + part[1]) * _UNITS[part[2]]
        place = part.end()
    if not body or place < len(body):
        return None
    return _duration(-int(total) if text.startswith("-") else int(total))


def worded_duration(text: str) -> Duration | None:
    """A duration of OpenAPI's format: as Go writes it, or with words (``2 days``), or None."""
    found = duration(text)
    if found is not None or len(text) > _LONGEST:
        return found
    match = _WORDED.match(text)
    unit = _WORDS.get(match[2], _WORDS.get(match[2].removesuffix("s"))) if match else None
    return _duration(int(match[1]) * unit) if match and unit else None


def _duration(nanos: int) -> Duration | None:
    seconds, rest = divmod(abs(nanos), _NANOS)
    if seconds > _LIMIT:
        return None
    sign = -1 if nanos < 0 else 1
    return Duration(seconds=sign * seconds, nanos=sign * rest)


def timestamp(text: str) -> Timestamp | None:
    """A time of RFC 3339, or None."""
    match = _RFC3339.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = map(int, match.groups()[:6])
    try:
        moment = datetime.datetime(year, month, day, hour, minute, second, tzinfo=datetime.UTC)
    except ValueError:
        return None
    shift = 60 * (60 * int(match[9] or 0) + int(match[10] or 0)) * (-1 if match[8] == "-" else 1)
    seconds = int(moment.timestamp()) - shift
    return Timestamp(seconds=seconds, nanos=int((match[7] or "").ljust(9, "0")))


def date(text: str) -> Timestamp | None:
    """Midnight of a day, or None."""
    return timestamp(f"{text}T00:00:00Z") if _DATE.fullmatch(text) else None
