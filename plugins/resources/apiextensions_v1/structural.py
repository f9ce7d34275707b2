"""Structural schemas: what says of which type a value is stands outside of ``allOf``, ``anyOf``, ``oneOf`` and ``not``.

Asked by :mod:`.schema`. A schema is checked as it stands in the definition, without being converted first.

COMPAT: pkg/apiserver/schema NewStructural, ValidateStructural
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from apiserver.api import regexp
from apiserver.api.fields import FieldError, Path
from apiserver_plugins.resources.apiextensions_v1.completeness import completeness_errors

Object = Mapping[str, Any]

INT_OR_STRING = [{"type": "integer"}, {"type": "string"}]
"""The one ``anyOf`` that may speak of types."""
ROOT, ITEM, FIELD = "at the root", "for specified array items", "for specified object fields"
_UNSUPPORTED = (
    ("id", "id"), ("$schema", "schema"), ("$ref", "$ref"), ("patternProperties", "patternProperties"),
    ("dependencies", "dependencies"), ("additionalItems", "additionalItems"), ("definitions", "definitions"),
)  # fmt: skip
_PRESERVE, _EMBEDDED, _INT = (
    "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource", "x-kubernetes-int-or-string"
)  # fmt: skip
_NOT_NESTED = (
    ("type", "empty"), ("default", "undefined"), ("title", "empty"), ("description", "empty"), ("nullable", "false"),
    (_PRESERVE, "false"), (_EMBEDDED, "false"), (_INT, "false"), ("x-kubernetes-list-map-keys", "empty"),
    ("x-kubernetes-list-type", "undefined"), ("x-kubernetes-map-type", "undefined"),
    ("x-kubernetes-validations", "empty"),
)  # fmt: skip
"""What may not be said below a junctor, and what it must be instead."""


def inconvertible(schema: Any) -> str:
    """The first reason why a schema can't be brought into the form that structural schemas have; "" when it can."""
    if not isinstance(schema, Mapping):
        return ""
    for field, name in _UNSUPPORTED:
        value = schema.get(field)
        if value or (field == "additionalItems" and value is not None):
            return f"OpenAPIV3Schema '{name}' is not supported"
    if schema.get(_PRESERVE) is False:
        return f"internal error: '{_PRESERVE}' must be true or undefined"
    items = schema.get("items")
    if isinstance(items, list) and items:
        return "OpenAPIV3Schema 'items' must be a schema, but is an array"
    inner = [schema.get("not"), items, schema.get("additionalProperties")]
    for field in ("allOf", "anyOf", "oneOf"):
        inner += schema.get(field) or ()
    inner += (schema.get("properties") or {}).values()
    return next((problem for one in inner if (problem := inconvertible(one))), "")


def structural_errors(schema: Object, path: Path) -> list[FieldError]:
    """Why a schema is not structural, with paths below ``path``."""
    return [*_invariant_errors(schema, ROOT, path), *completeness_errors(schema, path)]


def is_structural(schema: Object) -> bool:
    """Whether a schema is."""
    return not inconvertible(schema) and not structural_errors(schema, Path())


def _invariant_errors(schema: Object, where: str, path: Path) -> Iterator[FieldError]:
    items, properties = schema.get("items"), schema.get("properties") or {}
    additional = schema.get("additionalProperties")
    if isinstance(items, Mapping):
        yield from _invariant_errors(items, ITEM, path / "items")
    elif schema.get("type") == "array":
        yield FieldError.required(path / "items", "must be specified")
    for name, inner in properties.items():
        yield from _invariant_errors(inner, FIELD, (path / "properties").key(name))
    if additional is not None and where is ROOT:
        yield FieldError.forbidden(path / "additionalProperties", "must not be used at the root")
    if isinstance(additional, Mapping):
        yield from _invariant_errors(additional, FIELD, path / "additionalProperties")
    yield from _extension_errors(schema, path)
    yield from _value_errors(schema, path, *_patterns(schema))
    yield from _type_errors(schema, where, path)
    yield from _embedded_errors(schema, path)
    yield from _meta_errors(properties, where is ROOT, bool(schema.get(_EMBEDDED)), path / "properties")


def _patterns(schema: Object) -> tuple[bool, bool]:
    """Whether ``anyOf``, or the one of the first ``allOf``, is the one that may speak of types."""
    first = (schema.get("allOf") or [{}])[0]
    return schema.get("anyOf") == INT_OR_STRING, first.get("anyOf") == INT_OR_STRING


def _extension_errors(schema: Object, path: Path) -> Iterator[FieldError]:
    if schema.get(_INT):
        for field in (_PRESERVE, _EMBEDDED):
            if schema.get(field):
                yield FieldError.invalid(path / field, True, f"must be false if {_INT} is true")


def _type_errors(schema: Object, where: str, path: Path) -> Iterator[FieldError]:
    type_, at = schema.get("type") or "", path / "type"
    if schema.get(_EMBEDDED) and type_ != "object":
        text = f"must be object if {_EMBEDDED} is true"
        yield FieldError.invalid(at, type_, text) if type_ else FieldError.required(at, text)
    elif not type_ and not schema.get(_INT) and not schema.get(_PRESERVE):
        yield FieldError.required(at, f"must not be empty {where}")
    if where is ROOT and type_ and type_ != "object":
        yield FieldError.invalid(at, type_, "must be object at the root")


def _embedded_errors(schema: Object, path: Path) -> Iterator[FieldError]:
    if not schema.get(_EMBEDDED):
        return
    if schema.get("additionalProperties") is not None:
        yield FieldError.forbidden(path / "additionalProperties", f"must not be used if {_EMBEDDED} is set")
    if not schema.get(_PRESERVE) and not schema.get("properties"):
        text = f"must not be empty if {_EMBEDDED} is true without {_PRESERVE}"
        yield FieldError.required(path / "properties", text)


def _meta_errors(properties: Object, root: bool, embedded: bool, path: Path) -> Iterator[FieldError]:
    """Problems of what is said about the fields that every object has."""
    if root or embedded:
        for name, wanted in (("kind", "string"), ("apiVersion", "string"), ("metadata", "object")):
            type_ = properties[name].get("type") or "" if name in properties else wanted
            if type_ != wanted:
                yield FieldError.invalid(path.key(name) / "type", type_, f"must be {wanted}")
    if root and "metadata" in properties and not _only_names(properties["metadata"]):
        text = "must not specify anything other than name and generateName, but metadata is implicitly specified"
        yield FieldError.forbidden(path.key("metadata"), text)


def _only_names(metadata: Object) -> bool:
    """Whether a schema of metadata restricts nothing but names. COMPAT: defaults are refused elsewhere"""
    rest = set(metadata) - {"type", "default", "$ref"}
    return not rest or (rest == {"properties"} and set(metadata["properties"]) <= {"name", "generateName"})


# -- below junctors --------------------------------------------------------------------------------------------------


def _value_errors(schema: Object, path: Path, skip_any: bool, skip_first: bool = False) -> Iterator[FieldError]:
    if not skip_any:
        for i, inner in enumerate(schema.get("anyOf") or ()):
            yield from _nested_errors(inner, path / "anyOf" / i)
    for i, inner in enumerate(schema.get("allOf") or ()):
        yield from _nested_errors(inner, path / "allOf" / i, skip_first and i == 0)
    for i, inner in enumerate(schema.get("oneOf") or ()):
        yield from _nested_errors(inner, path / "oneOf" / i)
    if schema.get("not") is not None:
        yield from _nested_errors(schema["not"], path / "not")
    problem = regexp.problem(schema.get("pattern") or "")
    if problem:
        text = f"must be a valid regular expression, but isn't: {problem}"
        yield FieldError.invalid(path / "pattern", schema["pattern"], text)


def _nested_errors(schema: Object, path: Path, skip_any: bool = False) -> Iterator[FieldError]:
    yield from _value_errors(schema, path, skip_any)
    if isinstance(schema.get("items"), Mapping):
        yield from _nested_errors(schema["items"], path / "items")
    properties = schema.get("properties") or {}
    for name, inner in properties.items():
        yield from _nested_errors(inner, (path / "properties").key(name))
    if schema.get("additionalProperties") not in (None, False):
        yield FieldError.forbidden(path / "additionalProperties", "must be undefined to be structural")
    for field, wanted in _NOT_NESTED:
        value = schema.get(field)
        if value or (wanted == "undefined" and value is not None):
            yield FieldError.forbidden(path / field, f"must be {wanted} to be structural")
    if "metadata" in properties:
        yield FieldError.forbidden(path / "properties[metadata]", "must not be specified in a nested context")
