"""Pieces that the Table columns of many kinds are made of.

Used in the declarations of kinds. COMPAT: pkg/printers/internalversion
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from apiserver.api.resource import Column
from apiserver_plugins.resources.common.durations import since

Object = dict[str, Any]

NONE = "<none>"
UNSET = "<unset>"


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


def length(*paths: str) -> Callable[[Object], int]:
    """A cell that counts the entries of the top-level maps or lists ``paths``, together."""
    return lambda obj: sum(len(obj.get(path) or ()) for path in paths)


def age(obj: Object) -> str:
    """How long ago the object was made."""
    return since(obj["metadata"].get("creationTimestamp"))


NAME = Column("Name", cell("metadata", "name"), format="name", field="metadata.name")
AGE = Column("Age", age, field="metadata.creationTimestamp")


def format_labels(labels: Mapping[str, str] | None) -> str:
    """``a=b,c=d``, sorted; ``<none>`` for none. COMPAT: labels.FormatLabels."""
    return ",".join(f"{k}={v}" for k, v in sorted(labels.items())) if labels else NONE


def format_names(items: Sequence[Mapping[str, Any]] | None, field: str) -> str:
    """The values of ``field`` of every item, joined by commas. COMPAT: layoutContainerCells."""
    return ",".join(str(item.get(field, "")) for item in items or ())
