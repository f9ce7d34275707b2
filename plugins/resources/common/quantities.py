"""Amounts of resources, compared. Texts have been checked and brought into canonical form by the schema.

COMPAT: k8s.io/apimachinery/pkg/api/resource
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache

_SHAPE = re.compile(r"([+-]?[0-9.]+)(?:[eE]([+-]?[0-9]+)|([numkKMGTPE]?i?))\Z")
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}


@lru_cache(maxsize=4096)
def amount(text: str) -> Fraction:
    """The exact amount of a valid quantity.

    :raises ValueError: it is none.
    """
    match = _SHAPE.match(str(text))
    if match is None:
        raise ValueError(f"{text!r} is not a quantity")
    number, exponent, suffix = match.groups()
    if exponent is not None:
        return Fraction(f"{number}e{exponent}")
    if suffix in _BINARY:
        return Fraction(number) * (1 << _BINARY[suffix])
    return Fraction(f"{number}e{_DECIMAL[suffix]}")


def is_whole(text: str) -> bool:
    """Whether the amount is an integer, to a thousandth. COMPAT: MilliValue()%1000."""
    milli = amount(text) * 1000
    rounded = -(-milli.numerator // milli.denominator)
    return rounded % 1000 == 0
