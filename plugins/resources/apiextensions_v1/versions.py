"""What a version of a definition says beside its schema: columns, subresources, deprecation.

Called by :mod:`.validation`.

COMPAT: validateCustomResourceDefinitionVersion and what it calls
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from apiserver.api.fields import FieldError, Path

Object = Mapping[str, Any]
COLUMN_TYPES = ("boolean", "date", "integer", "number", "string")
COLUMN_FORMATS = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")
LONGEST_WARNING = 256


def warning_errors(version: Object, path: Path) -> list[FieldError]:
    """Problems of the deprecation warning."""
    warning = version.get("deprecationWarning")
    if warning is None:
        return []
    return [FieldError.invalid(path, warning, text) for text in _warning_problems(warning, version.get("deprecated"))]


def _warning_problems(warning: str, deprecated: bool | None) -> list[str]:
    if not deprecated:
        return ["can only be set for deprecated versions"]
    problems = []
    if len(warning.encode()) > LONGEST_WARNING:
        problems.append(f"must be <= {LONGEST_WARNING} characters long")
    if not warning:
        problems.append("must not be an empty string")
    place = next((i for i, char in enumerate(warning) if not _printable(char)), None)
    if place is not None:
        # COMPAT: Go counts bytes
        text = "must only contain printable UTF-8 characters; non-printable character found at index"
        problems.append(f"{text} {len(warning[:place].encode())}")
    return problems


def _printable(char: str) -> bool:
    """COMPAT: unicode.IsPrint."""
    return char == " " or unicodedata.category(char)[0] in "LMNPS"


def column_errors(column: Object, path: Path) -> list[FieldError]:
    """Problems of a printer column."""
    errors: list[FieldError] = []
    if not column.get("name"):
        errors.append(FieldError.required(path / "name"))
    types, type_ = f"must be one of {','.join(COLUMN_TYPES)}", column.get("type")
    if not type_:
        errors.append(FieldError.required(path / "type", types))
    elif type_ not in COLUMN_TYPES:
        errors.append(FieldError.invalid(path / "type", type_, types))
    format_ = column.get("format")
    if format_ and format_ not in COLUMN_FORMATS:
        text = f"must be one of {','.join(COLUMN_FORMATS)}"
        errors.append(FieldError.invalid(path / "format", format_, text))
    where = column.get("jsonPath")
    if not where:
        errors.append(FieldError.required(path / "JSONPath"))
    else:
        errors += _path_errors(where, path / "JSONPath")
    return errors


def _path_errors(where: str, path: Path) -> list[FieldError]:
    """COMPAT: validateSimpleJSONPath"""
    if where.startswith("."):
        return []
    return [FieldError.invalid(path, where, "must be a simple json path starting with .")]


def subresource_errors(subresources: Object, path: Path) -> list[FieldError]:
    """Problems of the subresources."""
    scale = subresources.get("scale")
    if scale is None:
        return []
    errors = _scale_errors(scale, "specReplicasPath", (".spec",), path, required=True)
    errors += _scale_errors(scale, "statusReplicasPath", (".status",), path, required=True)
    return errors + _scale_errors(scale, "labelSelectorPath", (".spec", ".status"), path, required=False)


def _scale_errors(scale: Object, field: str, roots: Sequence[str], path: Path, *, required: bool) -> list[FieldError]:
    where, at = scale.get(field), path / f"scale.{field}"
    if not where:
        return [FieldError.required(at)] if required else []
    problems = _path_errors(where, at)
    if problems or where.startswith(tuple(f"{root}." for root in roots)):
        return problems
    wanted = f"under {roots[0]}" if len(roots) == 1 else f"under either {' or '.join(roots)}"
    return [FieldError.invalid(at, where, f"should be a json path {wanted}")]
