"""Numbers as Go reads and writes them.

Clients send whole numbers as text in query parameters, tokens and cron expressions. Python's own ``int`` takes more
than Go does (underscores, blanks, digits of other scripts) and refuses, with words of its own, what has thousands of
digits.

COMPAT: Go strconv.ParseInt, strconv.Atoi, strconv.FormatFloat
"""

from __future__ import annotations

import re
from decimal import Decimal

_WHOLE = re.compile(r"[+-]?[0-9]+")
_DIGITS = 19
"""A number with more digits does not fit into 64 bits."""
_LONGEST = 6
"""A float with more digits before its point is written with an exponent."""


def parse_int(text: str, bits: int = 64, function: str = "ParseInt") -> int:
    """The number that ``text`` says.

    :param bits: of the signed Go type that it must fit into.
    :param function: the Go function that the message names.
    :raises ValueError: it is none, with Go's text.
    """
    if _WHOLE.fullmatch(text) is None:
        raise ValueError(f'strconv.{function}: parsing "{text}": invalid syntax')
    digits = text.lstrip("+-").lstrip("0") or "0"
    value = int(digits) if len(digits) <= _DIGITS else 1 << bits
    if text[0] == "-":
        value = -value
    if not -(1 << (bits - 1)) <= value < 1 << (bits - 1):
        raise ValueError(f'strconv.{function}: parsing "{text}": value out of range')
    return value


def go_float(value: float) -> str:
    """A finite number with a fraction, or a whole one, as ``%v`` prints Go's float64: ``0.5``, ``3``, ``1e+06``."""
    sign, digits, exponent = Decimal(repr(float(value))).normalize().as_tuple()
    assert isinstance(exponent, int)
    power = len(digits) + exponent - 1
    if any(digits) and not -4 <= power < _LONGEST:
        mantissa = "".join(map(str, digits))
        fraction = f".{mantissa[1:]}" if len(mantissa) > 1 else ""
        return f"{'-' if sign else ''}{mantissa[0]}{fraction}e{'-' if power < 0 else '+'}{abs(power):02}"
    text = f"{Decimal(repr(float(value))):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
