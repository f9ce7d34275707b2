"""Pieces that the Table columns of many kinds are made of, beside those that every plugin may use.

Used in the declarations of kinds. COMPAT: pkg/printers/internalversion
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from apiserver.api.columns import AGE, NAME, Object, age, cell, value_at

__all__ = [
    "AGE",
    "NAME",
    "NONE",
    "UNSET",
    "Object",
    "age",
    "cell",
    "format_labels",
    "format_names",
    "length",
    "value_at",
]

NONE = "<none>"
UNSET = "<unset>"


def length(*paths: str) -> Callable[[Object], int]:
    """A cell that counts the entries of the top-level maps or lists ``paths``, together."""
    return lambda obj: sum(len(obj.get(path) or ()) for path in paths)


def format_labels(labels: Mapping[str, str] | None) -> str:
    """``a=b,c=d``, sorted; ``<none>`` for none. COMPAT: labels.FormatLabels."""
    return ",".join(f"{k}={v}" for k, v in sorted(labels.items())) if labels else NONE


def format_names(items: Sequence[Mapping[str, Any]] | None, field: str) -> str:
    """The values of ``field`` of every item, joined by commas. COMPAT: layoutContainerCells."""
    return ",".join(str(item.get(field, "")) for item in items or ())
