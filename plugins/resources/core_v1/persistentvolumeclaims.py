"""PersistentVolumeClaims.

COMPAT: pkg/apis/core/validation ValidatePersistentVolumeClaimUpdate; pkg/registry/core/persistentvolumeclaim;
pkg/api/persistentvolumeclaim
"""

from __future__ import annotations

from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.resource import Column
from apiserver.api.rest import Context
from apiserver.api.strategy import StatusStrategy, Strategy, keep_status
from apiserver_plugins.resources.common.columns import AGE, UNSET, cell, value_at
from apiserver_plugins.resources.common.quantities import amount
from apiserver_plugins.resources.common.storage import claim_spec_errors, short_modes, storage_class
from apiserver_plugins.resources.common.values import NOT_NEGATIVE, immutable

_SPEC = Path("spec")
_IMMUTABLE = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"
_SIZE = _SPEC / "resources" / "requests" / "storage"
_SNAPSHOT = ("snapshot.storage.k8s.io", "VolumeSnapshot")
_SOURCE = ("apiGroup", "kind", "name")


def _supported_source(source: dict[str, Any] | None) -> bool:
    known = (("", "PersistentVolumeClaim"), _SNAPSHOT)
    return source is not None and (source.get("apiGroup") or "", source.get("kind")) in known


def _normalize_sources(spec: dict[str, Any], old: dict[str, Any]) -> None:
    """``dataSource`` and ``dataSourceRef`` mean the same; unknown kinds of the older one are dropped."""
    if old.get("dataSource") is None and old.get("dataSourceRef") is None:
        if not _supported_source(spec.get("dataSource")):
            spec.pop("dataSource", None)
        if spec.get("dataSourceRef") is not None:
            # COMPAT: the gate CrossNamespaceVolumeDataSource is off
            spec["dataSourceRef"].pop("namespace", None)
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    if source is not None and reference is None:
        spec["dataSourceRef"] = {field: source[field] for field in _SOURCE if field in source}
    elif reference is not None and source is None:
        spec["dataSource"] = {field: reference[field] for field in _SOURCE if field in reference}


def _size(obj: dict[str, Any], *path: str) -> Any:
    return amount(value_at(obj, *path, "storage") or "0")


def _comparable(obj: dict[str, Any], old: dict[str, Any], bound: bool) -> dict[str, Any]:
    """The spec without what may change."""
    spec = {k: v for k, v in obj["spec"].items() if v and k != "volumeAttributesClassName"}
    if not old["spec"].get("volumeName"):
        spec.pop("volumeName", None)
    if old["spec"].get("storageClassName") is None and spec.get("storageClassName"):
        # COMPAT: validateStorageClassUpgradeFromNil
        spec.pop("storageClassName")
    if bound:
        resources = dict(spec.get("resources") or {})
        resources["requests"] = {k: v for k, v in (resources.get("requests") or {}).items() if k != "storage"}
        spec["resources"] = resources
    return spec


class PersistentVolumeClaimStrategy(Strategy):
    """Rules of PersistentVolumeClaims."""

    returns_deleted_object = True

    def default(self, obj: dict[str, Any]) -> None:
        spec = obj.setdefault("spec", {})
        spec["volumeMode"] = spec["volumeMode"] if spec.get("volumeMode") is not None else "Filesystem"
        status = obj["status"] = obj.get("status") or {}
        status["phase"] = status.get("phase") or "Pending"

    def prepare_for_create(self, ctx: Context, obj: dict[str, Any]) -> None:
        obj["status"] = {"phase": "Pending"}
        _normalize_sources(obj["spec"], {})

    def prepare_for_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> None:
        keep_status(obj, old)
        _normalize_sources(obj["spec"], old.get("spec") or {})

    def validate(self, ctx: Context, obj: dict[str, Any]) -> list[FieldError]:
        return claim_spec_errors(obj["spec"], _SPEC)

    def validate_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        errors = self.validate(ctx, obj)
        bound = value_at(obj, "status", "phase") == "Bound"
        if _comparable(obj, old, bound) != _comparable(old, old, bound):
            errors.append(FieldError.forbidden(_SPEC, _IMMUTABLE))
        new, before = (_size(o, "spec", "resources", "requests") for o in (obj, old))
        if new < before and new <= _size(old, "status", "capacity"):
            errors.append(FieldError.forbidden(_SIZE, "field can not be less than status.capacity"))
        errors += immutable("volumeMode", value_at(obj, "spec", "volumeMode"), value_at(old, "spec", "volumeMode"))
        applied = value_at(old, "status", "currentVolumeAttributesClassName") is not None
        if applied and obj["spec"].get("volumeAttributesClassName") is None:
            path = _SPEC / "volumeAttributesClassName"
            errors.append(FieldError.forbidden(path, "update from non-nil value to nil is forbidden"))
        return errors


class PersistentVolumeClaimStatusStrategy(StatusStrategy):
    """Rules of ``/status``."""

    def validate_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        path = Path("status.capacity")
        capacity = value_at(obj, "status", "capacity") or {}
        return [
            FieldError.invalid(path.key(name), size, NOT_NEGATIVE)
            for name, size in capacity.items()
            if amount(size) < 0
        ]


def _phase(obj: dict[str, Any]) -> str:
    deleting = obj["metadata"].get("deletionTimestamp")
    return "Terminating" if deleting else str(value_at(obj, "status", "phase") or "")


def _capacity(obj: dict[str, Any]) -> str:
    bound = value_at(obj, "spec", "volumeName")
    return str(value_at(obj, "status", "capacity", "storage") or "0") if bound else ""


def _modes(obj: dict[str, Any]) -> str:
    return short_modes(value_at(obj, "status", "accessModes")) if value_at(obj, "spec", "volumeName") else ""


STRATEGY = PersistentVolumeClaimStrategy()
STATUS = PersistentVolumeClaimStatusStrategy(STRATEGY)
COLUMNS = (
    Column("Status", _phase, field="status.phase"),
    Column("Volume", cell("spec", "volumeName"), field="spec.volumeName"),
    Column("Capacity", _capacity, field="status.capacity"),
    Column("Access Modes", _modes, field="status.accessModes"),
    Column("StorageClass", storage_class, description="StorageClass of the pvc"),
    Column(
        "VolumeAttributesClass",
        cell("spec", "volumeAttributesClassName", default=UNSET),
        description="VolumeAttributesClass of the pvc",
    ),
    AGE,
    Column("VolumeMode", cell("spec", "volumeMode", default=UNSET), priority=1, field="spec.volumeMode"),
)
