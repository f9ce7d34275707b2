"""The rules of ``metadata`` that hold for every kind.

Called by :mod:`apiserver.registry.store` around the strategy.

COMPAT: k8s.io/apimachinery/pkg/api/validation ValidateObjectMetaAccessor, ValidateObjectMetaAccessorUpdate;
k8s.io/apiserver/pkg/registry/rest FillObjectMetaSystemFields
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from typing import Any

from apiserver.api import validation
from apiserver.api.fields import FieldError, Path
from apiserver.api.names import GroupVersion, GroupVersionKind

Metadata = dict[str, Any]

ANNOTATIONS_LIMIT = 256 * 1024
GC_FINALIZERS = ("orphan", "foregroundDeletion")
STANDARD_FINALIZERS = (*GC_FINALIZERS, "kubernetes")
_META = Path("metadata")
_IMMUTABLE = ("name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds")
_IMMUTABLE_TEXT = "field is immutable"
_NOT_AN_OWNER = {("", "v1", "Event")}


def now() -> str:
    """The time as RFC 3339 in whole seconds, UTC."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def wipe_system_fields(metadata: Metadata) -> None:
    """Drop what clients may not set on create. COMPAT: rest.WipeObjectMetaSystemFields."""
    for field in ("deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "uid", "creationTimestamp"):
        metadata.pop(field, None)


def fill_system_fields(metadata: Metadata) -> None:
    """Set what the server sets on create."""
    metadata["creationTimestamp"] = now()
    metadata["uid"] = str(uuid.uuid4())


def keep_server_fields(meta: Metadata, old: Metadata, prepare: Callable[[], None]) -> None:
    """Bring what clients can't change back to what is stored, in place.

    :param prepare: the strategy's turn, which sees the stored generation and may count it up.

    COMPAT: rest.BeforeUpdate
    """
    _restore(meta, old, "generation")
    prepare()
    _restore(meta, old, "creationTimestamp")
    if "deletionTimestamp" in old:
        meta["deletionTimestamp"] = old["deletionTimestamp"]
    for field in ("uid", "deletionGracePeriodSeconds"):
        if not meta.get(field) and field in old:
            meta[field] = old[field]
    meta.pop("selfLink", None)


def _restore(meta: Metadata, old: Metadata, field: str) -> None:
    if field in old:
        meta[field] = old[field]
    else:
        meta.pop(field, None)


def deduplicate_owners(metadata: Metadata) -> bool:
    """Drop repeated ownerReferences; returns whether there were any. COMPAT: dedupOwnerReferencesAndAddWarning."""
    owners = metadata.get("ownerReferences")
    if not owners or len(owners) < 2:
        return False
    kept: list[Any] = []
    for owner in owners:
        if owner not in kept:
            kept.append(owner)
    metadata["ownerReferences"] = kept
    return len(kept) != len(owners)


def validate(
    metadata: Metadata,
    namespaced: bool,
    validate_name: Callable[[str, bool], list[str]],
    any_finalizer: bool = False,
) -> list[FieldError]:
    """Problems of a new object's metadata.

    :param any_finalizer: whether finalizers may be names without a domain.
    """
    return [*validate_identity(metadata, namespaced, validate_name), *_validate_common(metadata, any_finalizer)]


def validate_identity(
    metadata: Metadata, namespaced: bool, validate_name: Callable[[str, bool], list[str]]
) -> list[FieldError]:
    """Problems of name, generateName, namespace and generation."""
    errors = []
    generate, name = metadata.get("generateName"), metadata.get("name")
    if generate:
        errors += [
            FieldError.invalid(_META / "generateName", generate, problem) for problem in validate_name(generate, True)
        ]
    if not name:
        errors.append(FieldError.required(_META / "name", "name or generateName is required"))
    else:
        errors += [FieldError.invalid(_META / "name", name, problem) for problem in validate_name(name, False)]
    namespace = metadata.get("namespace")
    if namespaced:
        if not namespace:
            errors.append(FieldError.required(_META / "namespace"))
        else:
            errors += [FieldError.invalid(_META / "namespace", namespace, p) for p in validation.dns_label(namespace)]
    elif namespace:
        errors.append(FieldError.forbidden(_META / "namespace", "not allowed on this type"))
    if metadata.get("generation", 0) < 0:
        errors.append(
            FieldError.invalid(_META / "generation", metadata["generation"], "must be greater than or equal to 0")
        )
    return errors


def validate_update(metadata: Metadata, old: Metadata, any_finalizer: bool = False) -> list[FieldError]:
    """Problems of a changed object's metadata.

    :param any_finalizer: as for :func:`validate`.
    """
    errors = [*_new_finalizers(metadata, old)]
    if old.get("generation", 0) and metadata.get("generation", 0) < old["generation"]:
        errors.append(
            FieldError.invalid(_META / "generation", metadata.get("generation", 0), "must not be decremented")
        )
    errors += [
        FieldError.invalid(_META / field, metadata.get(field), _IMMUTABLE_TEXT)
        for field in _IMMUTABLE
        if metadata.get(field) != old.get(field)
    ]
    return [*errors, *_validate_common(metadata, any_finalizer)]


def _new_finalizers(metadata: Metadata, old: Metadata) -> list[FieldError]:
    """COMPAT: ValidateNoNewFinalizers."""
    if not old.get("deletionTimestamp"):
        return []
    known = set(old.get("finalizers") or ())
    new = [f for f in metadata.get("finalizers") or () if f not in known]
    if not new:
        return []
    shown = ", ".join(f'"{f}"' for f in sorted(new))
    return [
        FieldError.forbidden(
            _META / "finalizers",
            "no new finalizers can be added if the object is being deleted, found new finalizers []string{"
            + shown
            + "}",
        )
    ]


def _validate_common(metadata: Metadata, any_finalizer: bool) -> list[FieldError]:
    errors = []
    if labels := metadata.get("labels"):
        errors += validate_labels(labels, _META / "labels")
    if annotations := metadata.get("annotations"):
        errors += validate_annotations(annotations, _META / "annotations")
    if owners := metadata.get("ownerReferences"):
        errors += _validate_owners(owners, _META / "ownerReferences")
    if finalizers := metadata.get("finalizers"):
        errors += _validate_finalizers(finalizers, _META / "finalizers", any_finalizer)
    return errors


def validate_labels(labels: dict[str, str], path: Path) -> list[FieldError]:
    """COMPAT: ValidateLabels."""
    errors = []
    for key, value in labels.items():
        errors += [FieldError.invalid(path, key, p) for p in validation.qualified_name(key)]
        errors += [FieldError.invalid(path, value, p) for p in validation.label_value(value)]
    return errors


def validate_annotations(annotations: dict[str, str], path: Path) -> list[FieldError]:
    """COMPAT: ValidateAnnotations: keys may have upper case in the prefix; sizes count together."""
    errors = []
    for key in annotations:
        errors += [FieldError.invalid(path, key, p) for p in validation.qualified_name(key.lower())]
    size = sum(len(k.encode()) + len(v.encode()) for k, v in annotations.items())
    if size > ANNOTATIONS_LIMIT:
        errors.append(FieldError.too_long(path, ANNOTATIONS_LIMIT))
    return errors


def _validate_owners(owners: list[dict[str, Any]], path: Path) -> list[FieldError]:
    """COMPAT: ValidateOwnerReferences."""
    # COMPAT: upstream's paths name the list, not the item
    errors = []
    controllers: list[str] = []
    for owner in owners:
        group, version = _parsed(owner.get("apiVersion", ""))
        kind = owner.get("kind", "")
        if not version:
            text = "version must not be empty"
            errors.append(FieldError.invalid(path / "apiVersion", owner.get("apiVersion", ""), text))
        errors += [
            FieldError.invalid(path / field, "", "must not be empty")
            for field in ("kind", "name", "uid")
            if not owner.get(field)
        ]
        if (group, version, kind) in _NOT_AN_OWNER:
            text = f"{GroupVersionKind(group, version, kind)} is disallowed from being an owner"
            errors.append(FieldError.invalid(path, owner, text))
        if owner.get("controller"):
            controllers.append(f"{kind}/{owner.get('name', '')}")
            if len(controllers) == 2:
                text = (
                    'Only one reference can have Controller set to true. Found "true" in references for '
                    f"{controllers[0]} and {controllers[1]}"
                )
                errors.append(FieldError.invalid(path, owners, text))
    return errors


def _parsed(api_version: str) -> tuple[str, str]:
    try:
        return GroupVersion.parse(api_version)
    except ValueError:
        return "", ""


def _validate_finalizers(finalizers: list[str], path: Path, any_finalizer: bool) -> list[FieldError]:
    """COMPAT: ValidateFinalizers."""
    errors = []
    for i, finalizer in enumerate(finalizers):
        errors += [FieldError.invalid(path, finalizer, p) for p in validation.qualified_name(finalizer)]
        if not any_finalizer and "/" not in finalizer and finalizer not in STANDARD_FINALIZERS:
            text = "name is neither a standard finalizer name nor is it fully qualified"
            errors.append(FieldError.invalid(path / i, finalizer, text))
    if all(f in finalizers for f in GC_FINALIZERS):
        errors.append(
            FieldError.invalid(
                path, finalizers, f"finalizer {GC_FINALIZERS[0]} and {GC_FINALIZERS[1]} cannot be both set"
            )
        )
    return errors
