"""JSON text to values, with Go's words for what is malformed and with duplicate fields noticed.

The text is read by orjson. Only when orjson refuses it, ``goscan`` walks the text once more to say what Go's
scanner would say; only when orjson found fewer keys than the text has, the standard library's reader finds the
duplicate ones. Called by :mod:`apiserver.schema.body`, and by patch decoding.

COMPAT: sigs.k8s.io/json duplicate field errors
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import orjson

from apiserver.schema import depth
from apiserver.schema.failures import JSONSyntaxError, LiteralFloat, Path, path_text

__all__ = ["Duplicates", "JSONSyntaxError", "outside_strings", "read", "with_literals"]


@dataclass(slots=True)
class Duplicates:
    """Fields that an object of the text names twice.

    ``seen`` are the paths of all fields in the order of the text, ``found`` the indexes in it of those that were there
    before.
    """

    seen: list[Path] = field(default_factory=list)
    found: list[int] = field(default_factory=list)

    def see(self, path: Path, again: bool) -> None:
        if again:
            self.found.append(len(self.seen))
        self.seen.append(path)

    def paths(self) -> dict[Path, int]:
        """Each duplicate path once, with its place in the text."""
        return {self.seen[index]: index for index in reversed(self.found)}

    def places(self, texts: Collection[str]) -> dict[str, int]:
        """Where the fields with these paths stand first."""
        found: dict[str, int] = {}
        for index, path in enumerate(self.seen):
            text = path_text(path)
            if text in texts and text not in found:
                found[text] = index
                if len(found) == len(texts):
                    break
        return found


def read(data: bytes) -> tuple[Any, Duplicates | None]:
    """The value of a JSON text, and its duplicate fields, None when there are none.

    Of a duplicate field the last value counts; objects are merged, as Go does when it decodes into a struct or map.

    :raises JSONSyntaxError: it is malformed.
    """
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        return _read_slowly(data)
    if not isinstance(value, dict | list):
        return value, None
    # What orjson writes back unchanged had each key once, since it keeps one value per key; so had a text with as many
    # keys as it writes.
    try:
        again = depth.encode(value)
    except depth.TooDeepError as error:
        raise JSONSyntaxError(str(error)) from None
    if again == data.strip(b" \t\r\n") or _keys(data) == _keys(again):
        return value, None
    return _merge_duplicates(data)


def outside_strings(data: bytes) -> bytes:
    """A valid JSON text without its strings."""
    if b"\\" in data:
        data = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    return b"".join(data.split(b'"')[::2])


def _keys(data: bytes) -> int:
    """How many object keys a valid JSON text has: the colons outside its strings."""
    return outside_strings(data).count(b":")


def _whole(text: str) -> int | float:
    """A whole number as orjson reads it: a float when it has more than 64 bits."""
    value = int(text) if len(text) < 40 else float(text)
    return value if -(1 << 63) <= value < 1 << 64 else float(value)


class _Pairs(list[tuple[str, Any]]):
    """An object with each occurrence of its keys."""


def _merge_duplicates(data: bytes) -> tuple[Any, Duplicates]:
    report = Duplicates()
    return _build(json.loads(data, object_pairs_hook=_Pairs, parse_int=_whole), None, report, None), report


def _build(value: Any, path: Path, report: Duplicates, into: Any) -> Any:
    if isinstance(value, _Pairs):
        result = into if isinstance(into, dict) else {}
        seen = set()
        for key, item in value:
            here = (path, key)
            report.see(here, key in seen)
            seen.add(key)
            result[key] = _build(item, here, report, result.get(key))
        return result
    if isinstance(value, list):
        return [_build(item, (path, index), report, None) for index, item in enumerate(value)]
    return value


def _read_slowly(data: bytes) -> tuple[Any, Duplicates | None]:
    from apiserver.schema.goscan import syntax_error  # a failing request only

    problem = syntax_error(data)
    if problem:
        raise JSONSyntaxError(problem)
    # Go reads what orjson refuses although it is JSON: bytes that are no UTF-8, lone surrogates, deep nesting.
    try:
        value = json.loads(data.decode("utf-8", "replace"), parse_int=_whole)
        text = json.dumps(value, ensure_ascii=False)
    except RecursionError:
        raise JSONSyntaxError("exceeded max depth") from None
    except ValueError as error:
        raise JSONSyntaxError(str(error)) from None
    clean = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    value = json.loads(clean, parse_int=_whole)
    data = clean.encode()
    try:
        again = depth.encode(value)
    except depth.TooDeepError as error:
        raise JSONSyntaxError(str(error)) from None
    return (value, None) if _keys(data) == _keys(again) else _merge_duplicates(data)


def with_literals(data: bytes) -> Any:
    """The value again, with floats that remember their text (for messages that quote a number)."""
    return json.loads(data.decode("utf-8", "replace"), parse_float=LiteralFloat, parse_int=_literal_whole)


def _literal_whole(text: str) -> int | float:
    value = _whole(text)
    return LiteralFloat(text) if isinstance(value, float) else value
