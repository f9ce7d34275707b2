"""Defaults in a schema: they fit the schema themselves, and have no fields that it does not know.

Called by :mod:`.schema` once a schema is structural. A default is an object of its own kind of schema, so it is checked
as custom resources are (:class:`apiserver.SchemaCheck`); one inside the metadata of an embedded object is checked with
that object around it.

COMPAT: pkg/apiserver/schema/defaulting ValidateDefaults
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from apiserver import SchemaCheck
from apiserver.api.fields import FieldError, Path
from apiserver_plugins.apiextensions.embedded import meta_errors
from apiserver_plugins.resources.apiextensions_v1.pruning import META, has_unknown

Object = Mapping[str, Any]

_EMBEDDED = "x-kubernetes-embedded-resource"
_TYPE = {"apiVersion": "validation/v1", "kind": "Validation"}


def default_errors(schema: Object, path: Path, *, pruned: bool) -> list[FieldError]:
    """Problems of the defaults in the schema of an object.

    :param pruned: whether unknown fields in defaults are problems.
    """
    if not _has_default(schema):
        return []
    return list(_errors({**schema, _EMBEDDED: True}, path, _Around({}, (), in_meta=False), pruned))


def _has_default(schema: Object) -> bool:
    items = schema.get("items")
    inner = [items] if isinstance(items, Mapping) else []
    inner += (schema.get("properties") or {}).values()
    return schema.get("default") is not None or any(map(_has_default, inner))


@dataclass(frozen=True)
class _Around:
    """The embedded object that a schema belongs to, and the way from there."""

    schema: Object
    steps: tuple[str | None, ...]
    in_meta: bool

    def below(self, step: str | None, *, meta: bool = False) -> _Around:
        """The same for a field, or for the items of a list (None)."""
        return replace(self, steps=(*self.steps, step), in_meta=self.in_meta or meta)

    def object(self, value: Any) -> dict[str, Any]:
        """The embedded object with ``value`` in its place."""
        made = value
        for step in reversed(self.steps):
            made = [made] if step is None else {step: made}
        return {**_TYPE, **made}


def _errors(schema: Object, path: Path, around: _Around, pruned: bool) -> Iterator[FieldError]:
    """COMPAT: additionalProperties are not looked into, defaults have no place there."""
    if schema.get(_EMBEDDED):
        around = _Around(schema, (), in_meta=False)
    if schema.get("default") is not None:
        yield from _own_errors(schema, path / "default", around, pruned)
    if isinstance(schema.get("items"), Mapping):
        yield from _errors(schema["items"], path / "items", around.below(None), pruned)
    for name, inner in (schema.get("properties") or {}).items():
        meta = bool(schema.get(_EMBEDDED)) and name in META
        yield from _errors(inner, (path / "properties").key(name), around.below(name, meta=meta), pruned)


def _own_errors(schema: Object, path: Path, around: _Around, pruned: bool) -> list[FieldError]:
    value = schema["default"]
    errors: list[FieldError] = []
    if around.in_meta:
        wrong = meta_errors(around.object(value), around.schema, Path(), embedded=True)
        if wrong:
            texts = [str(error) for error in wrong]
            shown = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
            return [FieldError.invalid(path, value, f"must result in valid metadata: {shown}")]
    else:
        if pruned and has_unknown(value, schema):
            errors.append(FieldError.invalid(path, value, "must not have unknown fields"))
        wrong = meta_errors(value, schema, path)
        if wrong:
            return errors + wrong
    return errors + value_errors(value, schema, path)


def value_errors(value: Any, schema: Object, path: Path) -> list[FieldError]:
    """Problems of a value that stands at ``path`` and should fit ``schema``."""
    check = SchemaCheck(schema)
    return [replace(error, field=path / error.field if error.field else path) for error in check.errors(value)]
