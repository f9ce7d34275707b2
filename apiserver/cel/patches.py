"""Expressions that make patches: ``Object{metadata: Object.metadata{...}}`` and ``JSONPatch{op: 'add', ...}``.

An object may have any field, so its types are declared for each expression, from the fields that the expression sets.
The checker's structs can't be named ``Object.metadata`` while ``Object`` has a field ``metadata``: the source that it
sees has ``Object_metadata``, which is as long, so that all places in errors are right. Called by ``expressions``.

COMPAT: k8s.io/apiserver/pkg/cel/mutation DynamicTypeResolver, JSONPatchType
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from google.protobuf import descriptor_pb2

from . import syntax

OBJECT: Final = "Object"
JSON_PATCH: Final = "JSONPatch"
JSON_PATCHES: Final = f"list({JSON_PATCH})"

_STRING: Final = 9
_MESSAGE: Final = 11
_DYN: Final = ".google.protobuf.Value"
_TEXTS: Final = ("op", "path", "from")


@dataclass(frozen=True, slots=True)
class Prepared:
    """An expression as the checker is to see it."""

    source: str
    structs: Sequence[Any]
    names: Mapping[str, str]
    """The names that the checker sees, and what they stand for."""

    def restored(self, text: str) -> str:
        """An error with the names that the author wrote."""
        for shown, written in self.names.items():
            text = text.replace(shown, written)
        return text


def prepare(source: str, tree: Any) -> Prepared:
    """The expression, from its parsed tree."""
    fields: dict[str, dict[str, None]] = {OBJECT: {}}
    chars = list(source)
    names: dict[str, str] = {}
    for expr in syntax.walk(tree.expr):
        name = expr.struct_expr.message_name if expr.WhichOneof("kind") == "struct_expr" else ""
        if name != OBJECT and not name.startswith(f"{OBJECT}."):
            continue
        used = fields.setdefault(name, {})
        used.update(dict.fromkeys(entry.field_key for entry in expr.struct_expr.entries))
        place = tree.source_info.positions.get(expr.id, 0)
        if source[place : place + len(name)] == name and "." in name:
            chars[place : place + len(name)] = _shown(name)
            names[_shown(name)] = name
    return Prepared("".join(chars), [_json_patch(), *(_object(_shown(n), used) for n, used in fields.items())], names)


def _shown(name: str) -> str:
    return name.replace(".", "_")


def _object(name: str, fields: Mapping[str, None]) -> Any:
    message = descriptor_pb2.DescriptorProto(name=name)
    message.options.deprecated_legacy_json_field_conflicts = True
    for number, field in enumerate(fields, 1):
        message.field.add(name=field, number=number, label=1, type=_MESSAGE, type_name=_DYN)
    return message


def _json_patch() -> Any:
    message = descriptor_pb2.DescriptorProto(name=JSON_PATCH)
    for number, field in enumerate(_TEXTS, 1):
        message.field.add(name=field, number=number, label=1, type=_STRING)
    message.field.add(name="value", number=len(_TEXTS) + 1, label=1, type=_MESSAGE, type_name=_DYN)
    return message


def as_map(expr: Any, _: Callable[[], int]) -> None:
    """A struct becomes a map of its fields, in place: what is made at run time is plain JSON."""
    expr.struct_expr.message_name = ""
    for entry in expr.struct_expr.entries:
        name = entry.field_key
        entry.map_key.id = entry.id
        entry.map_key.const_expr.string_value = name


def structs(tree: Any) -> list[int]:
    """The ids of the expressions that make structs."""
    return [
        expr.id
        for expr in syntax.walk(tree.expr)
        if expr.WhichOneof("kind") == "struct_expr" and expr.struct_expr.message_name
    ]
