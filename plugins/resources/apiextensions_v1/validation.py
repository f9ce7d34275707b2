"""What is wrong with a CustomResourceDefinition: the rules of its parts, in the order of upstream.

Called by the strategies of :mod:`.customresourcedefinitions`.

COMPAT: pkg/apis/apiextensions/validation
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver_plugins.apiextensions.schemas import walk
from apiserver_plugins.resources.apiextensions_v1 import names, schema, selectable, versions, view
from apiserver_plugins.resources.apiextensions_v1.conversion import conversion_errors
from apiserver_plugins.resources.apiextensions_v1.ratchets import Rules, rules_of_update
from apiserver_plugins.resources.common.values import immutable

Object = Mapping[str, Any]

SCOPES = ("Cluster", "Namespaced")
_SPEC, _STATUS = Path("spec"), Path("status")
_PRESERVE = _SPEC / "preserveUnknownFields"
_PRESERVE_TEXT = (
    "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
)


def create_errors(definition: Object) -> list[FieldError]:
    """Problems of a new definition."""
    spec, name = definition["spec"], definition["metadata"].get("name") or ""
    wanted = f"{(spec.get('names') or {}).get('plural') or ''}.{spec.get('group') or ''}"
    errors = [*_spec_errors(spec, Rules()), *_common_errors(definition, None)]
    if name != wanted:
        errors.append(FieldError.invalid("metadata.name", name, 'must be spec.names.plural+"."+spec.group'))
    return errors


def update_errors(definition: Object, old: Object) -> list[FieldError]:
    """Problems of a changed definition."""
    rules = rules_of_update(definition, old)
    spec, before = definition["spec"], old["spec"]
    errors = [*_spec_errors(spec, rules), *_common_errors(definition, old)]
    asked, had = spec.get("names") or {}, before.get("names") or {}
    if rules.established:
        errors += immutable(_SPEC / "scope", spec.get("scope") or "", before.get("scope"))
        errors += immutable(_SPEC / "names.kind", asked.get("kind") or "", had.get("kind"))
    errors += immutable(_SPEC / "group", spec.get("group") or "", before.get("group"))
    return errors + immutable(_SPEC / "names.plural", asked.get("plural") or "", had.get("plural"))


def status_errors(definition: Object) -> list[FieldError]:
    """Problems of a status that somebody has set."""
    accepted = (definition.get("status") or {}).get("acceptedNames") or {}
    return names.names_errors(accepted, _STATUS / "acceptedNames")


def _common_errors(definition: Object, old: Object | None) -> Iterator[FieldError]:
    spec, status = definition["spec"], definition.get("status") or {}
    yield from status_errors(definition)
    yield from _stored_errors(status.get("storedVersions"), spec.get("versions") or [], _STATUS / "storedVersions")
    yield from names.approval_errors(definition, old)
    if spec.get("preserveUnknownFields") and not (old is not None and old["spec"].get("preserveUnknownFields")):
        yield FieldError.invalid(_PRESERVE, True, _PRESERVE_TEXT)


def _stored_errors(stored: list[str] | None, known: list[Object], path: Path) -> Iterator[FieldError]:
    if not stored:
        yield FieldError.invalid(path, None, "must have at least one stored version")
        return
    declared = [version.get("name") or "" for version in known]
    for version, name in zip(known, declared, strict=True):
        if version.get("storage") and name not in stored:
            yield FieldError.invalid(path, stored, f"must have the storage version {name}")
    for name, i in {name: i for i, name in enumerate(stored) if name not in declared}.items():
        text = (
            f"missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions "
            f"until a storage migration ensures no data remains persisted in {name} and removes {name} from "
            "status.storedVersions"
        )
        yield FieldError.invalid(path / i, name, text)


def _spec_errors(spec: Object, rules: Rules) -> Iterator[FieldError]:
    yield from names.group_errors(spec.get("group") or "", _SPEC / "group")
    yield from _scope_errors(spec.get("scope") or "")
    yield from _missing_schema_errors(spec, rules.all_schemas)
    if spec.get("preserveUnknownFields") and _has_defaults(spec):
        yield FieldError.invalid(_PRESERVE, True, "must be false in order to use defaults in the schema")
    yield from _version_list_errors(spec.get("versions") or [])
    asked = spec.get("names") or {}
    yield from names.required_errors(asked, _SPEC / "names")
    yield from names.names_errors(asked, _SPEC / "names")
    yield from _part_errors(spec, rules)
    conversion = spec.get("conversion") or {}
    strategy = conversion.get("strategy") or ""
    if strategy != "None" and spec.get("preserveUnknownFields"):
        text = "must be None if spec.preserveUnknownFields is true"
        yield FieldError.invalid(_SPEC / "conversion.strategy", strategy, text)
    yield from conversion_errors(
        conversion, _SPEC / "conversion", recognized=rules.recognized_review, any_bundle=rules.any_bundle
    )


def _scope_errors(scope: str) -> list[FieldError]:
    if not scope:
        return [FieldError.required(_SPEC / "scope")]
    return [] if scope in SCOPES else [FieldError.not_supported(_SPEC / "scope", scope, SCOPES)]


def _missing_schema_errors(spec: Object, all_schemas: bool) -> Iterator[FieldError]:
    for i, version in enumerate(spec.get("versions") or ()):
        if view.schema_of(version) is not None:
            continue
        path = _SPEC / "versions" / i / "schema.openAPIV3Schema"
        if all_schemas:
            yield FieldError.required(path)
        elif version.get("served") and not spec.get("preserveUnknownFields"):
            yield FieldError.required(path, "because otherwise all fields are pruned")


def _has_defaults(spec: Object) -> bool:
    return any(part.get("default") is not None for one in view.schemas(spec) for part in walk(one))


def _version_list_errors(known: list[Object]) -> Iterator[FieldError]:
    path = _SPEC / "versions"
    for i, version in enumerate(known):
        yield from names.label_errors(version.get("name") or "", path / i / "name")
        yield from versions.warning_errors(version, path / i / "deprecationWarning")
    if known and known[0].get("name"):
        # COMPAT: the first version is also the one of the internal version
        yield from names.label_errors(known[0]["name"], _SPEC / "version")
    declared = [version.get("name") for version in known]
    if len(set(declared)) < len(declared):
        yield FieldError.invalid(path, known, "must contain unique version names")
    if sum(1 for version in known if version.get("storage")) != 1:
        yield FieldError.invalid(path, known, "must have exactly one version marked as storage version")


def _part_errors(spec: Object, rules: Rules) -> Iterator[FieldError]:
    """Problems of what versions have, alone or together."""
    known = spec.get("versions") or []
    with_status = [view.has_status(version.get("subresources")) for version in known]
    for index, value, path in view.places(spec, "schema"):
        if value.get("openAPIV3Schema") is not None:
            status = any(with_status) if index is None else with_status[index]
            one = value["openAPIV3Schema"]
            yield from schema.schema_errors(one, path / "openAPIV3Schema", rules.schema, status=status)
    for _, value, path in view.places(spec, "subresources"):
        yield from versions.subresource_errors(value, path)
    for _, value, path in view.places(spec, "additionalPrinterColumns"):
        for i, column in enumerate(value):
            yield from versions.column_errors(column, path / i)
    yield from selectable.errors_of(spec, rules.many_selectable)
