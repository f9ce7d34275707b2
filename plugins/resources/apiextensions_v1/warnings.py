"""What a client is told about a definition that is accepted nevertheless.

COMPAT: pkg/registry/customresourcedefinition WarningsOnCreate, WarningsOnUpdate
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from apiserver_plugins.apiextensions.schemas import walk
from apiserver_plugins.resources.apiextensions_v1 import view

Object = Mapping[str, Any]

_TEXT_FORMATS = frozenset(
    (
        "bsonobjectid", "uri", "email", "hostname", "ipv4", "ipv6", "cidr", "mac", "uuid", "uuid3", "uuid4", "uuid5",
        "isbn", "isbn10", "isbn13", "creditcard", "ssn", "hexcolor", "rgbcolor", "byte", "password", "date",
        "duration", "datetime", "k8sshortname", "k8slongname",
    )
)  # fmt: skip
_NUMBER_FORMATS = {"integer": ("int32", "int64"), "number": ("float", "double")}


def format_warnings(spec: Object) -> list[str]:
    """Formats that are nothing but a remark, each once. COMPAT: GetUnrecognizedFormats"""
    found = (one["format"] for schema in view.schemas(spec) for one in walk(schema) if _is_unknown(one))
    return list(dict.fromkeys(f'unrecognized format "{text}"' for text in found))


def _is_unknown(schema: Object) -> bool:
    text, type_ = schema.get("format"), schema.get("type") or "string"
    if not text:
        return False
    if type_ == "string":
        return text.replace("-", "") not in _TEXT_FORMATS
    return text not in _NUMBER_FORMATS.get(type_, ())
