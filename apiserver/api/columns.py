"""Pieces that Table columns are made of; resource plugins use them in their declarations.

    columns=[Column("Host", cell("spec", "host"), field="spec.host"), AGE]

COMPAT: pkg/printers/internalversion
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from apiserver.api.durations import since
from apiserver.api.resource import Column

Object = dict[str, Any]


def value_at(obj: Any, *path: str) -> Any:
    """The value below ``obj`` at ``path``, None where a step is missing."""
    for step in path:
        if not isinstance(obj, dict):
            return None
        obj = obj.get(step)
    return obj


def cell(*path: str, default: Any = "") -> Callable[[Object], Any]:
    """A cell that shows the value at ``path``; ``default`` when it is unset."""

    def show(obj: Object) -> Any:
        value = value_at(obj, *path)
        return default if value is None else value

    return show


def age(obj: Object) -> str:
    """How long ago the object was made."""
    return since(obj["metadata"].get("creationTimestamp"))


NAME = Column("Name", cell("metadata", "name"), format="name", field="metadata.name")
AGE = Column("Age", age, field="metadata.creationTimestamp")
