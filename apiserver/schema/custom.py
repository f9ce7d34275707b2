"""Kinds that bring their own OpenAPI v3 schema: the schema as a type node.

Used for resources that plugins declare with a schema; custom resources compile to the same graph. Unlike Go structs,
such objects keep what they say: an empty string or list stays, and nothing appears that was not sent.

COMPAT: apiextensions structural schemas (x-kubernetes-* extensions, nullable)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from apiserver.schema import structural
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


def kind(schema: Mapping[str, Any], types: Types, *, version: str, name: str, loose: bool = False) -> Struct:
    """The type of a kind from its schema; apiVersion, kind and metadata are added.

    :param schema: OpenAPI v3, of the whole object.
    :param types: where ObjectMeta comes from.
    :param version: of the API, for messages (``v1.Guest``).
    :param name: of the kind.
    :param loose: a value of the wrong type is kept as it is, for the schema check to complain about.
    """
    made = _Compiler(types, loose).object(schema, name, f"{version}.{name}", _meta(types))
    if loose:
        made.decoder = structural.decoder(schema, object_meta(types))
    return made


def object_meta(types: Types) -> Struct:
    """The type of metadata."""
    found = types.definition(f"{META}ObjectMeta")
    assert isinstance(found, Struct)
    return found


class _Compiler:
    def __init__(self, types: Types, loose: bool) -> None:
        self._types = types
        self._loose = loose

    def node(self, schema: Mapping[str, Any], name: str = "") -> Node:
        """The node of a schema; ``name`` is the field's, for messages."""
        if schema.get("x-kubernetes-int-or-string"):
            return IntOrString("int32")
        match schema.get("type") or ("object" if schema.get("properties") else ""):
            case "object":
                return self._map_or_object(schema, name)
            case "array":
                item = self.node(schema.get("items") or {}, name)
                keys = schema.get("x-kubernetes-list-map-keys", ())
                return List(f"[]{item.go_type}", item, schema.get("x-kubernetes-list-type", "atomic"), keys)
            case "string":
                return self._string(schema)
            case "integer":
                return Integer("int64", 32 if schema.get("format") == "int32" and not self._loose else 64)
            case "number":
                return Number("float64")
            case "boolean":
                return Boolean("bool")
        return Anything("interface {}")

    def _string(self, schema: Mapping[str, Any]) -> Node:
        if schema.get("format") == "byte" and not self._loose:
            return Bytes("[]uint8")
        return String("string", [value for value in schema.get("enum", ()) if isinstance(value, str)])

    def _map_or_object(self, schema: Mapping[str, Any], name: str) -> Node:
        if "properties" not in schema and not schema.get("x-kubernetes-embedded-resource"):
            value = schema.get("additionalProperties")
            if isinstance(value, Mapping):
                inner = self.node(value, name)
                return Map(f"map[string]{inner.go_type}", inner, schema.get("x-kubernetes-map-type") == "atomic")
            if schema.get("x-kubernetes-preserve-unknown-fields") or value is True:
                return Anything("map[string]interface {}")
        added = _meta(self._types) if schema.get("x-kubernetes-embedded-resource") and self._loose else {}
        return self.object(schema, name, "map[string]interface {}", added)

    def object(self, schema: Mapping[str, Any], go_name: str, go_type: str, added: Mapping[str, Field]) -> Struct:
        """The node of a schema with properties; ``added`` are fields beside those."""

        def fields() -> Mapping[str, Field]:
            declared = schema.get("properties") or {}
            required = frozenset(schema.get("required", ()))
            return {**{name: self._field(name, inner, name in required) for name, inner in declared.items()}, **added}

        return Struct(
            "",
            fields,
            go_name=go_name,
            go_type=go_type,
            atomic=schema.get("x-kubernetes-map-type") == "atomic",
            preserve_unknown=bool(schema.get("x-kubernetes-preserve-unknown-fields")),
        )

    def _field(self, name: str, schema: Mapping[str, Any], required: bool) -> Field:
        return Field(
            name,
            self.node(schema, name),
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
        "metadata": Field("metadata", object_meta(types), "always"),
    }
