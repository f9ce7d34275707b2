"""The OpenAPI v2 document as a protobuf message, which Go clients ask for.

The message is ``openapi.v2.Document`` of the gnostic models. Called by :mod:`apiserver.schema.openapi.documents` with
the document as JSON has it.

Each line of the table is a message: ``key=NUMBER[:TYPE]`` for each key of the JSON object. TYPE is another message,
``bool``, ``int64``, ``double``, ``any`` (any JSON value), or a string when left out; ``[TYPE]`` is a list of them, and
``{TYPE}`` an object whose values they are. The key ``x-*`` stands for all keys that begin with ``x-``.

COMPAT: github.com/google/gnostic-models openapiv2/OpenAPIv2.proto
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import orjson

_PRIMITIVE = (
    "type={0} format={1} items={2}:PrimitivesItems collectionFormat={3} default={4}:any maximum={5}:double "
    "exclusiveMaximum={6}:bool minimum={7}:double exclusiveMinimum={8}:bool maxLength={9}:int64 minLength={10}:int64 "
    "pattern={11} maxItems={12}:int64 minItems={13}:int64 uniqueItems={14}:bool enum={15}:[any] multipleOf={16}:double"
)
_PLACED = "required=1:bool in=2 description=3 name=4 "


def _primitive(first: int) -> str:
    """The keys that all values which are no objects have, numbered from ``first`` on."""
    return _PRIMITIVE.format(*range(first, first + 17))


_TABLE: Mapping[str, str] = {
    "Document": "swagger=1 info=2:Info host=3 basePath=4 schemes=5:[] consumes=6:[] produces=7:[] paths=8:Paths "
    "definitions=9:{Schema} parameters=10:{Parameter} responses=11:{Response} security=12:[SecurityRequirement] "
    "securityDefinitions=13:{SecurityDefinitionsItem} tags=14:[Tag] x-*=16",
    "Info": "title=1 version=2 description=3 termsOfService=4 x-*=7",
    "Tag": "name=1 description=2 x-*=4",
    "PathItem": "$ref=1 get=2:Operation put=3:Operation post=4:Operation delete=5:Operation options=6:Operation "
    "head=7:Operation patch=8:Operation parameters=9:[ParametersItem] x-*=10",
    "Operation": "tags=1:[] summary=2 description=3 operationId=5 produces=6:[] consumes=7:[] "
    "parameters=8:[ParametersItem] responses=9:Responses schemes=10:[] deprecated=11:bool "
    "security=12:[SecurityRequirement] x-*=13",
    "JsonReference": "$ref=1 description=2",
    "BodyParameter": "description=1 name=2 in=3 required=4:bool schema=5:Schema x-*=6",
    "HeaderParameterSubSchema": f"{_PLACED}{_primitive(5)} x-*=22",
    "FormDataParameterSubSchema": f"{_PLACED}allowEmptyValue=5:bool {_primitive(6)} x-*=23",
    "QueryParameterSubSchema": f"{_PLACED}allowEmptyValue=5:bool {_primitive(6)} x-*=23",
    "PathParameterSubSchema": f"{_PLACED}{_primitive(5)} x-*=22",
    "PrimitivesItems": f"{_primitive(1)} x-*=18",
    "Header": f"{_primitive(1)} description=18 x-*=19",
    "Response": "description=1 schema=2:SchemaItem headers=3:{Header} x-*=5",
    "Schema": "$ref=1 format=2 title=3 description=4 default=5:any multipleOf=6:double maximum=7:double "
    "exclusiveMaximum=8:bool minimum=9:double exclusiveMinimum=10:bool maxLength=11:int64 minLength=12:int64 "
    "pattern=13 maxItems=14:int64 minItems=15:int64 uniqueItems=16:bool maxProperties=17:int64 minProperties=18:int64 "
    "required=19:[] enum=20:[any] additionalProperties=21:AdditionalPropertiesItem type=22:TypeItem items=23:ItemsItem "
    "allOf=24:[Schema] properties=25:{Schema} discriminator=26 readOnly=27:bool example=30:any x-*=31",
    "ApiKeySecurity": "type=1 name=2 in=3 description=4 x-*=5",
    # Messages with one of several values, or with a list under no name; which one follows from the value.
    "Paths": "path=2:{PathItem}",
    "Responses": "code=1:{ResponseValue}",
    "ParametersItem": "parameter=1:Parameter reference=2:JsonReference",
    "Parameter": "body=1:BodyParameter other=2:NonBodyParameter",
    "NonBodyParameter": "header=1:HeaderParameterSubSchema formData=2:FormDataParameterSubSchema "
    "query=3:QueryParameterSubSchema path=4:PathParameterSubSchema",
    "ResponseValue": "response=1:Response reference=2:JsonReference",
    "SchemaItem": "schema=1:Schema",
    "AdditionalPropertiesItem": "schema=1:Schema boolean=2:bool",
    "SecurityDefinitionsItem": "apiKey=2:ApiKeySecurity",
    "SecurityRequirement": "of=1:{StringArray}",
    "StringArray": "value=1:[]",
    "TypeItem": "value=1:[]",
    "ItemsItem": "schema=1:[Schema]",
}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


_CHOICES: Mapping[str, Callable[[Any], Mapping[str, Any]]] = {
    "Paths": lambda value: {"path": value},
    "Responses": lambda value: {"code": value},
    "ParametersItem": lambda value: {"reference" if "$ref" in value else "parameter": value},
    "Parameter": lambda value: {"body" if value["in"] == "body" else "other": value},
    "NonBodyParameter": lambda value: {value["in"]: value},
    "ResponseValue": lambda value: {"reference" if "$ref" in value else "response": value},
    "SchemaItem": lambda value: {"schema": value},
    "AdditionalPropertiesItem": lambda value: {"boolean" if isinstance(value, bool) else "schema": value},
    "SecurityDefinitionsItem": lambda value: {value["type"]: value},
    "SecurityRequirement": lambda value: {"of": value},
    "StringArray": lambda value: {"value": _listed(value)},
    "TypeItem": lambda value: {"value": _listed(value)},
    "ItemsItem": lambda value: {"schema": _listed(value)},
}
_SCALARS = {"string": "TYPE_STRING", "bool": "TYPE_BOOL", "int64": "TYPE_INT64", "double": "TYPE_DOUBLE"}
_EXTENSIONS = "x-*"


class _Key:
    """One key of a message: its field's name, its type, and whether it holds a list or an object of such values."""

    __slots__ = ("field", "form", "number", "type")

    def __init__(self, number: str, text: str) -> None:
        self.number = int(number)
        self.field = f"f{number}"
        self.form = text[:1] if text[:1] in ("[", "{") else ""
        self.type = text.strip("[]{}") or "string"


@cache
def _keys(message: str) -> dict[str, _Key]:
    found = {}
    for word in _TABLE[message].split():
        key, _, rest = word.partition("=")
        number, _, text = rest.partition(":")
        found[key] = _Key(number, "{any}" if key == _EXTENSIONS else text)
    return found


@cache
def _document() -> Callable[[], Any]:
    """The class of the message, from a pool of its own."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    file = descriptor_pb2.FileDescriptorProto(name="openapi.v2.proto", package="openapi.v2", syntax="proto3")

    field_type = descriptor_pb2.FieldDescriptorProto

    def describe(name: str, fields: Iterator[tuple[int, str, bool]]) -> None:
        descriptor = file.message_type.add(name=name)
        for number, kind, repeated in fields:
            field = descriptor.field.add(name=f"f{number}", number=number)
            field.label = field_type.LABEL_REPEATED if repeated else field_type.LABEL_OPTIONAL
            field.type = field_type.Type.Value(_SCALARS.get(kind, "TYPE_MESSAGE"))
            if kind not in _SCALARS:
                field.type_name = f".openapi.v2.{kind}"

    named = {key.type for message in _TABLE for key in _keys(message).values() if key.form == "{"}
    for message in _TABLE:
        describe(message, map(_described, _keys(message).values(), [message] * len(_keys(message))))
    for value in sorted(named):
        describe(f"Named{value}", iter([(1, "string", False), (2, value, False)]))
        describe(f"MapOf{value}", iter([(1, f"Named{value}", True)]))
    describe("any", iter([(2, "string", False)]))
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    made: Callable[[], Any] = message_factory.GetMessageClass(pool.FindMessageTypeByName("openapi.v2.Document"))
    return made


_DIRECT = ("Paths", "Responses", "SecurityRequirement")
"""Messages that hold the pairs of an object themselves; elsewhere a message of its own does."""


def _described(key: _Key, message: str) -> tuple[int, str, bool]:
    if key.form != "{":
        return key.number, key.type, key.form == "["
    direct = message in _DIRECT or key.type == "any"
    return key.number, f"{'Named' if direct else 'MapOf'}{key.type}", direct


def _fill(message: Any, name: str, value: Any) -> None:
    """Write a JSON value into a message, in place."""
    if name in _CHOICES:
        value = _CHOICES[name](value)
    keys = _keys(name)
    extensions = {}
    for each, found in value.items():
        key = keys.get(each)
        if key is not None:
            _set(message, key, found, direct=name in _DIRECT)
        elif each.startswith("x-"):
            extensions[each] = found
    if extensions:
        _set(message, keys[_EXTENSIONS], extensions, direct=True)


def _set(message: Any, key: _Key, value: Any, *, direct: bool) -> None:
    if key.form == "{":
        entries = getattr(message, key.field)
        if not direct:
            entries.SetInParent()
            entries = entries.f1
        for name, found in value.items():
            entry = entries.add(f1=name)
            _write(entry.f2, key.type, found)
    elif key.form == "[":
        values = getattr(message, key.field)
        if key.type in _SCALARS:
            values.extend(value)
        else:
            for found in value:
                _write(values.add(), key.type, found)
    elif key.type in _SCALARS:
        setattr(message, key.field, value)
    else:
        _write(getattr(message, key.field), key.type, value)


def _write(message: Any, name: str, value: Any) -> None:
    message.SetInParent()
    if name == "any":
        message.f2 = orjson.dumps(value).decode() + "\n"  # every JSON value is YAML
    else:
        _fill(message, name, value)


def encode(document: Mapping[str, Any]) -> bytes:
    """The message for a whole document."""
    message = _document()()
    _fill(message, "Document", document)
    encoded: bytes = message.SerializeToString()
    return encoded
