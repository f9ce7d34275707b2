"""Decoding: a JSON value checked against a type and brought into the form Go would encode it in.

``decode`` is called on every write with the value that :mod:`apiserver.schema.body` read; it changes the value in
place and hands it on with the strict decoding errors in the order of the document. Each node gets a closure made
once (:func:`decoder`), so that an object costs about 0.1 microseconds per field.

COMPAT: sigs.k8s.io/json UnmarshalStrict, then encoding/json Marshal, then a round trip through storage (which turns
empty lists into none).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from apiserver.schema import scalars
from apiserver.schema.failures import DecodeError, MismatchError, Path, path_text
from apiserver.schema.gotext import json_word, quote
from apiserver.schema.types import (
    Anything,
    Boolean,
    Bytes,
    Decoder,
    Duration,
    Field,
    Integer,
    IntOrString,
    List,
    Map,
    Node,
    Number,
    Numbered,
    Quantity,
    String,
    Struct,
    Time,
    Variant,
)

__all__ = ["Decoded", "DecodeError", "decode", "decoder", "zero"]

MAX_STRICT_ERRORS = 100  # COMPAT: sigs.k8s.io/json stops collecting there


@dataclass(slots=True)
class Decoded:
    """What :func:`decode` hands on: the normalised object and the strict decoding errors, in document order."""

    object: dict[str, Any]
    strict: list[str] = field(default_factory=list)


def decode(value: Any, node: Node) -> Decoded:
    """Check ``value`` against ``node`` and normalise it in place.

    Unknown fields are dropped and reported (``unknown field "spec.foo"``), null means unset, quantities and times
    become canonical, empty values vanish and always-present ones appear as Go encodes them. Defaults that the types
    declare are set; what Go code sets beyond them is the strategies' part.

    :param value: a decoded JSON value; it belongs to this function from now on.
    :raises DecodeError: with the text of Go's decoder, when a value does not fit.
    """
    unknown: list[Path] = []
    try:
        result = decoder(node)({} if value is None else value, None, unknown)
    except RecursionError:
        raise DecodeError("exceeded max depth") from None
    return Decoded(result, _reports(unknown) if unknown else [])


def _reports(unknown: list[Path]) -> list[str]:
    found: dict[str, None] = {}
    for path in unknown:
        found[f"unknown field {quote(path_text(path))}"] = None
        if len(found) == MAX_STRICT_ERRORS:
            break
    return list(found)


def decoder(node: Node) -> Decoder:
    """The decoding closure of a node: ``(value, path, unknown) -> value``; made once per node.

    ``value`` is not None; ``unknown`` collects the paths of fields that are not declared.
    """
    made = node.decoder
    if made is None:
        made = node.decoder = _MAKERS[type(node)](node)
    return made


def zero(node: Node) -> Any:
    """What Go encodes for a field of this type that was never set, when it is always encoded."""
    if isinstance(node, Struct):
        return _zero_struct(node)
    return _ZEROS.get(type(node))


_ZEROS: Mapping[type, Any] = {
    String: "",
    Integer: 0,
    Number: 0,
    Boolean: False,
    Quantity: "0",
    IntOrString: 0,
    Duration: "0s",
}


def _zero_struct(node: Struct) -> dict[str, Any]:
    return {name: make() for name, member in node.fields.items() if (make := _when_missing(member))}


def _list(node: Node) -> Decoder:
    assert isinstance(node, List)
    item_node = node.item
    go_type = node.go_type
    nothing = not isinstance(item_node, Anything)
    cls = _PLAIN.get(type(item_node))

    def read(value: Any, path: Path, unknown: list[Path]) -> Any:
        if value.__class__ is not list:
            raise MismatchError(json_word(value), go_type)
        # made at the first use, which lets types contain themselves
        convert = item_node.decoder or decoder(item_node)
        for index, item in enumerate(value):
            if item.__class__ is cls:
                continue
            if item is None:
                if nothing:
                    value[index] = zero(item_node)
                continue
            new = convert(item, (path, index), unknown)
            if new is not item:
                value[index] = new
        return value

    return read


def _map(node: Node) -> Decoder:
    assert isinstance(node, Map)
    value_node = node.value
    go_type = node.go_type
    nothing = not isinstance(value_node, Anything)
    cls = _PLAIN.get(type(value_node))

    def read(value: Any, path: Path, unknown: list[Path]) -> Any:
        if value.__class__ is not dict:
            raise MismatchError(json_word(value), go_type)
        convert = value_node.decoder or decoder(value_node)
        for key, item in value.items():
            if item.__class__ is cls:
                continue
            if item is None:
                if nothing:
                    value[key] = "" if isinstance(value_node, Bytes) else zero(value_node)
                continue
            new = convert(item, (path, (key,)), unknown)
            if new is not item:
                value[key] = new
        return value

    return read


def _variant(node: Node) -> Decoder:
    assert isinstance(node, Variant)
    shapes, refusal = node.shapes, node.refusal

    def read(value: Any, path: Path, _unknown: list[Path]) -> Any:
        shape = shapes.get(value.__class__)
        if shape is not None:
            return decoder(shape)(value, path, [])
        if refusal:
            raise DecodeError(refusal)
        return None

    return read


_PLAIN: Mapping[type, type] = {String: str, Boolean: bool}
_DROPPABLE = (String, Integer, Number, Boolean, Bytes, List, Map)
_EMPTIABLE = (Bytes, List, Map)
_DROPPING = ("omit", "always")

Entry = tuple[type | None, bool, Decoder]
"""The class that needs no conversion, whether a zero value is dropped, the conversion."""


class _Table(dict[str, Entry | None]):
    """Field name -> entry, made when a field is first seen; None for names that are not declared."""

    __slots__ = ("fields",)

    def __init__(self, fields: Mapping[str, Field]) -> None:
        super().__init__()
        self.fields = fields

    def __missing__(self, name: str) -> Entry | None:
        member = self.fields.get(name)
        if member is None:
            return None
        node = member.node
        # COMPAT: storage does not tell an empty list from none, so an always-present one becomes null
        drop = (
            isinstance(node, _DROPPABLE if member.presence == "omit" else _EMPTIABLE) and member.presence in _DROPPING
        )
        made = self[name] = (_PLAIN.get(type(node)), drop, decoder(node))
        return made


def _when_missing(member: Field) -> Callable[[], Any] | None:
    """What makes the value of a field that is not there: its default, else its zero value if it is always encoded."""
    node, default = member.node, member.default
    if default is not None and (default or member.presence != "omit"):
        text = orjson.dumps(default)
        # a default may lack defaults of its own
        return lambda: decoder(node)(orjson.loads(text), None, [])
    if member.presence == "always":
        return lambda: zero(node)
    return (lambda: None) if member.presence == "null" else None


def _struct(node: Node) -> Decoder:  # noqa: C901 - the hot loop: in pieces it costs twice as much
    assert isinstance(node, Struct)
    go_name, go_type = node.go_name, node.go_type
    fields = node.fields
    table = _Table(fields)
    missing = tuple((name, make) for name, member in fields.items() if (make := _when_missing(member)))
    keep = node.preserve_unknown

    def read(value: Any, path: Path, unknown: list[Path]) -> Any:  # noqa: C901 - as above
        if value.__class__ is not dict:
            raise MismatchError(json_word(value), go_type)
        drop: list[str] = []
        key = ""
        try:
            for key, item in value.items():
                entry = table[key]
                if entry is None:
                    if not keep:
                        unknown.append((path, key))
                        drop.append(key)
                    continue
                cls, omit, convert = entry
                if item.__class__ is cls:
                    if omit and not item:
                        drop.append(key)
                elif item is None:
                    if not fields[key].nullable:
                        drop.append(key)
                else:
                    new = convert(item, (path, key), unknown)
                    if new is not item:
                        value[key] = new
                    if omit and not new:
                        drop.append(key)
        except MismatchError as error:
            error.place(go_name, (path, key))
            raise
        for key in drop:
            del value[key]
        for name, make in missing:
            if name not in value:
                value[name] = make()
        return value

    return read


_MAKERS: Mapping[type, Callable[[Any], Decoder]] = {
    String: scalars.plain(str),
    Boolean: scalars.plain(bool),
    Integer: scalars.integer,
    Number: scalars.number,
    Bytes: scalars.base64_bytes,
    Time: scalars.time,
    Duration: lambda _node: scalars.text_form(str, ValueError),
    Quantity: scalars.quantity_value,
    IntOrString: scalars.int_or_string,
    Anything: scalars.anything,
    Numbered: scalars.numbered,
    List: _list,
    Map: _map,
    Struct: _struct,
    Variant: _variant,
}
