"""Amounts with units: ``quantity("1.5Gi").isLessThan(quantity("2Gi"))``.

COMPAT: k8s.io/apiserver/pkg/cel/library/quantity.go. A quantity is kept in billionths, which is as fine as it gets.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from apiserver.api.quantity import QuantityError, nanos

from .declaring import EvaluationError, Library, Overload, member, opaque

QUANTITY: Final = "kubernetes.Quantity"
_UNIT: Final = 10**9
_INT64: Final = 1 << 63

_Quantity = Mapping[str, str]


def _made(amount: int) -> dict[str, str]:
    return opaque(QUANTITY, str(amount))


def _amount(value: _Quantity) -> int:
    return int(value[QUANTITY])


def _quantity(text: str) -> dict[str, str]:
    try:
        return _made(nanos(text))
    except QuantityError as wrong:
        raise EvaluationError(str(wrong)) from None


def _is_quantity(text: str) -> bool:
    try:
        nanos(text)
    except QuantityError:
        return False
    return True


def _compare(a: _Quantity, b: _Quantity) -> int:
    left, right = _amount(a), _amount(b)
    return (left > right) - (left < right)


def _sign(value: _Quantity) -> int:
    amount = _amount(value)
    return (amount > 0) - (amount < 0)


def _is_integer(value: _Quantity) -> bool:
    whole, rest = divmod(_amount(value), _UNIT)
    return rest == 0 and -_INT64 <= whole < _INT64


def _as_integer(value: _Quantity) -> int:
    if not _is_integer(value):
        raise EvaluationError("cannot convert value to integer")
    return _amount(value) // _UNIT


def _pair(overload_id: str) -> tuple[str, tuple[str, ...]]:
    return overload_id, (QUANTITY, QUANTITY)


LIBRARY: Final = Library(
    "kubernetes.quantity",
    {
        "quantity": (Overload("string_to_quantity", ("string",), QUANTITY, _quantity),),
        "isQuantity": (Overload("is_quantity_string", ("string",), "bool", _is_quantity),),
        "sign": (Overload("quantity_sign", (QUANTITY,), "int", _sign),),
        "isGreaterThan": (member(*_pair("quantity_is_greater_than"), "bool", lambda a, b: _compare(a, b) > 0),),
        "isLessThan": (member(*_pair("quantity_is_less_than"), "bool", lambda a, b: _compare(a, b) < 0),),
        "compareTo": (member(*_pair("quantity_compare_to"), "int", _compare),),
        "asApproximateFloat": (
            member("quantity_get_float", (QUANTITY,), "double", lambda value: _amount(value) / _UNIT),
        ),
        "asInteger": (member("quantity_get_int", (QUANTITY,), "int", _as_integer),),
        "isInteger": (member("quantity_is_integer", (QUANTITY,), "bool", _is_integer),),
        "add": (
            member(*_pair("quantity_add"), QUANTITY, lambda a, b: _made(_amount(a) + _amount(b))),
            member("quantity_add_int", (QUANTITY, "int"), QUANTITY, lambda a, n: _made(_amount(a) + n * _UNIT)),
        ),
        "sub": (
            member(*_pair("quantity_sub"), QUANTITY, lambda a, b: _made(_amount(a) - _amount(b))),
            member("quantity_sub_int", (QUANTITY, "int"), QUANTITY, lambda a, n: _made(_amount(a) - n * _UNIT)),
        ),
    },
)
