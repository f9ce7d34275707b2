"""CEL's own functions that are declared anew, because Kubernetes has more signatures of them.

The library lets a configuration leave out a standard function, but not add to it. Called by ``environment``.

COMPAT: cel.CrossTypeNumericComparisons(true) in environment/base.go; ``string`` for addresses
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

_NUMBERS: Final = {"int": "int64", "uint": "uint64", "double": "double"}
_ORDERED: Final = {**_NUMBERS, **{kind: kind for kind in ("bool", "string", "bytes", "timestamp", "duration")}}
_COMPARISONS: Final = {"_<_": "less", "_<=_": "less_equals", "_>_": "greater", "_>=_": "greater_equals"}

_TO_STRING: Final = {
    "string_to_string": "string",
    "bool_to_string": "bool",
    "int64_to_string": "int",
    "uint64_to_string": "uint",
    "double_to_string": "double",
    "bytes_to_string": "bytes",
    "timestamp_to_string": "timestamp",
    "duration_to_string": "duration",
}

_Signature = tuple[str, tuple[str, ...], str]


def _comparisons(name: str) -> Sequence[_Signature]:
    same = [(f"{name}_{text}", (kind, kind), "bool") for kind, text in _ORDERED.items()]
    mixed = [
        (f"{name}_{left_text}_{right_text}", (left, right), "bool")
        for left, left_text in _NUMBERS.items()
        for right, right_text in _NUMBERS.items()
        if left != right
    ]
    return same + mixed


FUNCTIONS: Final[dict[str, Sequence[_Signature]]] = {
    "string": [(overload, (kind,), "string") for overload, kind in _TO_STRING.items()],
    **{operator: _comparisons(name) for operator, name in _COMPARISONS.items()},
}
"""Function -> overload, parameters, result."""
