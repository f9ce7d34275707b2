"""The kinds this server knows: their types and the descriptions of their fields.

Built-in kinds come from the definitions of the emulated minor, a plugin's kinds from the schema of their declaration.
Handlers and tables ask here; nothing is compiled before it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from apiserver.api.names import GroupVersionKind
from apiserver.api.resource import Resource
from apiserver.minors import minors
from apiserver.schema import builtin, custom, definitions, structural
from apiserver.schema.check import PartCheck, SchemaCheck
from apiserver.schema.types import Struct

OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
_REF = "#/definitions/"


class Kinds:
    """Types by GroupVersionKind.

    :param minor: the Kubernetes minor whose built-in kinds are known.
    """

    def __init__(self, minor: int) -> None:
        self._types = builtin.types(minor)
        self._definitions = definitions.of(minor)
        self._schemas: dict[GroupVersionKind, Mapping[str, Any]] = {}
        self._unstructured: set[GroupVersionKind] = set()
        self._custom: dict[GroupVersionKind, Struct] = {}
        self._readers: dict[tuple[GroupVersionKind, bool], structural.Read] = {}
        self._checks: dict[GroupVersionKind, SchemaCheck] = {}

    def add(self, resources: Iterable[Resource]) -> None:
        """Make the kinds of these declarations known."""
        for resource in resources:
            if resource.schema is not None:
                self._schemas[resource.gvk] = resource.schema
                if resource.unstructured:
                    self._schemas |= _others(resource)
                    self._unstructured |= {resource.gvk, *_others(resource)}

    def remove(self, resources: Iterable[Resource]) -> None:
        """Forget the kinds of these declarations."""
        for resource in resources:
            for gvk in (resource.gvk, *_others(resource)):
                for known in (self._schemas, self._custom, self._checks):
                    known.pop(gvk, None)
                for defaults in (True, False):
                    self._readers.pop((gvk, defaults), None)
                self._unstructured.discard(gvk)

    def registered(self, group: str, version: str, kind: str) -> bool:
        """Whether there is such a kind, served or not."""
        return GroupVersionKind(group, version, kind) in self._schemas or self._types.registered(group, version, kind)

    def published(self, gvk: GroupVersionKind) -> bool:
        """Whether the emulated minor has a built-in kind."""
        return builtin.definition_name(*gvk) in self._definitions

    def version_known(self, group: str, version: str) -> bool:
        """Whether upstream's scheme knows a group version, served or not."""
        return self._types.version_known(group, version)

    def published_elsewhere(self, gvk: GroupVersionKind) -> bool:
        """Whether any minor has a built-in kind. Reads their definitions until one does."""
        name = builtin.definition_name(*gvk)
        return any(definitions.published(minor, name) for minor in reversed(minors()))

    def type_of(self, gvk: GroupVersionKind) -> Struct:
        """The type of a kind.

        :raises LookupError: there is none.
        """
        found = self._custom.get(gvk)
        if found is None and gvk in self._schemas:
            found = self._custom[gvk] = self._compile(gvk)
        if found is not None:
            return found
        found = self._types.kind(*gvk)
        if found is None:
            raise LookupError(f"no schema for {gvk}: declare Resource(schema=...)")
        return found

    def version(self, gvk: tuple[str, str, str]) -> Struct | None:
        """The type of a kind without a Go type, None when there is no such kind."""
        kind = GroupVersionKind(*gvk)
        return self.type_of(kind) if kind in self._unstructured else None

    def check_of(self, gvk: GroupVersionKind) -> SchemaCheck | None:
        """The check of a kind that brings its schema; None for built-in kinds, whose rules are in their strategies."""
        if gvk not in self._schemas:
            return None
        return self._checks.setdefault(gvk, SchemaCheck(self._schemas[gvk]))

    def part_check(self, gvk: GroupVersionKind, field: str) -> PartCheck | None:
        """The check of one field of a kind that brings its schema; None when the schema says nothing of it."""
        schema = (self._schemas[gvk].get("properties") or {}).get(field)
        return PartCheck(schema, field) if schema is not None else None

    def _compile(self, gvk: GroupVersionKind) -> Struct:
        loose = gvk in self._unstructured
        return custom.kind(self._schemas[gvk], self._types, version=gvk.version, name=gvk.kind, loose=loose)

    def complete(self, gvk: GroupVersionKind, obj: dict[str, Any]) -> None:
        """Prune an object that was stored, and give it the defaults of its kind's schema, in place.

        :param gvk: the storage version. An object that was stored in another one has the defaults of that one.
        """
        group, _, version = str(obj.get("apiVersion")).rpartition("/")
        stored = GroupVersionKind(group, version, gvk.kind)
        if stored != gvk and stored in self._unstructured:
            self._reader(stored, defaults=True)(obj, None, None)
            self.prune(gvk, obj)
        else:
            self._reader(gvk, defaults=True)(obj, None, None)

    def prune(self, gvk: GroupVersionKind, obj: dict[str, Any]) -> None:
        """Take from an object of another version, in place, what the schema of its kind does not have.

        COMPAT: a conversion sets no defaults
        """
        self._reader(gvk, defaults=False)(obj, None, None)

    def _reader(self, gvk: GroupVersionKind, *, defaults: bool) -> structural.Read:
        found = self._readers.get((gvk, defaults))
        if found is None:
            made = structural.decoder(self._schemas[gvk], custom.object_meta(self._types), defaults=defaults)
            found = self._readers.setdefault((gvk, defaults), made)
        return found

    def describe(self, gvk: GroupVersionKind, path: str) -> str:
        """The description of a field (dotted path), "" when there is none."""
        steps = path.split(".")
        schema: Mapping[str, Any] | None = self._schemas.get(gvk)
        if schema is None or steps[0] == "metadata":
            name = builtin.definition_name(*gvk)
            known = schema is None and name in self._definitions
            schema = self._read(name) if known else {"properties": {"metadata": {"$ref": _REF + OBJECT_META}}}
        found: Mapping[str, Any] = {}
        for step in steps:
            found = (schema.get("properties") or {}).get(step) or {}
            schema = self._resolved(found)
        return str(found.get("description") or "")

    def _resolved(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        reference = schema.get("$ref") or next((s["$ref"] for s in schema.get("allOf") or () if "$ref" in s), "")
        return self._read(reference.rpartition("/")[2]) if reference else schema

    def _read(self, name: str) -> Mapping[str, Any]:
        return self._definitions.read(name)


def _others(resource: Resource) -> dict[GroupVersionKind, Mapping[str, Any]]:
    """The schemas of versions that are not served."""
    group, kind = resource.group, resource.kind
    return {GroupVersionKind(group, version, kind): schema for version, schema in resource.unserved.items()}
