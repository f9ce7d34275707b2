"""Kinds that bring their own OpenAPI v3 schema: the schema as a type node.

Used for resources that plugins declare with a schema; custom resources compile to the same graph. Unlike Go structs,
such objects keep what they say: an empty string or list stays, and nothing appears that was not sent.

COMPAT: apiextensions structural schemas (x-kubernetes-* extensions, nullable)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from apiserver.schema.builtin import META, Types
from apiserver.schema.types import (
    Anything,
    Boolean,
    Bytes,
    Field,
    Integer,
    IntOrString,
    List,
    Map,
    Node,
    Number,
    Presence,
    String,
    Struct,
)


def kind(schema: Mapping[str, Any], types: Types, *, version: str, name: str) -> Struct:
    """The type of a kind from its schema; apiVersion, kind and metadata are added.

    :param schema: OpenAPI v3, of the whole object.
    :param types: where ObjectMeta comes from.
    :param version: of the API, for messages (``v1.Guest``).
    :param name: of the kind.
    """
    return _object(schema, name, f"{version}.{name}", _meta(types))


def node(schema: Mapping[str, Any], name: str = "") -> Node:
    """The node of a schema; ``name`` is the field's, for messages."""
    if schema.get("x-kubernetes-int-or-string"):
        return IntOrString("int32")
    match schema.get("type"):
        case "object":
            return _map_or_object(schema, name)
        case "array":
            item = node(schema.get("items") or {}, name)
            keys = schema.get("x-kubernetes-list-map-keys", ())
            return List(f"[]{item.go_type}", item, schema.get("x-kubernetes-list-type", "atomic"), keys)
        case "string":
            return _string(schema)
        case "integer":
            return Integer("int64", 32 if schema.get("format") == "int32" else 64)
        case "number":
            return Number("float64")
        case "boolean":
            return Boolean("bool")
    return Anything("interface {}")


def _string(schema: Mapping[str, Any]) -> Node:
    if schema.get("format") == "byte":
        return Bytes("[]uint8")
    return String("string", [value for value in schema.get("enum", ()) if isinstance(value, str)])


def _map_or_object(schema: Mapping[str, Any], name: str) -> Node:
    if "properties" not in schema:
        value = schema.get("additionalProperties")
        if isinstance(value, Mapping):
            inner = node(value, name)
            return Map(f"map[string]{inner.go_type}", inner, schema.get("x-kubernetes-map-type") == "atomic")
        if schema.get("x-kubernetes-preserve-unknown-fields") or value is True:
            return Anything("map[string]interface {}")
    return _object(schema, name, "map[string]interface {}", {})


def _object(schema: Mapping[str, Any], go_name: str, go_type: str, added: Mapping[str, Field]) -> Struct:
    def fields() -> Mapping[str, Field]:
        declared = schema.get("properties") or {}
        required = frozenset(schema.get("required", ()))
        return {**{name: _field(name, inner, name in required) for name, inner in declared.items()}, **added}

    return Struct(
        "",
        fields,
        go_name=go_name,
        go_type=go_type,
        atomic=schema.get("x-kubernetes-map-type") == "atomic",
        preserve_unknown=bool(schema.get("x-kubernetes-preserve-unknown-fields")),
    )


def _field(name: str, schema: Mapping[str, Any], required: bool) -> Field:
    return Field(
        name,
        node(schema, name),
        "keep",
        required=required,
        default=schema.get("default"),
        nullable=bool(schema.get("nullable")),
    )


def _meta(types: Types) -> dict[str, Field]:
    keep: Presence = "keep"
    return {
        "apiVersion": Field("apiVersion", String(), keep),
        "kind": Field("kind", String(), keep),
        "metadata": Field("metadata", types.definition(f"{META}ObjectMeta"), "always"),
    }
