"""Whole numbers in texts that clients send: query parameters, tokens, cron expressions.

Python's own ``int`` takes more than Go does (underscores, blanks, digits of other scripts) and refuses, with words of
its own, what has thousands of digits.

COMPAT: Go strconv.ParseInt, strconv.Atoi
"""

from __future__ import annotations

import re

_WHOLE = re.compile(r"[+-]?[0-9]+")
_DIGITS = 19
"""A number with more digits does not fit into 64 bits."""


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
