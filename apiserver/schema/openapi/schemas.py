"""Definitions as OpenAPI v3 component schemas and as v2 definitions.

Published definitions are JSON Schema with nullable types; here they become what kube-apiserver serves: references
wrapped where they have siblings, zero values and real defaults, enums (``data/openapi_fields.json``: the defaults and
enumerations declared in the Go types), group version kinds of meta types cut to the document's own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import orjson

from apiserver.schema.builtin import META, Types, definition_name
from apiserver.schema.builtin import declared as declared_fields
from apiserver.schema.decode import zero
from apiserver.schema.openapi.model import Served, custom_definition
from apiserver.schema.types import Field, Struct

V2 = "#/definitions/"
V3 = "#/components/schemas/"
_GVKS = "x-kubernetes-group-version-kind"
_REFERENCE = re.compile(rb'"\$ref": ?"#/\$defs/([^"]+)"')
_QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity"
_INT_OR_STRING = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"
_TYPED_V3: Mapping[str, Mapping[str, Any]] = {
    _QUANTITY: {"oneOf": [{"type": "string"}, {"type": "number"}]},
    _INT_OR_STRING: {"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]},
}
_TYPED_V2: Mapping[str, Mapping[str, Any]] = {
    _QUANTITY: {"type": "string"},
    _INT_OR_STRING: {"format": "int-or-string", "type": "string"},
}
_SCALARS = frozenset({"string", "integer", "number", "boolean"})


def kind_definition(served: Served, kind: str, types: Types) -> str:
    """The definition name of ``served``'s kind, or of its list kind."""
    if served.schema is None:
        name = definition_name(served.group, served.version, kind)
        if name in types.definitions:
            return name
    return custom_definition(served.group, served.version, kind)


class Schemas:
    """The schemas of one document; referring to one adds it and all that it refers to.

    :param version: 2 or 3, of OpenAPI.
    :param group_versions: (group, version) pairs that meta kinds are shown in; None = all.
    """

    def __init__(self, types: Types, version: int, group_versions: Iterable[tuple[str, str]] | None = None) -> None:
        self._types = types
        self._three = version == 3
        self._prefix = V3 if self._three else V2
        self._group_versions = None if group_versions is None else frozenset(group_versions)
        self.found: dict[str, Any] = {}

    def reference(self, name: str) -> dict[str, str]:
        """A reference to a definition by its name, which becomes part of the document."""
        self._add(name)
        return {"$ref": self._prefix + name}

    def meta(self, kind: str) -> dict[str, str]:
        """A reference to a kind of meta/v1."""
        return self.reference(META + kind)

    def kind(self, group: str, version: str, kind: str) -> dict[str, str]:
        """A reference to a built-in kind."""
        return self.reference(definition_name(group, version, kind))

    def served(self, served: Served) -> dict[str, str]:
        """A reference to the kind of a resource."""
        name = kind_definition(served, served.kind, self._types)
        if name in self.found or name in self._types.definitions:
            return self.reference(name)
        self.found[name] = {}
        self.found[name] = self._custom(served)
        return {"$ref": self._prefix + name}

    def served_list(self, served: Served) -> dict[str, str]:
        """A reference to the list kind of a resource."""
        name = kind_definition(served, served.list_kind_name, self._types)
        if name in self.found or name in self._types.definitions:
            return self.reference(name)
        self.found[name] = {}
        self.found[name] = self._custom_list(served)
        return {"$ref": self._prefix + name}

    def _add(self, name: str) -> None:
        todo = [name]
        while todo:
            name = todo.pop()
            if name in self.found:
                continue
            text = self._types.definitions.text(name)
            todo += [match.decode() for match in _REFERENCE.findall(text)]
            self.found[name] = self._builtin(name, orjson.loads(text))

    # -- built-in kinds

    def _builtin(self, name: str, schema: dict[str, Any]) -> dict[str, Any]:
        typed = (_TYPED_V3 if self._three else _TYPED_V2).get(name)
        if typed is not None:
            kept = {"description": schema["description"]} if "description" in schema else {}
            return {**kept, **typed}
        properties = schema.get("properties")
        if properties:
            node = self._types.definition(name) if self._three else None
            fields = node.fields if isinstance(node, Struct) else {}
            declared = declared_fields().get(name, {})
            has_kind = _GVKS in schema
            for field, inner in properties.items():
                if has_kind and field in ("apiVersion", "kind"):
                    inner.pop("enum", None)
                properties[field] = self._property(inner, fields.get(field), declared.get(field))
        elif "additionalProperties" in schema:
            self._clean(schema)
        if "type" in schema:
            schema["type"] = _plain_type(schema["type"])
        if _GVKS in schema:
            schema[_GVKS] = self._own_kinds(schema[_GVKS])
        return schema

    def _own_kinds(self, kinds: list[dict[str, str]]) -> list[dict[str, str]]:
        wanted = self._group_versions
        if len(kinds) == 1 or wanted is None:
            return kinds
        return [gvk for gvk in kinds if (gvk["group"], gvk["version"]) in wanted]

    def _property(
        self, schema: dict[str, Any], field: Field | None, declared: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        reference = schema.pop("$ref", None)
        self._clean(schema)
        if declared:
            schema.update({key: value for key, value in declared.items() if key == "enum"})
            for inner in ("items", "additionalProperties"):
                if inner in declared and inner in schema:
                    schema[inner] = {**schema[inner], **declared[inner]}
        if self._three:
            default = _default(field, declared)
            if default is not None:
                schema["default"] = default
        if reference is None:
            return schema
        target = {"$ref": self._prefix + reference.rsplit("/", 1)[1]}
        if self._three and schema:
            return {"allOf": [target], **schema}
        return {**target, **schema}

    def _clean(self, schema: dict[str, Any]) -> None:
        """Types without null and references of this document's form, in place and below."""
        if "type" in schema:
            schema["type"] = _plain_type(schema["type"])
        if "$ref" in schema:
            schema["$ref"] = self._prefix + schema["$ref"].rsplit("/", 1)[1]
        for inner in ("items", "additionalProperties"):
            if isinstance(schema.get(inner), dict):
                self._clean(schema[inner])

    # -- kinds that bring their schema

    def _custom(self, served: Served) -> dict[str, Any]:
        schema: dict[str, Any] = dict(served.schema or {"type": "object"})
        properties = dict(schema.get("properties", {}))
        properties.update(
            apiVersion={"type": "string", "description": "The group and version of the schema of this object."},
            kind={"type": "string", "description": "What the object is, in CamelCase."},
            metadata=self._described(self.meta("ObjectMeta"), "Standard metadata of an object."),
        )
        schema["properties"] = properties
        if not self._three:
            schema = v2_schema(schema)
        schema["type"] = "object"
        schema[_GVKS] = [_gvk(served, served.kind)]
        if served.selectable_fields:
            schema["x-kubernetes-selectable-fields"] = [{"fieldPath": path} for path in served.selectable_fields]
        return schema

    def _custom_list(self, served: Served) -> dict[str, Any]:
        return {
            "description": f"{served.list_kind_name} is a list of {served.kind}",
            "type": "object",
            "required": ["items"],
            "properties": {
                "apiVersion": {"type": "string", "description": "The group and version of the schema of this list."},
                "kind": {"type": "string", "description": "What the list is, in CamelCase."},
                "metadata": self._described(self.meta("ListMeta"), "Standard metadata of a list."),
                "items": {"description": f"List of {served.plural}.", "type": "array", "items": self.served(served)},
            },
            _GVKS: [_gvk(served, served.list_kind_name)],
        }

    def _described(self, reference: dict[str, str], text: str) -> dict[str, Any]:
        return {"allOf": [reference], "description": text} if self._three else {**reference, "description": text}


def _gvk(served: Served, kind: str) -> dict[str, str]:
    return {"group": served.group, "kind": kind, "version": served.version}


def _plain_type(kind: Any) -> Any:
    return kind[0] if isinstance(kind, list) else kind


def _default(field: Field | None, declared: Mapping[str, Any] | None) -> Any:
    """The default that v3 shows: a declared one, else the zero value of what is never absent.

    COMPAT: kube-openapi generators mustEnforceDefault; types with a schema of their own (Time, Quantity) have none.
    """
    if declared and "default" in declared:
        return declared["default"]
    if field is None or field.presence != "always":
        return None
    if isinstance(field.node, Struct):
        return {}
    return zero(field.node) if field.node.kind in _SCALARS else None


# -- v2 knows less than v3 -------------------------------------------------------------------------------------------

_V3_ONLY = ("oneOf", "anyOf", "allOf", "not", "nullable", "x-kubernetes-validations", "default")


def v2_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A v3 schema without what v2 cannot say.

    COMPAT: apiextensions ToStructuralOpenAPIV2
    """
    if schema.get("x-kubernetes-preserve-unknown-fields") or schema.get("nullable"):
        kept = ("description", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-group-version-kind")
        slim = {key: schema[key] for key in kept if key in schema}
        if not schema.get("nullable") and schema.get("type") == "object":
            slim["type"] = "object"
        return slim
    result: dict[str, Any] = {}
    for key, value in schema.items():
        if key not in _V3_ONLY:
            result[key] = _INNER[key](value) if key in _INNER else value
    return result


def _each(value: Mapping[str, Any]) -> dict[str, Any]:
    return {name: v2_schema(inner) for name, inner in value.items()}


def _one(value: Any) -> Any:
    return v2_schema(value) if isinstance(value, Mapping) else value


_INNER: Mapping[str, Callable[[Any], Any]] = {"properties": _each, "items": _one, "additionalProperties": _one}
