"""Values of a custom resource as CEL sees them, along its declared type.

Called once for each value that has rules: only declared properties are visible, under their escaped names; numbers are
doubles, formats are times, durations and bytes.

COMPAT: k8s.io/apiserver/pkg/cel/common/valuesunstructured.go UnstructuredToVal
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Collection
from typing import Any, Final

from . import times
from .libraries import EvaluationError
from .names import escape
from .schema_types import DeclaredType

Converter = Callable[[Any], Any]


def _bytes(text: str) -> bytearray:
    try:
        return bytearray(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError) as wrong:
        raise EvaluationError(f"Invalid byte formatted string {text}: {wrong}") from None


def _timed(name: str, parse: Callable[[str], Any]) -> Converter:
    def converted(text: str) -> Any:
        value = parse(text)
        if value is None:
            raise EvaluationError(f"Invalid {name} {text}")
        return value

    return converted


_FORMATS: Final[dict[str, Converter]] = {
    "byte": _bytes,
    "duration": _timed("duration", times.worded_duration),
    "date": _timed("date formatted string", times.date),
    "date-time": _timed("date-time formatted string", times.timestamp),
}


def converter(declared: DeclaredType, only: Collection[str] | None = None) -> Converter | None:
    """What makes CEL's value of a value of the type; None if it is the same.

    :param only: the fields of an object that anybody looks at, by their escaped names.
    """
    if declared.kind == "object":
        return _object(declared, only)
    if declared.element is not None:
        inner = converter(declared.element)
        if inner is None:
            return None
        return _list(inner) if declared.kind == "list" else _map(inner)
    if declared.kind == "double":
        return _nullable(float)
    if declared.kind in ("timestamp", "duration", "bytes"):
        return _nullable(_FORMATS[declared.schema["format"]])
    return None


def _nullable(convert: Converter) -> Converter:
    return lambda value: None if value is None else convert(value)


def _list(inner: Converter) -> Converter:
    return lambda value: None if value is None else [inner(item) for item in value]


def _map(inner: Converter) -> Converter:
    return lambda value: None if value is None else {key: inner(item) for key, item in value.items()}


def _object(declared: DeclaredType, only: Collection[str] | None) -> Converter:
    parts: dict[str, tuple[str, Converter | None]] = {}
    for name in declared.schema.get("properties") or {}:
        escaped = escape(name)
        if escaped is not None and escaped in declared.fields and (only is None or escaped in only):
            parts[name] = (escaped, converter(declared.fields[escaped]))

    def converted(value: Any) -> Any:
        if value is None:
            return None
        visible = {}
        for name in parts.keys() & value.keys():
            escaped, convert = parts[name]
            visible[escaped] = value[name] if convert is None else convert(value[name])
        return visible

    return converted
