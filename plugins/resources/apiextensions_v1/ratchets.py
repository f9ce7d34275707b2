"""What a definition was already allowed to be wrong in: an update does not ask for more than was kept before.

Called by :mod:`.validation` for updates.

COMPAT: ValidateCustomResourceDefinitionUpdate and the functions that fill its options
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from apiserver.api.fields import Path
from apiserver_plugins.apiextensions.schemas import walk
from apiserver_plugins.resources.apiextensions_v1 import conversion, lists, schema, structural, view
from apiserver_plugins.resources.apiextensions_v1.pruning import has_unknown
from apiserver_plugins.resources.apiextensions_v1.selectable import MOST

Object = Mapping[str, Any]

_EXTENSIONS = (
    "x-kubernetes-embedded-resource", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-int-or-string",
    "x-kubernetes-list-map-keys", "x-kubernetes-list-type", "x-kubernetes-validations",
)  # fmt: skip


@dataclass(frozen=True)
class Rules:
    """What is asked of a definition; the defaults are for a new one.

    :param schema: what is asked of its schemas.
    :param any_bundle: whether the caBundle of the conversion webhook need not be one.
    :param many_selectable: versions that may have too many selectable fields, "" for all together.
    """

    schema: schema.Rules = field(default_factory=schema.Rules)
    established: bool = False
    all_schemas: bool = True
    recognized_review: bool = True
    any_bundle: bool = True
    many_selectable: frozenset[str] = frozenset()


def rules_of_update(obj: Object, old: Object) -> Rules:
    """What is asked of ``obj`` that was ``old``."""
    spec, before = obj["spec"], old["spec"]
    established = is_established(old)
    reviews = ((before.get("conversion") or {}).get("webhook") or {}).get("conversionReviewVersions") or []
    return Rules(
        schema=_schema_rules(spec, before),
        established=established,
        all_schemas=all(view.schema_of(version) is not None for version in before.get("versions") or ()),
        recognized_review=not reviews or conversion.is_recognized(reviews),
        any_bundle=not established or bool(_bundle_error(before)),
        many_selectable=frozenset(_many_selectable(spec, before)),
    )


def is_established(definition: Object) -> bool:
    """Whether the definition is served."""
    conditions = (definition.get("status") or {}).get("conditions") or ()
    found = (one.get("status") for one in conditions if one.get("type") == "Established")
    return next(found, None) == "True"


def _bundle_error(spec: Object) -> str:
    return conversion.bundle_error(((spec.get("conversion") or {}).get("webhook") or {}).get("clientConfig") or {})


def _schema_rules(spec: Object, before: Object) -> schema.Rules:
    old = list(view.schemas(before))
    parts = [part for one in old for part in walk(one)]
    rules = lists.Rules(
        atomic_items=not any(_any(lists.item_errors(part, Path())) for part in parts),
        strict_keys=not any(_any(lists.key_errors(part, Path())) for part in parts),
    )
    return schema.Rules(
        structural=needs_structure(spec) or all(map(structural.is_structural, old)),
        known_types=all((part.get("type") or "string") in schema.TYPES for part in parts),
        pruned_defaults=not any(map(_has_unpruned, old)),
        lists=rules,
    )


def _any(errors: Any) -> bool:
    return next(iter(errors), None) is not None


def needs_structure(spec: Object) -> bool:
    """Whether the schemas must be structural, whatever they were."""
    if not spec.get("preserveUnknownFields"):
        return True
    return any(
        part.get("default") is not None or any(part.get(name) is not None for name in _EXTENSIONS)
        for one in view.schemas(spec)
        for part in walk(one)
    )


def _has_unpruned(one: Object) -> bool:
    """Whether a structural schema has a default with unknown fields."""
    if not structural.is_structural(one):
        return False
    return any(
        part.get("default") is not None and has_unknown(part["default"], part, embedded=part is one)
        for part in walk(one)
    )


def _many_selectable(spec: Object, before: Object) -> list[str]:
    old = {version.get("name") or "": version.get("selectableFields") for version in before.get("versions") or ()}
    same = []
    for version in spec.get("versions") or ():
        name, fields = version.get("name") or "", version.get("selectableFields")
        if fields and len(fields) > MOST and old.get(name) == fields:
            same.append(name)
    # COMPAT: what all versions have is one list, and so it was before if it is the same for all
    if same and view.shared(spec, "selectableFields") and view.shared(before, "selectableFields"):
        same.append("")
    return same
