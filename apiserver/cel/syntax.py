"""The tree of a checked expression: ``cel.expr.CheckedExpr``, as the library hands it out serialized.

Called by the environment (rewriting), the cost estimator and the literal checks, which all walk the same tree. Only the
fields that they need are described here; whatever else stands in a message is kept as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from google.protobuf import any_pb2, descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError

_PACKAGE: Final = "cel.expr"
_TYPE_URL: Final = f"type.googleapis.com/{_PACKAGE}.CheckedExpr"

# message -> fields: (name, number, type); "*" in front of a type is repeated, "k:v" is a map. Fields of Expr's and
# Constant's kinds are a oneof.
_MESSAGES: Final[dict[str, tuple[tuple[str, int, str], ...]]] = {
    "Constant": (
        ("null_value", 1, "int64"),
        ("bool_value", 2, "bool"),
        ("int64_value", 3, "int64"),
        ("uint64_value", 4, "uint64"),
        ("double_value", 5, "double"),
        ("string_value", 6, "string"),
        ("bytes_value", 7, "bytes"),
    ),
    "Ident": (("name", 1, "string"),),
    "Select": (("operand", 1, "Expr"), ("field", 2, "string"), ("test_only", 3, "bool")),
    "Call": (("target", 1, "Expr"), ("function", 2, "string"), ("args", 3, "*Expr")),
    "CreateList": (("elements", 1, "*Expr"), ("optional_indices", 2, "*int32")),
    "Entry": (
        ("id", 1, "int64"),
        ("field_key", 2, "string"),
        ("map_key", 3, "Expr"),
        ("value", 4, "Expr"),
        ("optional_entry", 5, "bool"),
    ),
    "CreateStruct": (("message_name", 1, "string"), ("entries", 2, "*Entry")),
    "Comprehension": (
        ("iter_var", 1, "string"),
        ("iter_range", 2, "Expr"),
        ("accu_var", 3, "string"),
        ("accu_init", 4, "Expr"),
        ("loop_condition", 5, "Expr"),
        ("loop_step", 6, "Expr"),
        ("result", 7, "Expr"),
        ("iter_var2", 8, "string"),
    ),
    "Expr": (
        ("id", 2, "int64"),
        ("const_expr", 3, "Constant"),
        ("ident_expr", 4, "Ident"),
        ("select_expr", 5, "Select"),
        ("call_expr", 6, "Call"),
        ("list_expr", 7, "CreateList"),
        ("struct_expr", 8, "CreateStruct"),
        ("comprehension_expr", 9, "Comprehension"),
    ),
    "Empty": (),
    "ListType": (("elem_type", 1, "Type"),),
    "MapType": (("key_type", 1, "Type"), ("value_type", 2, "Type")),
    "AbstractType": (("name", 1, "string"), ("parameter_types", 2, "*Type")),
    "Type": (
        ("dyn", 1, "Empty"),
        ("null", 2, "int64"),
        ("primitive", 3, "int64"),
        ("wrapper", 4, "int64"),
        ("well_known", 5, "int64"),
        ("list_type", 6, "ListType"),
        ("map_type", 7, "MapType"),
        ("message_type", 9, "string"),
        ("type_param", 10, "string"),
        ("type", 11, "Type"),
        ("error", 12, "Empty"),
        ("abstract_type", 14, "AbstractType"),
    ),
    "Reference": (("name", 1, "string"), ("overload_id", 3, "*string"), ("value", 4, "Constant")),
    "SourceInfo": (("location", 2, "string"), ("line_offsets", 3, "*int32"), ("positions", 4, "int64:int32")),
    "ParsedExpr": (("expr", 2, "Expr"), ("source_info", 3, "SourceInfo")),
    "CheckedExpr": (
        ("reference_map", 2, "int64:Reference"),
        ("type_map", 3, "int64:Type"),
        ("expr", 4, "Expr"),
        ("source_info", 5, "SourceInfo"),
    ),
}
_ONEOF: Final = {"Expr": 3, "Constant": 1, "Type": 1}
"""The number of the first field that belongs to the oneof of the message."""

_SCALARS: Final = {"double": 1, "int64": 3, "uint64": 4, "int32": 5, "bool": 8, "string": 9, "bytes": 12}
PRIMITIVES: Final = {1: "bool", 2: "int", 3: "uint", 4: "double", 5: "string", 6: "bytes"}
WELL_KNOWN: Final = {1: "any", 2: "timestamp", 3: "duration"}


class TooDeepError(ValueError):
    """An expression inside expressions inside expressions, more than can be read."""


def _set_type(field: Any, kind: str) -> None:
    if kind in _SCALARS:
        field.type = _SCALARS[kind]
    else:
        field.type, field.type_name = 11, f".{_PACKAGE}.{kind}"


def _add_field(message: Any, owner: str, name: str, number: int, kind: str) -> None:
    field = message.field.add(name=name, number=number, label=1)
    if ":" in kind:
        key, _, value = kind.partition(":")
        entry_name = "".join(part.title() for part in name.split("_")) + "Entry"
        entry = message.nested_type.add(name=entry_name)
        entry.options.map_entry = True
        _set_type(entry.field.add(name="key", number=1, label=1), key)
        _set_type(entry.field.add(name="value", number=2, label=1), value)
        field.label, field.type, field.type_name = 3, 11, f".{_PACKAGE}.{owner}.{entry_name}"
        return
    if kind.startswith("*"):
        field.label = 3
    elif number >= _ONEOF.get(owner, 1 << 30):
        field.oneof_index = 0
    _set_type(field, kind.removeprefix("*"))


def _classes(*names: str) -> list[Any]:
    file = descriptor_pb2.FileDescriptorProto(name="cel/expr/checked.proto", package=_PACKAGE, syntax="proto3")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        if name in _ONEOF:
            message.oneof_decl.add(name="kind")
        for field, number, kind in fields:
            _add_field(message, name, field, number, kind)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return [message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}")) for name in names]


_CHECKED, _PARSED = _classes("CheckedExpr", "ParsedExpr")


def parse(data: bytes) -> Any:
    """The tree of a serialized expression, checked or only parsed.

    :raises TooDeepError: it is nested more deeply than protobuf reads.
    """
    wrapped = any_pb2.Any.FromString(data)
    try:
        return (_CHECKED if wrapped.type_url == _TYPE_URL else _PARSED).FromString(wrapped.value)
    except DecodeError:
        raise TooDeepError from None


def serialize(checked: Any) -> bytes:
    """What :func:`parse` has read, possibly changed, as the library reads it."""
    return any_pb2.Any(type_url=_TYPE_URL, value=checked.SerializeToString()).SerializeToString()


def children(expr: Any) -> Iterator[Any]:
    """The expressions directly below one."""
    kind = expr.WhichOneof("kind")
    if kind == "select_expr":
        yield expr.select_expr.operand
    elif kind == "call_expr":
        if expr.call_expr.HasField("target"):
            yield expr.call_expr.target
        yield from expr.call_expr.args
    elif kind == "list_expr":
        yield from expr.list_expr.elements
    elif kind == "struct_expr":
        for entry in expr.struct_expr.entries:
            if entry.HasField("map_key"):
                yield entry.map_key
            yield entry.value
    elif kind == "comprehension_expr":
        loop = expr.comprehension_expr
        yield from (loop.iter_range, loop.accu_init, loop.loop_condition, loop.loop_step, loop.result)


def walk(expr: Any) -> Iterator[Any]:
    """An expression and all below it."""
    pending = [expr]
    while pending:
        current = pending.pop()
        yield current
        pending.extend(reversed(list(children(current))))


def type_text(kind: Any) -> str:
    """A type as CEL writes it: ``list(string)``. Empty for what has no type of its own."""
    which = kind.WhichOneof("kind")
    if which == "primitive":
        return PRIMITIVES.get(kind.primitive, "")
    if which == "well_known":
        return WELL_KNOWN.get(kind.well_known, "")
    if which == "list_type":
        return f"list({type_text(kind.list_type.elem_type)})"
    if which == "map_type":
        return f"map({type_text(kind.map_type.key_type)}, {type_text(kind.map_type.value_type)})"
    if which == "message_type":
        return str(kind.message_type)
    if which == "abstract_type":
        inner = ", ".join(type_text(t) for t in kind.abstract_type.parameter_types)
        return f"{kind.abstract_type.name}({inner})" if inner else str(kind.abstract_type.name)
    return {"null": "null_type", "dyn": "dyn", "wrapper": "wrapper", "type": "type"}.get(which or "", "")
