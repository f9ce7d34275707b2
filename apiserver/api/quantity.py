"""Quantities: ``resource.Quantity`` text to its canonical form, with exact arithmetic.

Called by decoding for each quantity, by validation that compares amounts and by plugins that add them up.

COMPAT: k8s.io/apimachinery/pkg/api/resource ParseQuantity, CanonicalizeBytes
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from fractions import Fraction

FORMAT_WRONG = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
SUFFIX_WRONG = "unable to parse quantity's suffix"

_SHAPE = re.compile(r"([+-]?)0*([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)\Z")
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_SUFFIX = {exponent: suffix for suffix, exponent in _DECIMAL.items()}
_BINARY_SUFFIX = {0: "", **{exponent: suffix for suffix, exponent in _BINARY.items()}}
_MAX_INT64 = (1 << 63) - 1
_NANOS = 10**9
_FAST_DIGITS = 18  # COMPAT: maxInt64Factors
_NANO = -9
_CHARACTERS = 1000  # Python refuses numbers with too many digits, and they would cost
_MAX_EXPONENT = 1000  # beyond it only the digits of the answer would cost


class QuantityError(ValueError):
    """The text is no quantity; the message is upstream's."""


_Parts = tuple[int, str, str, int, int, str]
"""Sign, digits before and after the point, base, exponent, format (decimal, binary or exponent)."""


def _split(text: str) -> _Parts:
    match = _SHAPE.match(text)
    if match is None or len(text) > _CHARACTERS or not text:
        raise QuantityError(FORMAT_WRONG)
    sign, num, denom, suffix = match.groups()
    base, exponent, form = _suffix(suffix)
    return -1 if sign == "-" else 1, num or "0", denom or "", base, exponent, form


def _suffix(suffix: str) -> tuple[int, int, str]:
    if suffix in _DECIMAL:
        return 10, _DECIMAL[suffix], "decimal"
    if suffix in _BINARY:
        return 2, _BINARY[suffix], "binary"
    match = re.match(r"[eE]([+-]?[0-9]+)\Z", suffix)
    if match is None or abs(int(match[1])) > _MAX_EXPONENT:
        raise QuantityError(SUFFIX_WRONG)
    return 10, int(match[1]), "exponent"


def _is_canonical(parts: _Parts) -> bool:
    """Whether the text is used as it stands. COMPAT: the shortcuts of ParseQuantity, which also keep ``1.500``."""
    _, num, denom, _, exponent, form = parts
    digits = num + denom
    if form == "binary":
        room = 15 - len(num) - int(exponent * 3 / 10) - 1
        if denom or room < 0 or int(digits) << exponent > _MAX_INT64:
            return False
        return int(digits) & 0x07 != 0
    scale = exponent - len(denom)
    if len(digits) > _FAST_DIGITS or scale < _NANO:
        return False
    return scale % 3 == 0 and not digits.endswith("000") and digits[0] != "0"


def _value(parts: _Parts) -> tuple[int, str]:
    """The exact amount in billionths, and its format; what is finer is rounded up, binary is capped at 2^63-1."""
    sign, num, denom, base, exponent, form = parts
    nanos = int(num + denom) * _NANOS
    divisor = 10 ** len(denom)
    if exponent < 0:
        divisor *= base**-exponent
    else:
        nanos *= base**exponent
    amount = -(-nanos // divisor)
    if form == "binary":
        amount = min(amount, _MAX_INT64 * _NANOS)
        if 0 < amount < _NANOS:
            form = "decimal"
    return amount * sign, form


def _text(nanos: int, form: str) -> str:
    if nanos == 0:
        return "0"
    if form == "binary" and nanos % _NANOS == 0 and not -1024 * _NANOS < nanos < 1024 * _NANOS:
        number, exponent = nanos // _NANOS, 0
        while number % 1024 == 0 and exponent < 60:
            number, exponent = number // 1024, exponent + 10
        return f"{number}{_BINARY_SUFFIX[exponent]}"
    number, exponent = nanos, -9
    # the largest suffix stands for 10^18, an exponent has no such limit
    while number % 1000 == 0 and (exponent < 18 or form == "exponent"):
        number, exponent = number // 1000, exponent + 3
    if form == "exponent":
        return f"{number}e{exponent}" if exponent else str(number)
    return f"{number}{_DECIMAL_SUFFIX[exponent]}"


@lru_cache(maxsize=4096)
def canonical(text: str) -> str:
    """The canonical form of ``text`` (``0.1`` -> ``100m``, ``1024Mi`` -> ``1Gi``).

    :raises QuantityError: it is no quantity.
    """
    parts = _split(text)
    return text if _is_canonical(parts) else _text(*_value(parts))


@lru_cache(maxsize=4096)
def nanos(text: str) -> int:
    """The exact amount ``text`` stands for, in billionths: the unit to compare and add in.

    :raises QuantityError: it is no quantity.
    """
    return _value(_split(text))[0]


def parse(text: str) -> Fraction:
    """The exact amount ``text`` stands for.

    :raises QuantityError: it is no quantity.
    """
    from fractions import Fraction  # costs 4 ms to import, and few need it

    return Fraction(nanos(text), _NANOS)


class Amount(NamedTuple):
    """An amount in billionths, and the format it is written in: decimal, binary or exponent."""

    nanos: int
    form: str = "decimal"

    def __str__(self) -> str:
        """The canonical form. COMPAT: Quantity.String"""
        return _text(*self)


@lru_cache(maxsize=4096)
def amount(text: str) -> Amount:
    """The amount that ``text`` stands for.

    :raises QuantityError: it is no quantity.
    """
    return Amount(*_value(_split(text)))


def total(amounts: Iterable[Amount]) -> Amount:
    """The sum, in the format of the first that is not zero. COMPAT: Quantity.Add"""
    nanos, form = 0, "decimal"
    for part in amounts:
        if nanos == 0:
            form = part.form
        nanos += part.nanos
    return Amount(nanos, form)


def whole(number: int) -> Amount:
    """A count."""
    return Amount(number * _NANOS)
