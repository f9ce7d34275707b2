"""The columns of custom resources: made of ``additionalPrinterColumns``.

COMPAT: apiextensions-apiserver/pkg/registry/customresource/tableconvertor
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from apiserver.api.durations import INVALID, human_duration, parse_time
from apiserver.api.resource import Column
from apiserver_plugins.apiextensions.jsonpath import parse


def columns_of(declared: Sequence[Mapping[str, Any]] | None) -> list[Column]:
    """The columns beside the name."""
    if not declared:
        return [AGE]
    return [_column(one) for one in declared]


AGE = Column(
    "Age", lambda obj: _date(obj["metadata"].get("creationTimestamp")), "date", field="metadata.creationTimestamp"
)
"""What a version shows that declares no columns."""


def _column(declared: Mapping[str, Any]) -> Column:
    path, type_ = declared["jsonPath"], declared["type"]
    description = declared.get("description") or f"Custom resource definition column (in JSONPath format): {path}"
    return Column(
        declared["name"],
        _cell(path, _SHOWN.get(type_, _text)),
        type_,
        declared.get("format") or "",
        declared.get("priority") or 0,
        description,
    )


def _cell(path: str, show: Callable[[Any], Any]) -> Callable[[dict[str, Any]], Any]:
    found: list[Callable[[Any], list[Any]]] = []

    def cell(obj: dict[str, Any]) -> Any:
        if not found:
            found.append(parse(path))
        values = found[0](obj)
        return show(values[0]) if values and values[0] is not None else None

    return cell


def _text(value: Any) -> Any:
    """As the printer of a JSONPath writes it: numbers and words as they are, the rest as JSON."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _number(value: Any) -> Any:
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _integer(value: Any) -> Any:
    number = _number(value)
    return None if number is None else int(number)


def _boolean(value: Any) -> Any:
    return value if isinstance(value, bool) else None


def _date(value: Any) -> Any:
    if not isinstance(value, str):
        return None
    parsed = parse_time(value)
    return INVALID if parsed is None else human_duration(time.time() - parsed.timestamp())


_SHOWN: Mapping[str, Callable[[Any], Any]] = {
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "date": _date,
}
