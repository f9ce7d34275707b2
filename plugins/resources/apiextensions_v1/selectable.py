"""Fields of custom resources that field selectors may name.

Called by :mod:`.validation`.

COMPAT: ValidateCustomResourceSelectableFields; pkg/apiserver/schema/cel ValidFieldPath without array notation
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver_plugins.resources.apiextensions_v1 import structural, view

Object = Mapping[str, Any]

MOST = 8
_TYPES = ("string", "boolean", "integer")
_WRONG_TYPE = (
    "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed."
)
_TOKEN = re.compile(r"[.\[\]]|'(?:[^'\\]|\\.)*'|[^.\[\]]+", re.DOTALL)


class _WrongPath(Exception):
    """What is wrong with a path."""


def errors_of(spec: Object, too_many_before: frozenset[str]) -> Iterator[FieldError]:
    """Problems of the selectable fields of all versions.

    :param too_many_before: versions that had too many before this change, and the same ones; "" for all together.
    """
    versions = spec.get("versions") or []
    for index, fields, path in view.places(spec, "selectableFields"):
        # COMPAT: fields and schema are looked for at the same place: both shared by all versions, or neither
        alike = view.shared(spec, "schema")
        schema = view.schema_of(versions[index or 0]) if alike is (index is None) else None
        if schema is None and index is None:
            yield FieldError.invalid(path, "", "may only be set when validations.schema is included")
        elif schema is None:
            text = "may only be set when `version.schema.openAPIV3Schema` is not included"
            yield FieldError.invalid(path, "", text)
        elif problem := structural.inconvertible(schema):
            at = view.SPEC if index is None else view.SPEC / "versions" / index
            yield FieldError.invalid(at / "schema.openAPIV3Schema", "", problem)
        else:
            name = "" if index is None else versions[index].get("name") or ""
            yield from _field_errors(fields, schema, path, name in too_many_before)


def _field_errors(fields: Sequence[Object], schema: Object, path: Path, many: bool) -> Iterator[FieldError]:
    known: set[tuple[str, ...]] = set()
    for i, field in enumerate(fields):
        at, where = path / i / "jsonPath", field.get("jsonPath") or ""
        if not where:
            yield FieldError.required(at)
            continue
        try:
            steps, found = _follow(where, schema)
        except _WrongPath as ex:
            yield FieldError.invalid(at, where, f"is an invalid path: {ex}")
            continue
        if steps[0] == "metadata":
            yield FieldError.invalid(at, where, "must not point to fields in metadata")
        if found.get("type") not in _TYPES:
            yield FieldError.invalid(at, where, _WRONG_TYPE)
        if steps in known:
            yield FieldError.duplicate(at, where)
        known.add(steps)
    if len(known) > MOST and not many:
        yield FieldError.too_many(path, len(known), MOST)


def _follow(where: str, schema: Object) -> tuple[tuple[str, ...], Object]:
    """The names in a path, and the schema of the field that it leads to.

    :raises _WrongPath: it leads nowhere.
    """
    steps: list[str] = []
    tokens = iter(_TOKEN.findall(where))
    for token in tokens:
        if token == "[":
            raise _WrongPath("array notation is not allowed")
        if token != ".":
            raise _WrongPath(f"expected [ or . but got: {token}")
        name = next(tokens, None)
        if name is None:
            raise _WrongPath("unexpected end of JSON path")
        schema = _below(schema, name)
        steps.append(name)
    return tuple(steps), schema


def _below(schema: Object, name: str) -> Object:
    inner = schema["properties"].get(name) if schema.get("properties") else schema.get("additionalProperties")
    if inner is None or inner is False:
        raise _WrongPath("does not refer to a valid field")
    return inner if isinstance(inner, Mapping) else {}
