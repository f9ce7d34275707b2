"""Objects as protobuf messages, and back."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from apiserver.schema import builtin, types
from apiserver.schema.protobuf.messages import messages
from apiserver.schema.protobuf.plans import plan

DEFINITION = "k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition"


def round_trip(message: str, struct: types.Struct, obj: dict[str, Any]) -> Any:
    """An object that was a message meanwhile."""
    correspondence, made = plan(message, struct), messages().get(message)()
    correspondence.write(copy.deepcopy(obj), made)
    read = messages().get(message)()
    read.ParseFromString(made.SerializeToString())
    return correspondence.read(read)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
        {"items": {"type": "string"}},
        {"items": [{"type": "string"}, {"type": "integer"}]},
        {"additionalProperties": True},
        {"additionalProperties": False},
        {"additionalProperties": {"type": "string"}},
        {"additionalItems": {"nullable": True}},
        {"dependencies": {"a": ["b", "c"], "d": {"type": "string"}}},
        {"default": {"a": [1, None]}, "enum": ["a", 1, None], "example": "x"},
        {"$ref": "#/x", "$schema": "y", "externalDocs": {"url": "z"}},
        {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "x-kubernetes-map-type": "atomic"},
        {"x-kubernetes-int-or-string": True, "x-kubernetes-embedded-resource": True},
        {"x-kubernetes-validations": [{"rule": "self.a", "fieldPath": ".a", "optionalOldSelf": False}]},
        {"x-kubernetes-preserve-unknown-fields": True, "anyOf": [{"minimum": 1.5}], "not": {"maxLength": 2}},
    ],
)
def test_a_schema_stays_what_it_is(schema: dict[str, Any]) -> None:
    struct = builtin.types().kind("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
    assert struct is not None
    obj = {"spec": {"versions": [{"name": "v1", "served": True, "schema": {"openAPIV3Schema": schema}}]}}
    assert round_trip(DEFINITION, struct, obj) == obj
