"""Schemas in CustomResourceDefinitions over HTTP: what is accepted, and the words for what is not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from apiserver.testing.server import LocalServer
from tests.plugins.resources.cases import having
from tests.plugins.resources.test_custom_resource_definitions import DEFINITION, problems, version

Object = dict[str, Any]

AT = "spec.validation.openAPIV3Schema"
A = f"{AT}.properties[a]"
PRESERVE, EMBEDDED = "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"
INT, LIST, KEYS, MAP = (
    "x-kubernetes-int-or-string", "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type"
)  # fmt: skip
STRING: Object = {"type": "string"}
INT_OR_STRING = [{"type": "integer"}, {"type": "string"}]
TYPES = 'supported values: "array", "boolean", "integer", "number", "object", "string"'
SCALAR = "must be a scalar type if parent array's x-kubernetes-list-type is map"
KEYED = "this property is in x-kubernetes-list-map-keys, so it"
ATOMIC = "must be atomic as item of a list with x-kubernetes-list-type=set"


@pytest.fixture(scope="module")
def server() -> Iterator[LocalServer]:
    with LocalServer() as found:
        yield found


def told(server: LocalServer, schema: Object, **more: Any) -> list[str]:
    return problems(server, having(DEFINITION, spec__versions=[version(schema=schema, **more)]))


def field(server: LocalServer, schema: Object) -> list[str]:
    """The problems of the schema of a field, below the path of that field."""
    found = told(server, {"type": "object", "properties": {"a": schema}})
    return [text.removeprefix(A) for text in found]


def array(item: Object, **more: Any) -> Object:
    return {"type": "array", "items": item, **more}


def struct(**properties: Object) -> Object:
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        # types
        ({"type": "null"},
         [".type: Forbidden: type cannot be set to null, use nullable as an alternative",
          f'.type: Unsupported value: "null": {TYPES}']),
        ({INT: True}, []),
        ({PRESERVE: True}, []),
        ({INT: True, "anyOf": INT_OR_STRING}, []),
        ({INT: True, "allOf": [{"anyOf": INT_OR_STRING}, {"maxLength": 2}]}, []),
        ({INT: True, "oneOf": INT_OR_STRING},
         [".oneOf[0].type: Forbidden: must be empty to be structural",
          ".oneOf[1].type: Forbidden: must be empty to be structural"]),
        ({INT: True, PRESERVE: True},
         [f".{PRESERVE}: Invalid value: true: must be false if {INT} is true"]),
        ({"type": "object", INT: True, EMBEDDED: True, PRESERVE: True},
         [f".{EMBEDDED}: Invalid value: true: must be false if {INT} is true",
          f".{PRESERVE}: Invalid value: true: must be false if {INT} is true"]),
        ({EMBEDDED: True, PRESERVE: True}, [f".type: Required value: must be object if {EMBEDDED} is true"]),
        ({"type": "string", EMBEDDED: True, PRESERVE: True},
         [f'.type: Invalid value: "string": must be object if {EMBEDDED} is true']),
        ({"type": "object", EMBEDDED: True, "additionalProperties": STRING, PRESERVE: True},
         [f".additionalProperties: Forbidden: must not be used if {EMBEDDED} is set"]),
        ({"type": "object", PRESERVE: False}, [f".{PRESERVE}: Invalid value: false: must be true or undefined"]),
        # what every object has
        ({**struct(kind={"type": "integer"}, apiVersion=struct(), metadata=STRING), EMBEDDED: True},
         ['.properties[apiVersion].type: Invalid value: "object": must be string',
          '.properties[kind].type: Invalid value: "integer": must be string',
          '.properties[metadata].type: Invalid value: "string": must be object']),
        ({**struct(metadata=struct(annotations={"type": "object", EMBEDDED: True, PRESERVE: True})), EMBEDDED: True},
         [f".properties[metadata].properties[annotations].{EMBEDDED}: Forbidden: "
          "must not be used inside of resource meta"]),
        ({**struct(metadata={"type": "object", "additionalProperties": {"type": "string", "default": "x"}}),
          EMBEDDED: True},
         [".properties[metadata].additionalProperties.default: Forbidden: must not be set inside additionalProperties "
          "applying to object metadata"]),
        # below junctors
        ({"type": "object", "properties": {"x": STRING}, "anyOf": [{"properties": {"x": {"maxLength": 1}}}],
          "not": {"required": ["x"]}}, []),
        ({"type": "string", "allOf": [{"default": "x", "title": "t", "description": "d", "nullable": True}]},
         [".allOf[0].default: Forbidden: must be undefined to be structural",
          ".allOf[0].description: Forbidden: must be empty to be structural",
          ".allOf[0].nullable: Forbidden: must be false to be structural",
          ".allOf[0].title: Forbidden: must be empty to be structural"]),
        ({**array(STRING), "oneOf": [{"x-kubernetes-validations": [{"rule": "true"}]}, {PRESERVE: True}, {INT: True}]},
         [".oneOf[0].x-kubernetes-validations: Forbidden: must be empty to be structural",
          f".oneOf[1].{PRESERVE}: Forbidden: must be false to be structural",
          f".oneOf[2].{INT}: Forbidden: must be false to be structural"]),
        ({"type": "object", "additionalProperties": STRING, "allOf": [{"additionalProperties": {"maxLength": 1}}]},
         [".allOf[0].additionalProperties: Forbidden: must be undefined to be structural"]),
        ({**struct(metadata=struct(x=STRING)), "anyOf": [{"properties": {"metadata": {"required": ["x"]}}}]},
         [".anyOf[0].properties[metadata]: Forbidden: must not be specified in a nested context"]),
        # lists and maps
        (array(STRING, **{LIST: "bag"}),
         [f'.{LIST}: Unsupported value: "bag": supported values: "atomic", "set", "map"']),
        ({"type": "object", MAP: "loose"},
         [f'.{MAP}: Unsupported value: "loose": supported values: "atomic", "granular"']),
        ({"type": "object", LIST: "atomic"},
         [f'.type: Invalid value: "object": must be array if {LIST} is specified']),
        ({INT: True, LIST: "atomic", MAP: "atomic"},
         [f".type: Required value: must be array if {LIST} is specified",
          f".type: Required value: must be object if {MAP} is specified"]),
        ({"type": "string", MAP: "atomic"},
         [f'.type: Invalid value: "string": must be object if {MAP} is specified']),
        (array(array(STRING, **{LIST: "set"}), **{LIST: "set"}),
         [f'.items.{LIST}: Invalid value: "set": {ATOMIC}']),
        (array({"type": "object", MAP: "atomic"}, **{LIST: "set"}), []),
        (array({"type": "string", "nullable": True}, **{LIST: "set"}),
         [f".items.nullable: Forbidden: cannot be nullable when {LIST} is set"]),
        (array(struct(k=STRING), **{KEYS: ["k"]}),
         [f".{LIST}: Required value: must be map if {KEYS} is non-empty"]),
        (array(struct(k=STRING), **{KEYS: ["k"], LIST: "atomic"}),
         [f'.{LIST}: Invalid value: "atomic": must be map if {KEYS} is non-empty']),
        (array(STRING, **{KEYS: ["k"], LIST: "map"}),
         [f""".items.type: Invalid value: "string": must be object if parent array's {LIST} is map"""]),
        (array({**struct(k=struct()), "required": ["k"]}, **{KEYS: ["k", "k", "l"], LIST: "map"}),
         [f'.items.properties[k].type: Invalid value: "object": {SCALAR}',
          f'.{KEYS}: Invalid value: ["k","k","l"]: entries must all be names of item properties',
          f'.{KEYS}: Invalid value: ["k","k","l"]: must not contain duplicate entries']),
        (array(struct(k={"type": "string", "default": "x", "nullable": True}), **{KEYS: ["k"], LIST: "map"}),
         [f".items.properties[k].nullable: Forbidden: {KEYED} cannot be nullable"]),
        (array({**struct(k=STRING), "required": ["k"]}, **{KEYS: ["k"], LIST: "map"}), []),
        # words that are not known
        ({"type": "array", "items": [STRING]},
         [".items: Forbidden: items must be a schema object and not an array"]),
        ({"type": "object", "additionalItems": False},
         [".additionalItems: Forbidden: additionalItems is not supported"]),
        ({"type": "object", "definitions": {"x": {"type": "y"}}},
         [".definitions: Forbidden: definitions is not supported",
          f'.definitions[x].type: Unsupported value: "y": {TYPES}']),
        ({"type": "object", "dependencies": {"x": ["y"]}},
         [".dependencies: Forbidden: dependencies is not supported"]),
        # regular expressions of Go
        ({"type": "string", "pattern": "^(?!x)"},
         ['.pattern: Invalid value: "^(?!x)": must be a valid regular expression, but isn\'t: '
          "error parsing regexp: invalid or unsupported Perl syntax: `(?!`"]),
        ({"type": "object", "additionalProperties": {"type": "string", "pattern": "["}},
         ['.additionalProperties.pattern: Invalid value: "[": must be a valid regular expression, but isn\'t: '
          "error parsing regexp: missing closing ]: `[`"]),
    ],
)  # fmt: skip
def test_the_schema_of_a_field(server: LocalServer, schema: Object, expected: list[str]) -> None:
    assert sorted(set(field(server, schema))) == sorted(set(expected))


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        # they fit
        ({"type": "integer", "default": 3, "maximum": 5}, []),
        ({"type": "string", "nullable": True, "default": None}, []),
        ({"type": "object", "default": {"x": {"y": 1}}, PRESERVE: True}, []),
        ({"type": "object", "additionalProperties": {"type": "integer"}, "default": {"x": 1}}, []),
        (array(struct(x={"type": "integer", "default": 1}), default=[{"x": 2}, {}]), []),
        ({"type": "string", "pattern": r"^(?i)\pL\z", "default": "x"}, []),
        # and they do not
        ({**struct(x={"type": "string", "pattern": r"\p{L}"}, y={"type": "string", "pattern": "^a$"}),
          "default": {"x": "1", "y": "b"}},
         [".default.x: Invalid value: \"1\": x in body should match '\\p{L}'",
          ".default.y: Invalid value: \"b\": y in body should match '^a$'"]),
        ({"type": "string", "enum": ["a", "b"], "default": "c"},
         ['.default: Unsupported value: "c": supported values: "a", "b"']),
        ({**struct(x={"type": "integer", "maximum": 5}), "default": {"x": 9}},
         [".default.x: Invalid value: 9: x in body should be less than or equal to 5"]),
        ({**struct(x=STRING), "required": ["x"], "default": {}}, [".default.x: Required value"]),
        ({"type": "object", "default": {"x": 1}},
         ['.default: Invalid value: {"x":1}: must not have unknown fields']),
        ({**struct(b={"type": "object", "default": {"c": {}}}), PRESERVE: True},
         ['.properties[b].default: Invalid value: {"c":{}}: must not have unknown fields']),
        ({**struct(b=struct(c=STRING)), PRESERVE: True, "default": {"b": {"d": 1}, "e": {}}},
         ['.default: Invalid value: {"b":{"d":1},"e":{}}: must not have unknown fields']),
        (array(array(struct()), default=[[{"x": 1}]]),
         ['.default: Invalid value: [[{"x":1}]]: must not have unknown fields']),
        ({"type": "object", "additionalProperties": True, "default": {"x": {"y": 1}}},
         ['.default: Invalid value: {"x":{"y":1}}: must not have unknown fields']),
        # objects in objects
        ({"type": "object", EMBEDDED: True, PRESERVE: True, "default": {"apiVersion": "v1", "kind": "Pod"}}, []),
        ({"type": "object", EMBEDDED: True, PRESERVE: True, "default": {}},
         [".default.apiVersion: Required value", ".default.kind: Required value"]),
        ({"type": "object", EMBEDDED: True, PRESERVE: True, "default": {"apiVersion": "a/b/c", "kind": ""}},
         ['.default.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
          '.default.kind: Invalid value: "": must not be empty']),
        ({"type": "object", EMBEDDED: True, PRESERVE: True, "default": {"apiVersion": 1, "kind": "Pod"}},
         [".default.apiVersion: Invalid value: 1: must be a string"]),
        ({"type": "object", EMBEDDED: True, PRESERVE: True,
          "default": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": 5}}},
         ['.default.metadata: Invalid value: {"name":5}: json: cannot unmarshal number into Go struct field '
          "ObjectMeta.name of type string"]),
        ({"type": "object", EMBEDDED: True, PRESERVE: True,
          "default": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a/b"}}},
         [".default.metadata.name: Invalid value: \"a/b\": may not contain '/'"]),
        ({**struct(metadata=struct(name={"type": "string", "default": "a/b"})), EMBEDDED: True},
         [".properties[metadata].properties[name].default: Invalid value: \"a/b\": must result in valid metadata: "
          "metadata.name: Invalid value: \"a/b\": may not contain '/'"]),
        ({**struct(metadata=struct(name={"type": "string", "default": "a"}), kind={"type": "string", "default": "K"}),
          EMBEDDED: True}, []),
    ],
)  # fmt: skip
def test_defaults(server: LocalServer, schema: Object, expected: list[str]) -> None:
    assert field(server, schema) == expected


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "object", "additionalProperties": STRING},
         [f"{AT}.additionalProperties: Forbidden: must not be used at the root"]),
        ({"type": "object", "nullable": True}, [f"{AT}.nullable: Forbidden: nullable cannot be true at the root"]),
        ({"type": "object", "$schema": "x"}, [f"{AT}: Invalid value: \"\": OpenAPIV3Schema 'schema' is not supported"]),
        (struct(metadata=struct(name={"type": "string", "pattern": "x"}, generateName=STRING)), []),
        (struct(metadata={"type": "object", "properties": {"name": STRING}, "required": ["name"]}),
         [f"{AT}.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but "
          "metadata is implicitly specified"]),
        ({"type": "object", "anyOf": [{"properties": {"x": {"maxLength": 1}}}]},
         [f"{AT}.properties[x]: Required value: because it is defined in {AT}.anyOf[0].properties[x]"]),
        ({**struct(a=array(STRING)), "not": {"properties": {"a": {"items": {"items": {"maxLength": 1}}}}}},
         [f"{A}.items.items: Required value: because it is defined in {AT}.not.properties[a].items.items"]),
        ({**struct(a=array(STRING)), "allOf": [{"properties": {"a": {"items": {"maxLength": 1}}}}]}, []),
        (struct(metadata=STRING), [f'{AT}.properties[metadata].type: Invalid value: "string": must be object']),
        (struct(kind={"type": "string", "default": "x"}),
         [f"{AT}.properties[kind].default: Forbidden: must not be set in top-level kind"]),
    ],
)  # fmt: skip
def test_the_root_of_a_schema(server: LocalServer, schema: Object, expected: list[str]) -> None:
    assert told(server, schema) == expected


def test_what_stands_beside_a_status_of_its_own(server: LocalServer) -> None:
    """The schema of the status is one of its properties: nothing at the root may be about it."""
    found = told(server, {"type": "object", "oneOf": [{"required": ["a"]}]}, subresources={"status": {}})
    assert found == [
        f'{AT}: Invalid value: {{"type":"object","oneOf":[{{"required":["a"]}}]}}: only [Description Type Format Title '
        "Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems "
        "MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations] fields are "
        "allowed at the root of the schema if the status subresource is enabled"
    ]
    wrong = told(server, {"type": "array", "items": STRING}, subresources={"status": {}})
    assert (
        f'{AT}.type: Invalid value: "array": only "object" is allowed as the type at the root of the schema if the '
        "status subresource is enabled"
    ) in wrong


def test_defaults_need_pruning(server: LocalServer) -> None:
    schema = struct(a={"type": "string", "default": "x"})
    definition = having(DEFINITION, spec__versions=[version(schema=schema)], spec__preserveUnknownFields=True)
    assert "spec.preserveUnknownFields: Invalid value: true: must be false in order to use defaults in the schema" in (
        problems(server, definition)
    )
