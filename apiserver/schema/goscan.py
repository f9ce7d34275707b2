"""What Go's JSON scanner says of a malformed text. Imported by :mod:`apiserver.schema.gojson` when there is one.

COMPAT: Go encoding/json scanner
"""

from __future__ import annotations

import json
import re

from apiserver.schema.failures import JSONSyntaxError
from apiserver.schema.gotext import quote_char

END = "unexpected end of JSON input"
MAX_DEPTH = 10_000  # COMPAT: Go encoding/json maxNestingDepth

_SPACE = re.compile(rb"[ \t\r\n]*")
_STRING = re.compile(rb'[^"\\\x00-\x1f]*')
_NUMBER_STEPS = (
    (re.compile(rb"-?"), ""),
    (re.compile(rb"0|[1-9][0-9]*"), "in numeric literal"),
    (re.compile(rb"\.?"), ""),
    (re.compile(rb"[0-9]+"), "after decimal point in numeric literal"),
    (re.compile(rb"[eE]?"), ""),
    (re.compile(rb"[+-]?[0-9]+"), "in exponent of numeric literal"),
)


class _Scanner:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def fail(self, context: str) -> JSONSyntaxError:
        if self.at >= len(self.data):
            return JSONSyntaxError(END)
        return JSONSyntaxError(f"invalid character {quote_char(self.data[self.at])} {context}")

    def space(self) -> int:
        """Skip white space; the next byte, or -1 at the end."""
        match = _SPACE.match(self.data, self.at)
        self.at = match.end() if match else self.at
        return self.data[self.at] if self.at < len(self.data) else -1

    def string(self) -> None:
        self.at += 1
        while True:
            match = _STRING.match(self.data, self.at)
            self.at = match.end() if match else self.at
            byte = self.data[self.at : self.at + 1]
            if byte == b'"':
                self.at += 1
                return
            if byte != b"\\":
                raise self.fail("in string literal")
            self.escape()

    def escape(self) -> None:
        self.at += 1
        byte = self.data[self.at : self.at + 1]
        if not byte or byte not in b'bfnrt\\/"u':
            raise self.fail("in string escape code")
        self.at += 1
        if byte == b"u":
            for _ in range(4):
                if self.data[self.at : self.at + 1] not in _HEX:
                    raise self.fail("in \\u hexadecimal character escape")
                self.at += 1

    def number(self) -> None:
        step = 0
        while step < len(_NUMBER_STEPS):
            pattern, context = _NUMBER_STEPS[step]
            match = pattern.match(self.data, self.at)
            if match is None:
                if context.startswith("in exponent") and self.data[self.at : self.at + 1] in (b"+", b"-"):
                    self.at += 1
                raise self.fail(context)
            empty = match.end() == self.at
            self.at = match.end()
            # an absent point or exponent has no digits to follow
            step += 2 if empty and step in (2, 4) else 1

    def literal(self, word: bytes) -> None:
        for offset, expected in enumerate(word):
            if self.data[self.at : self.at + 1] != word[offset : offset + 1]:
                raise self.fail(f"in literal {word.decode()} (expecting {quote_char(expected)})")
            self.at += 1

    def scalar(self, byte: int) -> None:
        if byte == ord('"'):
            self.string()
        elif byte in b"-0123456789":
            self.number()
        else:
            for word in (b"true", b"false", b"null"):
                if byte == word[0]:
                    self.literal(word)
                    return
            raise self.fail("looking for beginning of value")

    def key(self) -> None:
        """An object key and its colon."""
        if self.space() != ord('"'):
            raise self.fail("looking for beginning of object key string")
        self.string()
        if self.space() != ord(":"):
            raise self.fail("after object key")
        self.at += 1

    def opened(self, byte: int, stack: list[int]) -> bool:
        """Enter an object or list; False if it is empty and already closed."""
        if len(stack) >= MAX_DEPTH:
            raise JSONSyntaxError("exceeded max depth")
        close = byte + 2  # } follows { and ] follows [ by two
        self.at += 1
        if self.space() == close:
            self.at += 1
            return False
        stack.append(close)
        if byte == ord("{"):
            self.key()
        return True

    def closed(self, stack: list[int]) -> bool:
        """Leave what ends here; True when another value follows."""
        while stack:
            byte = self.space()
            if byte == stack[-1]:
                self.at += 1
                stack.pop()
                continue
            in_object = stack[-1] == ord("}")
            if byte != ord(","):
                raise self.fail("after object key:value pair" if in_object else "after array element")
            self.at += 1
            if in_object:
                self.key()
            return True
        return False

    def document(self) -> None:
        stack: list[int] = []
        more = True
        while more:
            byte = self.space()
            if byte == -1:
                raise self.fail("")
            if byte in b"{[":
                if self.opened(byte, stack):
                    continue
            else:
                self.scalar(byte)
            more = self.closed(stack)
        if self.space() != -1:
            raise self.fail("after top-level value")


_HEX = frozenset(bytes([b]) for b in b"0123456789abcdefABCDEF")


def syntax_error(data: bytes) -> str:
    """What Go says is wrong with a JSON text; "" if nothing is."""
    if len(data) > _LARGE:
        return _large_error(data)
    try:
        _Scanner(data).document()
    except JSONSyntaxError as error:
        return str(error)
    return ""


_LARGE = 32 * 1024
_WORDS = (
    ("Extra data", "after top-level value"),
    ("Expecting property name", "looking for beginning of object key string"),
    ("Illegal trailing comma before end of object", "looking for beginning of object key string"),
    ("Expecting ':'", "after object key"),
    ("Expecting ','", "after object key:value pair"),
    ("Invalid control character", "in string literal"),
    ("Invalid \\u", "in \\u hexadecimal character escape"),
    ("Invalid \\", "in string escape code"),
    ("Unterminated string", ""),
)


def _large_error(data: bytes) -> str:
    """As :func:`syntax_error` for texts that would take long to walk in Python: the words are nearly Go's."""
    try:
        json.loads(data.decode("utf-8", "replace"), parse_constant=_no_constant, parse_int=float)
    except RecursionError:
        return "exceeded max depth"
    except json.JSONDecodeError as error:
        context = next(
            (text for start, text in _WORDS if error.msg.startswith(start)), "looking for beginning of value"
        )
        at = error.pos + (context == "in string escape code")
        rest = error.doc[at : at + 1]
        if not context or not rest:
            return END
        return f"invalid character {quote_char(rest.encode()[0])} {context}"
    except ValueError as error:
        return str(error)
    return ""


def _no_constant(name: str) -> None:
    raise ValueError(f"invalid character {quote_char(ord(name[0]))} looking for beginning of value")
