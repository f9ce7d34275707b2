"""What lists can tell of their elements: ``isSorted``, ``sum``, ``min``, ``max``, ``indexOf``, ``lastIndexOf``.

COMPAT: k8s.io/apiserver/pkg/cel/library/lists.go, with cel-go's own extension (``slice``, ``sort``, ``flatten`` ...)
"""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Callable
from typing import Any, Final

from .declaring import EvaluationError, Library, Overload, member

_COMPARABLE: Final = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")
_INT64: Final = 1 << 63
_ZERO: Final[dict[str, Any]] = {"int": 0, "uint": 0, "double": 0.0, "duration": datetime.timedelta()}


def _is_sorted(values: list[Any]) -> bool:
    return all(a <= b for a, b in itertools.pairwise(values))


def _sum_of(kind: str) -> Callable[[list[Any]], Any]:
    low, high = {"int": (-_INT64, _INT64), "uint": (0, 2 * _INT64)}.get(kind, (None, None))

    def total(values: list[Any]) -> Any:
        result = sum(values, _ZERO[kind])
        if low is not None and high is not None and not low <= result < high:
            raise EvaluationError("unsigned integer overflow" if kind == "uint" else "integer overflow")
        return result

    return total


def _extreme(name: str, pick: Callable[[list[Any]], Any]) -> Callable[[list[Any]], Any]:
    def chosen(values: list[Any]) -> Any:
        if not values:
            raise EvaluationError(f"{name} called on empty list")
        return pick(values)

    return chosen


def _same(a: Any, b: Any) -> bool:
    """CEL's equality: numbers by value, a bool is no number."""
    return a == b and isinstance(a, bool) == isinstance(b, bool)


def _index_of(values: list[Any], wanted: Any) -> int:
    return next((i for i, value in enumerate(values) if _same(value, wanted)), -1)


def _last_index_of(values: list[Any], wanted: Any) -> int:
    return next((i for i in range(len(values) - 1, -1, -1) if _same(values[i], wanted)), -1)


def _each(name: str, kinds: tuple[str, ...], result: str, made: Callable[[str], Any]) -> tuple[Overload, ...]:
    return tuple(
        member(f"list_{kind}_{name}", (f"list<{kind}>",), result.format(kind=kind), made(kind)) for kind in kinds
    )


LIBRARY: Final = Library(
    "kubernetes.lists",
    {
        "isSorted": _each("is_sorted", _COMPARABLE, "bool", lambda _: _is_sorted),
        "sum": _each("sum", tuple(_ZERO), "{kind}", _sum_of),
        "max": _each("max", _COMPARABLE, "{kind}", lambda _: _extreme("max", max)),
        "min": _each("min", _COMPARABLE, "{kind}", lambda _: _extreme("min", min)),
        "indexOf": (member("list_a_index_of", ("list<T>", "T"), "int", _index_of),),
        "lastIndexOf": (member("list_a_last_index_of", ("list<T>", "T"), "int", _last_index_of),),
    },
    {"lists": None},
)
