"""A definition as upstream checks it: what all versions have in common stands once, in the spec itself.

Error paths follow from that: a problem of the schema of a definition whose versions all have the same one is found
below ``spec.validation``, otherwise below ``spec.versions[i].schema``. Used by :mod:`.validation` and its parts.

COMPAT: Convert_v1_CustomResourceDefinitionSpec_To_apiextensions_CustomResourceDefinitionSpec
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from apiserver.api.fields import Path

Object = Mapping[str, Any]
SPEC = Path("spec")
_SHARED = {
    "schema": "validation",
    "subresources": "subresources",
    "additionalPrinterColumns": "additionalPrinterColumns",
    "selectableFields": "selectableFields",
}
"""Fields of a version, and what they are called in the spec."""


class Place(NamedTuple):
    """Where a value stands; ``version`` is which one it is in, None for what is shared."""

    version: int | None
    value: Any
    path: Path


def shared(spec: Object, field: str) -> bool:
    """Whether all versions have the same value of a field, which may be none."""
    values = [version.get(field) or None for version in spec.get("versions") or ()]
    return bool(values) and all(value == values[0] for value in values)


def places(spec: Object, field: str) -> Iterator[Place]:
    """The values of a field of the versions."""
    versions = spec.get("versions") or []
    if shared(spec, field):
        if versions[0].get(field):
            yield Place(None, versions[0][field], SPEC / _SHARED[field])
        return
    for i, version in enumerate(versions):
        if version.get(field):
            yield Place(i, version[field], SPEC / "versions" / i / field)


def schema_of(version: Object) -> dict[str, Any] | None:
    """The OpenAPI schema of a version."""
    found: dict[str, Any] | None = (version.get("schema") or {}).get("openAPIV3Schema")
    return found


def schemas(spec: Object) -> Iterator[dict[str, Any]]:
    """The schema of each version that has one."""
    for version in spec.get("versions") or ():
        schema = schema_of(version)
        if schema is not None:
            yield schema


def has_status(subresources: Object | None) -> bool:
    """Whether the subresource ``status`` is on."""
    return (subresources or {}).get("status") is not None
