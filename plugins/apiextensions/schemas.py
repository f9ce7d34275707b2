"""Schemas as they stand in definitions: dicts of OpenAPI v3.

Used by the rules of definitions and those of custom resources.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def walk(schema: Any) -> Iterator[dict[str, Any]]:
    """A schema and every schema in it. COMPAT: SchemaHas"""
    if not isinstance(schema, dict):
        return
    yield schema
    for field in ("items", "not", "additionalProperties", "additionalItems"):
        inner = schema.get(field)
        for one in inner if isinstance(inner, list) else (inner,):
            yield from walk(one)
    for field in ("allOf", "anyOf", "oneOf"):
        for one in schema.get(field) or ():
            yield from walk(one)
    for field in ("properties", "patternProperties", "definitions", "dependencies"):
        for one in (schema.get(field) or {}).values():
            yield from walk(one)


def has(schema: Any, keyword: str) -> bool:
    """Whether a keyword stands anywhere in a schema."""
    return any(keyword in one for one in walk(schema))
