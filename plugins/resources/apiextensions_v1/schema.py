"""The OpenAPI schema of a version: what is wrong with it.

Called by :mod:`.validation` for each schema; puts together what :mod:`.structural`, :mod:`.defaults`, :mod:`.lists`
and the checks below find.

COMPAT: validateCustomResourceDefinitionValidation, ValidateCustomResourceDefinitionOpenAPISchema
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver_plugins.apiextensions.schemas import has
from apiserver_plugins.resources.apiextensions_v1 import defaults, lists, structural

Object = Mapping[str, Any]

TYPES = ("array", "boolean", "integer", "number", "object", "string")
_META = frozenset(("metadata", "kind", "apiVersion"))
_ROOT_FIELDS = {
    "description": "Description", "type": "Type", "format": "Format", "title": "Title", "maximum": "Maximum",
    "exclusiveMaximum": "ExclusiveMaximum", "minimum": "Minimum", "exclusiveMinimum": "ExclusiveMinimum",
    "maxLength": "MaxLength", "minLength": "MinLength", "pattern": "Pattern", "maxItems": "MaxItems",
    "minItems": "MinItems", "uniqueItems": "UniqueItems", "multipleOf": "MultipleOf", "required": "Required",
    "items": "Items", "properties": "Properties", "externalDocs": "ExternalDocs", "example": "Example",
    "x-kubernetes-preserve-unknown-fields": "XPreserveUnknownFields", "x-kubernetes-validations": "XValidations",
}  # fmt: skip
"""What may stand at the root of a schema beside a status of its own, and the names that the message gives them."""
_BEFORE_TYPE = ("id", "$schema", "$ref")
_PROPERTIES_TEXT = "additionalProperties and properties are mutual exclusive"
_UNIQUE_TEXT = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"


@dataclass(frozen=True)
class Rules:
    """What is asked of a schema; an update asks less where the definition was wrong before."""

    structural: bool = True
    known_types: bool = True
    pruned_defaults: bool = True
    lists: lists.Rules = field(default_factory=lists.Rules)


def schema_errors(schema: Object, path: Path, rules: Rules, *, status: bool) -> list[FieldError]:
    """Problems of a schema.

    :param path: of the schema.
    :param status: whether there is a status subresource.
    """
    errors = _root_errors(schema, path) if status else []
    if schema.get("nullable"):
        errors.append(FieldError.forbidden(path / "nullable", "nullable cannot be true at the root"))
    inconvertible = structural.inconvertible(schema) if rules.structural else ""
    if rules.structural and not inconvertible:
        errors += structural.structural_errors(schema, path) or defaults.default_errors(
            schema, path, pruned=rules.pruned_defaults
        )
    errors += _Walk(rules).errors(schema, path, root=True)
    if not errors and inconvertible:
        # COMPAT: told only when nothing else has told of it
        errors.append(FieldError.invalid(path, "", inconvertible))
    if not errors and has(schema, "x-kubernetes-validations"):
        # Loading CEL costs time and memory, and few definitions need it.
        from apiserver.cel.definition import rule_errors

        errors += rule_errors(schema, path)
    return errors


def _root_errors(schema: Object, path: Path) -> list[FieldError]:
    """COMPAT: the first field of the Go struct that may not be there ends the search."""
    order = {name: place for place, name in enumerate((*_BEFORE_TYPE, "description", "type"))}
    for name in sorted(schema, key=lambda each: order.get(each, len(order))):
        if name == "type" and schema["type"] not in ("", "object"):
            text = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
            return [FieldError.invalid(path / "type", schema["type"], text)]
        if name not in _ROOT_FIELDS:
            shown = " ".join(_ROOT_FIELDS.values())
            text = f"only [{shown}] fields are allowed at the root of the schema if the status subresource is enabled"
            return [FieldError.invalid(path, dict(schema), text)]
    return []


@dataclass(frozen=True)
class _Walk:
    """Through a schema and all in it.

    :param forbidden: why there may be no default here, "" where there may be one.
    :param in_meta: whether this is about a field that every object has.
    """

    rules: Rules
    forbidden: str = ""
    in_meta: bool = False

    def errors(self, schema: Object, path: Path, *, root: bool = False) -> list[FieldError]:
        """Problems of a schema and of all that it contains."""
        found = [*self._own_errors(schema, path), *lists.list_errors(schema, path, self.rules.lists)]
        found += self._additional_errors(schema, path)
        for name, inner in (schema.get("properties") or {}).items():
            walk = self
            if name in _META and (root or schema.get("x-kubernetes-embedded-resource")):
                walk = replace(self, in_meta=True, forbidden=f"in top-level {name}" if root else self.forbidden)
            found += walk.errors(inner, (path / "properties").key(name))
        for inner, at in _contained(schema, path):
            found += self.errors(inner, at)
        return found

    def _additional_errors(self, schema: Object, path: Path) -> list[FieldError]:
        additional, at = schema.get("additionalProperties"), path / "additionalProperties"
        if additional is None:
            return []
        found = []
        if schema.get("properties") and additional is not True:
            found.append(FieldError.forbidden(at, _PROPERTIES_TEXT))
        if isinstance(additional, Mapping):
            why = "inside additionalProperties applying to object metadata"
            walk = replace(self, forbidden=why) if self.in_meta else self
            found += walk.errors(additional, at)
        return found

    def _own_errors(self, schema: Object, path: Path) -> Iterator[FieldError]:
        type_ = schema.get("type") or ""
        if self.rules.known_types and type_ and type_ not in TYPES:
            yield FieldError.not_supported(path / "type", type_, TYPES)
        if schema.get("default") is not None and self.forbidden:
            yield FieldError.forbidden(path / "default", f"must not be set {self.forbidden}")
        for name in ("id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"):
            value = schema.get(name)
            if value or (name in ("additionalItems", "$ref") and value is not None):
                yield FieldError.forbidden(path / name, f"{name} is not supported")
        if type_ == "null":
            text = "type cannot be set to null, use nullable as an alternative"
            yield FieldError.forbidden(path / "type", text)
        if isinstance(schema.get("items"), list) and schema["items"]:
            yield FieldError.forbidden(path / "items", "items must be a schema object and not an array")
        if self.in_meta and schema.get("x-kubernetes-embedded-resource"):
            at = path / "x-kubernetes-embedded-resource"
            yield FieldError.forbidden(at, "must not be used inside of resource meta")
        if schema.get("uniqueItems"):
            yield FieldError.forbidden(path / "uniqueItems", _UNIQUE_TEXT)
        if schema.get("x-kubernetes-preserve-unknown-fields") is False:
            at = path / "x-kubernetes-preserve-unknown-fields"
            yield FieldError.invalid(at, False, "must be true or undefined")


def _contained(schema: Object, path: Path) -> Iterator[tuple[Object, Path]]:
    """The schemas in a schema, those of properties excepted, and where they stand."""
    if schema.get("not") is not None:
        yield schema["not"], path / "not"
    for junctor in ("allOf", "oneOf", "anyOf"):
        for i, inner in enumerate(schema.get(junctor) or ()):
            yield inner, path / junctor / i
    for keyword in ("definitions", "dependencies"):
        for name, inner in (schema.get(keyword) or {}).items():
            if isinstance(inner, Mapping):
                yield inner, (path / keyword).key(name)
    items = schema.get("items")
    if isinstance(items, Mapping):
        yield items, path / "items"
    elif isinstance(items, list):
        yield from ((inner, path / "items" / i) for i, inner in enumerate(items))
