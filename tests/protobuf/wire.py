"""Protobuf bytes by hand, field number by field number, so that tests don't depend on our own encoder.

The helpers write what Go's types write: a field that is no pointer is there even when it is empty.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

PREFIX = b"k8s\x00"


class Message(bytes):
    """The bytes of a message, to be put into another one."""


def varint(value: int) -> bytes:
    """A number in groups of seven bits; negative ones as 64 bits."""
    value &= (1 << 64) - 1
    parts = []
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*parts, value])


def field(number: int, value: Any) -> bytes:
    """One field: a number or truth, text, bytes or a message; a list repeats it; a dict is a map."""
    if isinstance(value, list):
        return b"".join(field(number, one) for one in value)
    if isinstance(value, Mapping):
        return b"".join(field(number, message({1: key, 2: inner})) for key, inner in value.items())
    if isinstance(value, int):
        return varint(number << 3) + varint(int(value))
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def message(fields: Mapping[int, Any]) -> Message:
    """A message of fields by number."""
    return Message(b"".join(field(number, value) for number, value in fields.items()))


def body(api_version: str, kind: str, fields: Mapping[int, Any]) -> bytes:
    """A whole body: the prefix, and the message in its envelope."""
    return PREFIX + message({1: message({1: api_version, 2: kind}), 2: message(fields), 3: "", 4: ""})


def read(data: bytes) -> dict[int, list[Any]]:
    """The fields of a message: numbers as int, everything else as bytes."""
    found: dict[int, list[Any]] = {}
    at = 0

    def number() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        tag = number()
        value: Any = number()
        if tag & 7 == 2:
            value, at = data[at : at + value], at + value
        found.setdefault(tag >> 3, []).append(value)
    return found


def unwrap(data: bytes) -> tuple[str, str, dict[int, list[Any]]]:
    """apiVersion, kind and the fields of a whole body."""
    assert data.startswith(PREFIX), data[:20]
    outer = read(data[len(PREFIX) :])
    kind = read(outer[1][0])
    return kind[1][0].decode(), kind[2][0].decode(), read(outer[2][0])
