"""``metav1.Duration``: text such as ``1m30s`` to nanoseconds and back, as Go does it.

COMPAT: Go time.ParseDuration, Duration.String
"""

from __future__ import annotations

import re
from fractions import Fraction

_UNITS = {"ns": 1, "us": 1000, "µs": 1000, "μs": 1000, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
_LONGEST = (1 << 63) - 1
_CHARACTERS = 1000  # longer texts are no durations that anyone means, and Python refuses numbers with too many digits
_PART = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)")


def nanoseconds(value: str) -> int:
    """:raises ValueError: the text is no duration, with Go's text."""
    sign, rest = (-1, value[1:]) if value[:1] == "-" else (1, value.removeprefix("+"))
    if rest == "0":
        return 0
    if len(rest) > _CHARACTERS:
        raise ValueError(f'time: invalid duration "{value}"')
    total, at = Fraction(0), 0
    for match in _PART.finditer(rest):
        if match.start() != at:
            break
        total += Fraction(match[1]) * _UNITS[match[2]]
        at = match.end()
    if not rest or at != len(rest) or total > _LONGEST:
        raise ValueError(f'time: invalid duration "{value}"')
    return sign * int(total)


def text(nanos: int) -> str:
    """The canonical text."""
    if nanos == 0:
        return "0s"
    sign, nanos = ("-", -nanos) if nanos < 0 else ("", nanos)
    for unit, size in (("ns", 1), ("µs", 1000), ("ms", 10**6)):
        if nanos < size * 1000:
            return f"{sign}{_decimal(nanos, size)}{unit}"
    seconds, fraction = divmod(nanos, 10**9)
    hours, minutes, seconds = seconds // 3600, seconds // 60 % 60, seconds % 60
    tail = f"{_decimal(seconds * 10**9 + fraction, 10**9)}s"
    if hours:
        return f"{sign}{hours}h{minutes}m{tail}"
    return f"{sign}{minutes}m{tail}" if minutes else f"{sign}{tail}"


def _decimal(value: int, size: int) -> str:
    whole, rest = divmod(value, size)
    if not rest:
        return str(whole)
    digits = len(str(size)) - 1
    return f"{whole}.{rest:0{digits}d}".rstrip("0")
