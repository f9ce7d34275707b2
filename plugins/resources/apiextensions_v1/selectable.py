"""Fields of custom resources that field selectors may name.

Called by :mod:`.validation`.

COMPAT: ValidateCustomResourceSelectableFields; pkg/apiserver/schema/cel ValidFieldPath without array notation
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver.cel.fieldpaths import FieldPathError, followed
from apiserver_plugins.resources.apiextensions_v1 import structural, view

Object = Mapping[str, Any]

MOST = 8
_TYPES = ("string", "boolean", "integer")
_WRONG_TYPE = (
    "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed."
)


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
    known: set[Path] = set()
    for i, field in enumerate(fields):
        at, where = path / i / "jsonPath", field.get("jsonPath") or ""
        if not where:
            yield FieldError.required(at)
            continue
        try:
            place, found = followed(where, schema, brackets=False)
        except FieldPathError as ex:
            yield FieldError.invalid(at, where, f"is an invalid path: {ex}")
            continue
        if re.match(r"metadata\b", place):
            yield FieldError.invalid(at, where, "must not point to fields in metadata")
        if found.get("type") not in _TYPES:
            yield FieldError.invalid(at, where, _WRONG_TYPE)
        if place in known:
            yield FieldError.duplicate(at, where)
        known.add(place)
    if len(known) > MOST and not many:
        yield FieldError.too_many(path, len(known), MOST)
