"""Decoding of single values: text, numbers, bytes, times, quantities.

Each function makes the decoding closure of a node for :mod:`apiserver.schema.decode`.
"""

from __future__ import annotations

import binascii
from collections.abc import Callable
from typing import Any

from apiserver.api import quantity
from apiserver.schema import times
from apiserver.schema.failures import DecodeError, LiteralFloat, MismatchError, Path
from apiserver.schema.gotext import json_word
from apiserver.schema.types import Decoder, Integer, Node, Time

_INT64 = (-(1 << 63), (1 << 63) - 1)
_INT32 = (-(1 << 31), (1 << 31) - 1)


def plain(cls: type) -> Callable[[Node], Decoder]:
    def make(node: Node) -> Decoder:
        go_type = node.go_type

        def convert(value: Any, _path: Path, _unknown: list[Path]) -> Any:
            if value.__class__ is cls:
                return value
            raise MismatchError(json_word(value), go_type)

        return convert

    return make


def _number_text(value: Any) -> str:
    if isinstance(value, LiteralFloat):
        return value.text
    return repr(value)


def integer(node: Node) -> Decoder:
    assert isinstance(node, Integer)
    low, high = _INT32 if node.bits == 32 else _INT64
    go_type = node.go_type

    def convert(value: Any, _path: Path, _unknown: list[Path]) -> Any:
        if value.__class__ is int and low <= value <= high:
            return value
        word = json_word(value)
        if word == "number":
            raise MismatchError(f"number {_number_text(value)}", go_type, value)
        raise MismatchError(word, go_type)

    return convert


def number(node: Node) -> Decoder:
    go_type = node.go_type

    def convert(value: Any, _path: Path, _unknown: list[Path]) -> Any:
        if isinstance(value, float):
            return plain_number(value)
        if value.__class__ is int:
            return value
        raise MismatchError(json_word(value), go_type)

    return convert


def base64_bytes(_node: Node) -> Decoder:
    def convert(value: Any, _path: Path, _unknown: list[Path]) -> Any:
        if value.__class__ is not str:
            raise MismatchError(json_word(value), "[]uint8")
        try:
            raw = binascii.a2b_base64(value, strict_mode=True)
        except ValueError:
            raw = _lenient_base64(value)
        return binascii.b2a_base64(raw, newline=False).decode()

    return convert


_ALPHABET = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")


def _lenient_base64(text: str) -> bytes:
    """Base64 as Go reads it: line breaks are skipped; the error names the first byte that is wrong.

    COMPAT: Go encoding/base64 StdEncoding.Decode
    """
    data = text.encode()
    size = len(data)
    at = 0
    quantum: list[int] = []
    while at < size:
        char = chr(data[at])
        at += 1
        if char in "\r\n":
            continue
        if char in _ALPHABET:
            quantum = [*quantum, at] if len(quantum) < 3 else []
            continue
        if char != "=" or len(quantum) < 2:
            raise DecodeError(f"illegal base64 data at input byte {at - 1}")
        at = _padding(data, at, len(quantum))
        quantum = []
    if quantum:
        raise DecodeError(f"illegal base64 data at input byte {size - len(quantum)}")
    return binascii.a2b_base64(data)


def _padding(data: bytes, at: int, have: int) -> int:
    """Check what follows the first ``=`` (``at`` is behind it); the end of the data, or an error."""
    if have == 2:
        while at < len(data) and data[at] in b"\r\n":
            at += 1
        if at == len(data):
            raise DecodeError(f"illegal base64 data at input byte {len(data)}")
        if data[at] != ord("="):
            raise DecodeError(f"illegal base64 data at input byte {at}")
        at += 1
    while at < len(data) and data[at] in b"\r\n":
        at += 1
    if at < len(data):
        raise DecodeError(f"illegal base64 data at input byte {at}")
    return at


def text_form(check: Callable[[str], str], refused: type[Exception]) -> Decoder:
    def convert(value: Any, _path: Path, _unknown: list[Path]) -> Any:
        if value.__class__ is not str:
            raise MismatchError(json_word(value), "string")
        try:
            return check(value)
        except refused as error:
            raise DecodeError(str(error)) from None

    return convert


def time(node: Node) -> Decoder:
    assert isinstance(node, Time)
    return text_form(times.canonical_micro if node.micro else times.canonical, times.TimeError)


def quantity_value(_node: Node) -> Decoder:
    canonical = quantity.canonical

    def convert(value: Any, _path: Path, _unknown: list[Path]) -> Any:
        if value.__class__ is not str:
            # COMPAT: a number is read from its text
            word = json_word(value)
            value = _number_text(value) if word == "number" else word
        try:
            return canonical(value.strip())
        except quantity.QuantityError as error:
            raise DecodeError(str(error)) from None

    return convert


def int_or_string(node: Node) -> Decoder:
    whole = integer(Integer("int32", 32))
    _ = node

    def convert(value: Any, path: Path, unknown: list[Path]) -> Any:
        if value.__class__ is str:
            return value
        return whole(value, path, unknown)

    return convert


def numbered(_node: Node) -> Decoder:
    return lambda value, _path, _unknown: _with_plain_numbers(value)


def _with_plain_numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_plain_numbers(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_with_plain_numbers(inner) for inner in value]
    return plain_number(value) if isinstance(value, float) else value


def plain_number(value: float) -> int | float:
    """COMPAT: Go writes a float without a fraction as a whole number."""
    return int(value) if value.is_integer() and abs(value) < 1e21 else float(value)


def anything(_node: Node) -> Decoder:
    return lambda value, _path, _unknown: value
