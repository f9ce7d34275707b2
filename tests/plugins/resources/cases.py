"""Tables of cases: an object, what is changed in it, and what is said about that."""

from __future__ import annotations

import copy
from typing import Any

from apiserver.api.resource import Column

Object = dict[str, Any]


def having(obj: Object, **changes: Any) -> Object:
    """A copy with values put at paths; dots are written as two underscores, ``None`` removes.

    ``having(job, spec__completions=3)``
    """
    result = copy.deepcopy(obj)
    for path, value in changes.items():
        *steps, last = path.split("__")
        where: Any = result
        for step in steps:
            where = where[int(step)] if step.isdigit() else where.setdefault(step, {})
        if value is None:
            where.pop(last, None)
        else:
            where[int(last) if last.isdigit() else last] = value
    return result


def cells(columns: Any, obj: Object) -> dict[str, Any]:
    """The cells of a row by the names of their columns, ages excepted."""
    found: list[Column] = list(columns)
    return {column.name: column.cell(obj) for column in found if column.name not in ("Age", "Name")}


def pod_template(**spec: Any) -> Object:
    """A pod template with one container."""
    return {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "c", "image": "x:1"}], **spec},
    }
