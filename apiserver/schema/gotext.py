"""Texts as Go writes them: quoting and JSON value words, for messages that clients and tests compare.

Used by decoding, times and body reading.
"""

from __future__ import annotations

from typing import Any

_ESCAPES = {
    "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v", "\\": "\\\\", '"': '\\"',
}  # fmt: skip


def quote(text: str) -> str:
    """``text`` in double quotes. COMPAT: Go strconv.Quote (%q)."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return f'"{"".join(_ESCAPES.get(c) or _escape(c) for c in text)}"'


def _escape(char: str) -> str:
    if char.isprintable():
        return char
    code = ord(char)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def quote_char(byte: int) -> str:
    """A byte in single quotes. COMPAT: Go encoding/json quoteChar."""
    if byte == ord("'"):
        return "'\\''"
    if byte == ord('"'):
        return "'\"'"
    return f"'{quote(chr(byte))[1:-1]}'"


def json_word(value: Any) -> str:
    """What Go's decoder calls a JSON value that does not fit: string, number, bool, array or object."""
    if isinstance(value, str):
        return "string"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float):
        return "number"
    return "array" if isinstance(value, list) else "object"
