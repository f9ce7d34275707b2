"""What Go's JSON decoder says about a text that is not a JSON object, for the few places where the API shows it.

Called for the Docker configurations in Secrets. COMPAT: encoding/json Unmarshal into a map
"""

from __future__ import annotations

import json
import re

_END = "unexpected end of JSON input"
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?")
_STRING = re.compile(r'"([^"\\\x00-\x1f]|\\(["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_LITERALS = {"t": "true", "f": "false", "n": "null"}
_SPACE = " \t\r\n"


class _SyntaxError(Exception):
    pass


def explain_object(data: bytes) -> str | None:
    """None when ``data`` is a JSON object (or null), else Go's sentence about what is wrong."""
    text = data.decode("utf-8", "replace")
    try:
        end = _space(text, _value(text, _space(text, 0)))
        if end < len(text):
            raise _unexpected(text, end, "after top-level value")
    except _SyntaxError as ex:
        return str(ex)
    kind = _kind(json.loads(text))
    return (
        None
        if kind in ("object", "null")
        else f"json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}"
    )


def _kind(value: object) -> str:
    names = {dict: "object", type(None): "null", str: "string", bool: "bool", list: "array"}
    return names.get(type(value), "number")


def _unexpected(text: str, at: int, where: str) -> _SyntaxError:
    if at >= len(text):
        return _SyntaxError(_END)
    char = {"'": "'\\''", '"': "'\"'"}.get(text[at], f"'{text[at]}'")
    return _SyntaxError(f"invalid character {char} {where}")


def _space(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def _value(text: str, at: int) -> int:
    first = text[at : at + 1]
    if first == "{":
        return _members(text, at + 1, "}", "object key:value pair", keys=True)
    if first == "[":
        return _members(text, at + 1, "]", "array element", keys=False)
    if first in _LITERALS:
        return _literal(text, at, _LITERALS[first])
    pattern = _STRING if first == '"' else _NUMBER
    match = pattern.match(text, at)
    if match:
        return match.end()
    if first == '"':
        raise _string_error(text, at + 1)
    if first == "-":
        raise _unexpected(text, at + 1, "in numeric literal")
    raise _unexpected(text, at, "looking for beginning of value")


def _string_error(text: str, at: int) -> _SyntaxError:
    while at < len(text):
        if text[at] == "\\":
            if text[at + 1 : at + 2] not in tuple('"\\/bfnrtu'):
                return _unexpected(text, at + 1, "in string escape code")
            at += 1
        elif text[at] < " ":
            return _SyntaxError(f"invalid character '\\x{ord(text[at]):02x}' in string literal")
        at += 1
    return _SyntaxError(_END)


def _literal(text: str, at: int, word: str) -> int:
    for offset, expected in enumerate(word):
        if text[at + offset : at + offset + 1] != expected:
            raise _unexpected(text, at + offset, f"in literal {word} (expecting '{expected}')")
    return at + len(word)


def _members(text: str, at: int, closing: str, what: str, *, keys: bool) -> int:
    at = _space(text, at)
    if text[at : at + 1] == closing:
        return at + 1
    while True:
        if keys:
            at = _key(text, at)
        at = _space(text, _value(text, _space(text, at)))
        if text[at : at + 1] == closing:
            return at + 1
        if text[at : at + 1] != ",":
            raise _unexpected(text, at, f"after {what}")
        at = _space(text, at + 1)


def _key(text: str, at: int) -> int:
    if text[at : at + 1] != '"':
        raise _unexpected(text, at, "looking for beginning of object key string")
    at = _space(text, _value(text, at))
    if text[at : at + 1] != ":":
        raise _unexpected(text, at, "after object key")
    return at + 1
