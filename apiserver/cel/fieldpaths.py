"""A path relative to a value, checked against the value's schema: the ``fieldPath`` of a rule, a selectable field.

Called when a definition is admitted and when a rule has failed. COMPAT: apiextensions schema/cel ValidFieldPath
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from apiserver.api.fields import Path

_TOKEN: Final = re.compile(r"[.\[\]]|'(?:[^'\\]|\\.)*'|[^.\[\]]+", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED: Final = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "'": "'", "\\": "\\",
}  # fmt: skip

Schema = Mapping[str, Any]


class FieldPathError(ValueError):
    """The path leads nowhere."""


def normalized(text: str, schema: Schema) -> Path:
    """The path as field errors show it.

    :raises FieldPathError: it is no path, or not one of the schema's.
    """
    return followed(text, schema)[0]


def followed(text: str, schema: Schema, *, brackets: bool = True) -> tuple[Path, Schema]:
    """The path as field errors show it, and the schema of the field that it leads to.

    :param brackets: whether names may stand in brackets and quotes.
    :raises FieldPathError: it is no path, or not one of the schema's.
    """
    tokens = _TOKEN.findall(text)
    path, place = Path(""), 0
    while place < len(tokens):
        if tokens[place] == "[" and not brackets:
            raise FieldPathError("array notation is not allowed")
        name, place = _step(tokens, place)
        path, schema = _into(path, name, schema)
    return path, schema


def _step(tokens: list[str], place: int) -> tuple[str, int]:
    kind, rest = tokens[place], tokens[place + 1 :]
    if kind == ".":
        if not rest:
            raise FieldPathError("unexpected end of JSON path")
        return rest[0], place + 2
    if kind != "[":
        raise FieldPathError(f"expected [ or . but got: {kind}")
    if not rest:
        raise FieldPathError("unexpected end of JSON path")
    quoted = rest[0]
    if len(quoted) < 2 or quoted[0] != "'" or quoted[-1] != "'":
        raise FieldPathError(f"expected single quoted string but got {quoted}")
    if len(rest) < 2:
        raise FieldPathError("unexpected end of JSON path")
    if rest[1] != "]":
        raise FieldPathError(f"expected ] but got {rest[1]}")
    return _ESCAPE.sub(_unescaped, quoted[1:-1]), place + 3


def _unescaped(match: re.Match[str]) -> str:
    if match[1] not in _ESCAPED:
        raise FieldPathError(f"invalid string literal: invalid escape char {match[0]}")
    return _ESCAPED[match[1]]


def _into(path: Path, name: str, schema: Schema) -> tuple[Path, Schema]:
    properties = schema.get("properties")
    if properties:
        if name not in properties:
            raise FieldPathError("does not refer to a valid field")
        return path.child(name), properties[name]
    additional = schema.get("additionalProperties")
    if additional is None or additional is False:
        raise FieldPathError("does not refer to a valid field")
    return path.key(name), additional if isinstance(additional, Mapping) else {}
