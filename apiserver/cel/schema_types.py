"""CEL types of a structural schema: what ``self`` is, field by field, and how large it can get.

Called by ``rules`` and ``definition``. A :class:`DeclaredType` serves the checker (as a protobuf struct, through
:func:`declarations`), the cost estimator (sizes) and the conversion of values (``values``).

COMPAT: k8s.io/apiserver/pkg/cel/common/schemas.go SchemaDeclType, k8s.io/apiextensions-apiserver WithTypeAndObjectMeta
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from google.protobuf import descriptor_pb2

from .environment import Declarations
from .names import escape

MAX_REQUEST_BYTES: Final = 3 * 1024 * 1024
_LONGEST_TEXT: Final = MAX_REQUEST_BYTES - 2  # the quotation marks
_NAME_LENGTH: Final = 253
_BYTES_OF_RUNE: Final = 4

# format -> CEL type, smallest and largest size of its JSON
_FORMATS: Final[dict[str, tuple[str, int, int]]] = {
    "byte": ("bytes", 2, _LONGEST_TEXT),
    "duration": ("duration", 3, 32),
    "date": ("timestamp", 12, 12),
    "date-time": ("timestamp", 21, 32),
}
_SCALARS: Final[dict[str, tuple[str, int]]] = {"boolean": ("bool", 4), "number": ("double", 1), "integer": ("int", 1)}

Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class DeclaredType:
    """One type: ``kind`` is CEL's name, ``list``, ``map`` or ``object``."""

    kind: str
    smallest: int
    """The least bytes of its JSON."""
    largest: int = 0
    """The most elements, characters or entries."""
    element: DeclaredType | None = None
    fields: Mapping[str, DeclaredType] = field(default_factory=dict)
    """The types of an object's properties, by their escaped names."""
    schema: Schema = field(default_factory=dict, repr=False)
    longest_key: int = 0
    """The most characters of a map's key; a schema does not say. COMPAT: StringType.MaxElements"""

    def at(self, path: Iterable[str]) -> DeclaredType | None:
        """The type that a path of the cost estimator leads to. COMPAT: sizeEstimator.EstimateSize"""
        found: DeclaredType | None = self
        for name in path:
            if found is None:
                return None
            if name == "@keys":
                found = DeclaredType("string", 2, found.longest_key) if found.kind == "map" else None
            elif name in ("@items", "@values") or (found.element is not None and found.element.kind == "any"):
                found = found.element
            else:
                found = found.fields.get(name)
        return found


STRING: Final = DeclaredType("string", 2, _LONGEST_TEXT)


def of_schema(schema: Schema | None, root: bool = False) -> DeclaredType | None:
    """The type of a schema; None for what expressions can't see.

    ``root`` is set for the root of a resource and of an embedded one.
    """
    if not isinstance(schema, Mapping):
        return None
    if schema.get("x-kubernetes-int-or-string"):
        limit = schema.get("maxLength")
        most = _LONGEST_TEXT if limit is None else max(limit, 0) * _BYTES_OF_RUNE
        return DeclaredType("dyn", 1, most, schema=schema)
    if root:
        schema = with_type_and_meta(schema)
    kind = schema.get("type")
    if kind == "array":
        return _array(schema)
    if kind == "object":
        return _object(schema)
    if kind == "string":
        return _string(schema)
    if kind in _SCALARS:
        name, smallest = _SCALARS[kind]
        return DeclaredType(name, smallest, schema=schema)
    return None


def of_part(schema: Schema | None) -> DeclaredType | None:
    """The type of a property, an item or an additional property."""
    embedded = isinstance(schema, Mapping) and bool(schema.get("x-kubernetes-embedded-resource"))
    return of_schema(schema, embedded)


def _array(schema: Schema) -> DeclaredType | None:
    element = of_part(schema.get("items"))
    if element is None:
        return None
    limit = schema.get("maxItems")
    # the brackets, and a comma each
    most = (MAX_REQUEST_BYTES - 2) // (element.smallest + 1) if limit is None else max(limit, 0)
    return DeclaredType("list", 2, most, element, schema=schema)


def _object(schema: Schema) -> DeclaredType | None:
    additional = schema.get("additionalProperties")
    if isinstance(additional, Mapping):
        element = of_part(additional)
        if element is None:
            return None
        limit = schema.get("maxProperties")
        # the braces; a key of two bytes, its quotation marks, colon and comma each
        most = (MAX_REQUEST_BYTES - 2) // (element.smallest + 6) if limit is None else max(limit, 0)
        return DeclaredType("map", 2, most, element, schema=schema)
    fields: dict[str, DeclaredType] = {}
    smallest = 2
    required = set(schema.get("required") or ())
    for name, part in (schema.get("properties") or {}).items():
        kind = of_part(part)
        if kind is None:
            continue
        escaped = escape(name)
        if escaped is not None:
            fields[escaped] = kind
        if name in required and part.get("default") is None:
            smallest += len(name.encode()) + kind.smallest + 4
    return DeclaredType("object", smallest, 0, None, fields, schema)


def _string(schema: Schema) -> DeclaredType:
    limit = schema.get("maxLength")
    known = _FORMATS.get(schema.get("format", ""))
    if known is not None:
        kind, smallest, largest = known
        return DeclaredType(
            kind, smallest, max(limit, 0) if kind == "bytes" and limit is not None else largest, schema=schema
        )
    if limit is not None:
        largest = max(limit, 0) * _BYTES_OF_RUNE
    elif schema.get("enum"):
        largest = max((len(value.encode()) for value in schema["enum"] if isinstance(value, str)), default=0)
    else:
        largest = _LONGEST_TEXT
    return DeclaredType("string", 2, largest, schema=schema)


def with_type_and_meta(schema: Schema) -> Schema:
    """The schema of a resource, with apiVersion, kind, and of the metadata what rules may see."""
    given = schema.get("properties") or {}
    meta = (given.get("metadata") or {}).get("properties") or {}
    name = _capped(meta.get("name"), _NAME_LENGTH)
    generate = _capped(meta.get("generateName"), _NAME_LENGTH - 1)
    properties = {
        **given,
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": {"type": "object", "properties": {"name": name, "generateName": generate}},
    }
    return {**schema, "properties": properties}


def _capped(schema: Schema | None, limit: int) -> Schema:
    own = (schema or {}).get("maxLength")
    return {"type": "string", "maxLength": limit if own is None else min(own, limit)}


_numbers = itertools.count(1)

_FIELD_TYPES: Final = {"bool": 8, "int": 3, "double": 1, "string": 9, "bytes": 12}
_FIELD_MESSAGES: Final = {
    "dyn": ".google.protobuf.Value",
    "timestamp": ".google.protobuf.Timestamp",
    "duration": ".google.protobuf.Duration",
    # A list in a list and a map in a map have no form in protobuf: their elements are not checked.
    "list": ".google.protobuf.ListValue",
    "map": ".google.protobuf.Struct",
}
_RESERVED_NUMBERS: Final = range(19000, 20000)


def declarations(declared: DeclaredType, optional_old: bool = False) -> Declarations:
    """``self`` and ``oldSelf`` of a type."""
    structs: list[Any] = []
    # COMPAT: generateUniqueSelfTypeName: nobody is to depend on the name
    name = _type_name(declared, f"selfType{next(_numbers)}", structs)
    old = f"optional_type<{name}>" if optional_old else name
    return Declarations({"self": name, "oldSelf": old}, structs)


def declare(variables: Mapping[str, str | DeclaredType]) -> Declarations:
    """Variables of types that are written out, or of structs.

    Fields of a struct variable whose types protobuf has no form for are variables, too, named ``variable.field``: CEL
    looks for the longest name first.
    """
    structs: list[Any] = []
    types: dict[str, str] = {}
    for name, kind in variables.items():
        if isinstance(kind, str):
            types[name] = kind
            continue
        types[name] = _type_name(kind, f"{name.title()}Type{next(_numbers)}", structs)
        for field_name, part in kind.fields.items():
            if part.element is not None and part.element.element is not None:
                types[f"{name}.{field_name}"] = _written(part)
    return Declarations(types, structs)


def _written(declared: DeclaredType) -> str:
    if declared.element is None:
        return declared.kind
    inner = _written(declared.element)
    return f"list<{inner}>" if declared.kind == "list" else f"map<string,{inner}>"


def _type_name(declared: DeclaredType, name: str, structs: list[Any]) -> str:
    if declared.kind == "object":
        _struct(declared, name, structs)
        return name
    if declared.element is not None:
        inner = _type_name(declared.element, name, structs)
        return f"list<{inner}>" if declared.kind == "list" else f"map<string,{inner}>"
    return declared.kind


def _struct(declared: DeclaredType, name: str, structs: list[Any]) -> None:
    message = descriptor_pb2.DescriptorProto(name=name)
    # Names such as foo_bar and fooBar stand side by side: nothing here is ever written as protobuf's JSON.
    message.options.deprecated_legacy_json_field_conflicts = True
    structs.append(message)
    numbers = (number for number in itertools.count(1) if number not in _RESERVED_NUMBERS)
    for (field_name, kind), number in zip(declared.fields.items(), numbers, strict=False):
        made = message.field.add(name=field_name, number=number, label=1)
        _set_field(made, kind, message, name, structs)


def _set_field(made: Any, kind: DeclaredType, message: Any, owner: str, structs: list[Any]) -> None:
    if kind.kind == "list" and kind.element is not None:
        made.label = 3
        _set_single(made, kind.element, structs)
    elif kind.kind == "map" and kind.element is not None:
        entry_name = _entry_name(made.name)
        if any(nested.name == entry_name for nested in message.nested_type):
            made.type, made.type_name = 11, _FIELD_MESSAGES["map"]
            return
        entry = message.nested_type.add(name=entry_name)
        entry.options.map_entry = True
        entry.field.add(name="key", number=1, label=1, type=9)
        _set_single(entry.field.add(name="value", number=2, label=1), kind.element, structs)
        made.label, made.type, made.type_name = 3, 11, f".{owner}.{entry_name}"
    else:
        _set_single(made, kind, structs)


def _entry_name(name: str) -> str:
    """The name that protobuf demands for the entries of a map: ``foo_bar`` -> ``FooBarEntry``."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_")) + "Entry"


def _set_single(made: Any, kind: DeclaredType, structs: list[Any]) -> None:
    if kind.kind == "object":
        name = f"{structs[-1].name}_{len(structs)}"
        _struct(kind, name, structs)
        made.type, made.type_name = 11, f".{name}"
    elif kind.kind in _FIELD_TYPES:
        made.type = _FIELD_TYPES[kind.kind]
    else:
        made.type, made.type_name = 11, _FIELD_MESSAGES[kind.kind]
