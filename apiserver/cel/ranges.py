"""Ranges of costs and sizes, with arithmetic that stops at the largest unsigned number of 64 bits.

Used by the cost estimator. COMPAT: cel-go checker.CostEstimate, checker.SizeEstimate
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

MOST: Final = (1 << 64) - 1


def _capped(number: int) -> int:
    return min(number, MOST)


def scaled(number: int, factor: float) -> int:
    """``number`` times ``factor``, rounded up."""
    product = float(number) * factor
    return MOST if product >= float(MOST) else math.ceil(product)


class Range(NamedTuple):
    """From the least to the most."""

    low: int
    high: int

    def plus(self, other: Range) -> Range:
        """The sum."""
        return Range(_capped(self.low + other.low), _capped(self.high + other.high))

    def times(self, other: Range) -> Range:
        """The product."""
        return Range(_capped(self.low * other.low), _capped(self.high * other.high))

    def scaled(self, factor: float) -> Range:
        """A part of it, rounded up."""
        return Range(scaled(self.low, factor), scaled(self.high, factor))

    def union(self, other: Range) -> Range:
        """What covers both."""
        return Range(min(self.low, other.low), max(self.high, other.high))


def exactly(number: int) -> Range:
    """Neither more nor less."""
    return Range(number, number)


UNKNOWN: Final = Range(0, MOST)
NOTHING: Final = Range(0, 0)
ONE: Final = Range(1, 1)


def total(parts: list[Range]) -> Range:
    """The sum of all."""
    result = NOTHING
    for part in parts:
        result = result.plus(part)
    return result
