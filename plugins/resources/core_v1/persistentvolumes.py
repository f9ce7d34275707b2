"""PersistentVolumes.

COMPAT: pkg/apis/core/v1 SetDefaults_PersistentVolume; pkg/apis/core/validation ValidatePersistentVolumeSpec;
pkg/registry/core/persistentvolume
"""

from __future__ import annotations

import posixpath
from typing import Any

from apiserver.api.durations import now
from apiserver.api.fields import FieldError, Path
from apiserver.api.resource import Column
from apiserver.api.rest import Context
from apiserver.api.strategy import StatusStrategy, Strategy, keep_status
from apiserver_plugins.resources.common.columns import AGE, UNSET, cell, value_at
from apiserver_plugins.resources.common.pod_validation.scheduling import node_selector_term_errors
from apiserver_plugins.resources.common.quantities import amount
from apiserver_plugins.resources.common.storage import (
    access_mode_errors,
    class_name_errors,
    positive_quantity,
    short_modes,
    storage_class,
    volume_mode_errors,
)
from apiserver_plugins.resources.common.values import NOT_NEGATIVE, immutable

_SPEC = Path("spec")
_POLICIES = frozenset(("Delete", "Recycle", "Retain"))
_HOST_PATH_TYPES = frozenset(
    ("", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket")
)
_ONE_TYPE = "may not specify more than 1 volume type"
# Each kind of volume in the order in which upstream looks, with the fields that it needs.
_SOURCES: dict[str, tuple[str, ...]] = {
    "hostPath": ("path",),
    "gcePersistentDisk": ("pdName",),
    "awsElasticBlockStore": ("volumeID",),
    "glusterfs": ("endpoints", "path"),
    "flocker": (),
    "nfs": ("server", "path"),
    "rbd": ("monitors", "image"),
    "quobyte": ("registry", "volume"),
    "cephfs": ("monitors",),
    "iscsi": ("targetPortal", "iqn"),
    "cinder": ("volumeID",),
    "fc": (),
    "azureFile": ("secretName", "shareName"),
    "vsphereVolume": ("volumePath",),
    "photonPersistentDisk": ("pdID",),
    "portworxVolume": ("volumeID",),
    "azureDisk": ("diskName", "diskURI"),
    "scaleIO": ("gateway", "system", "volumeName"),
    "local": ("path",),
    "storageos": (),
    "csi": ("driver", "volumeHandle"),
    "flexVolume": ("driver",),
}
_DEFAULTS: dict[str, dict[str, Any]] = {
    "iscsi": {"iscsiInterface": "default"},
    "rbd": {"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"},
    "azureDisk": {"cachingMode": "ReadWrite", "kind": "Shared", "fsType": "ext4", "readOnly": False},
    "scaleIO": {"storageMode": "ThinProvisioned", "fsType": "xfs"},
}
_NEVER_CHANGES = "spec.persistentvolumesource is immutable after creation"


def _sources(spec: dict[str, Any]) -> dict[str, Any]:
    return {name: spec[name] for name in _SOURCES if spec.get(name) is not None}


def _path_errors(name: str, source: dict[str, Any], path: Path) -> list[FieldError]:
    """What paths of hosts and of NFS servers must be."""
    value = source.get("path") or ""
    if name in ("hostPath", "local") and ".." in value.split("/"):
        return [FieldError.invalid(path / "path", value, "must not contain '..'")]
    if name == "nfs" and value and not value.startswith("/"):
        return [FieldError.invalid(path / "path", value, "must be an absolute path")]
    if name == "hostPath" and source.get("type") not in (None, *_HOST_PATH_TYPES):
        return [FieldError.not_supported(path / "type", source["type"], _HOST_PATH_TYPES)]
    return []


def _source_errors(spec: dict[str, Any]) -> list[FieldError]:
    present = _sources(spec)
    if not present:
        return [FieldError.required(_SPEC, "must specify a volume type")]
    first, *others = present
    path, source = _SPEC / first, present[first]
    errors = [FieldError.required(path / field) for field in _SOURCES[first] if not source.get(field)]
    errors += _path_errors(first, source, path)
    errors += [FieldError.forbidden(_SPEC / name, _ONE_TYPE) for name in others]
    if "local" in present and not value_at(spec, "nodeAffinity", "required", "nodeSelectorTerms"):
        errors.append(FieldError.required(_SPEC / "nodeAffinity", "Local volume requires node affinity"))
    root = "hostPath" in present and posixpath.normpath(present["hostPath"].get("path") or ".") == "/"
    if root and spec.get("persistentVolumeReclaimPolicy") == "Recycle":
        text = "may not be 'recycle' for a hostPath mount of '/'"
        errors.append(FieldError.forbidden(_SPEC / "persistentVolumeReclaimPolicy", text))
    return errors


def _capacity_errors(capacity: dict[str, str]) -> list[FieldError]:
    path = _SPEC / "capacity"
    errors = [] if capacity else [FieldError.required(path)]
    if set(capacity) != {"storage"}:
        errors.append(FieldError.not_supported(path, capacity, ("storage",)))
    for name, size in capacity.items():
        if amount(size) < 0:
            errors.append(FieldError.invalid(path.key(name), size, NOT_NEGATIVE))
        errors += positive_quantity(path.key(name), size)
    return errors


def _affinity_errors(affinity: dict[str, Any] | None) -> list[FieldError]:
    path = _SPEC / "nodeAffinity" / "required"
    if affinity is None:
        return []
    required = affinity.get("required")
    if required is None:
        return [FieldError.required(path, "must specify required node constraints")]
    terms = required.get("nodeSelectorTerms") or ()
    where = path / "nodeSelectorTerms"
    errors = [] if terms else [FieldError.required(where, "must have at least one node selector term")]
    for i, term in enumerate(terms):
        errors += node_selector_term_errors(term, where / i)
    return errors


class PersistentVolumeStrategy(Strategy):
    """Rules of PersistentVolumes."""

    returns_deleted_object = True

    def default(self, obj: dict[str, Any]) -> None:
        spec = obj.setdefault("spec", {})
        spec["persistentVolumeReclaimPolicy"] = spec.get("persistentVolumeReclaimPolicy") or "Retain"
        if spec.get("volumeMode") is None:
            spec["volumeMode"] = "Filesystem"
        for name, source in _sources(spec).items():
            for field, value in _DEFAULTS.get(name, {}).items():
                if source.get(field) in (None, ""):
                    source[field] = value
        if spec.get("hostPath") is not None and spec["hostPath"].get("type") is None:
            spec["hostPath"]["type"] = ""
        status = obj["status"] = obj.get("status") or {}
        status["phase"] = status.get("phase") or "Pending"

    def prepare_for_create(self, ctx: Context, obj: dict[str, Any]) -> None:
        obj["status"] = {"phase": "Pending", "lastPhaseTransitionTime": now()}

    def prepare_for_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> None:
        keep_status(obj, old)

    def validate(self, ctx: Context, obj: dict[str, Any]) -> list[FieldError]:
        spec = obj["spec"]
        errors = access_mode_errors(spec.get("accessModes") or (), _SPEC / "accessModes")
        errors += _capacity_errors(spec.get("capacity") or {})
        policy = spec.get("persistentVolumeReclaimPolicy")
        if policy not in _POLICIES:
            errors.append(FieldError.not_supported(_SPEC / "persistentVolumeReclaimPolicy", policy, _POLICIES))
        errors += _affinity_errors(spec.get("nodeAffinity"))
        errors += _source_errors(spec)
        errors += class_name_errors(spec.get("storageClassName"), _SPEC / "storageClassName")
        errors += volume_mode_errors(spec.get("volumeMode"), _SPEC / "volumeMode")
        return errors + class_name_errors(spec.get("volumeAttributesClassName"), _SPEC / "volumeAttributesClassName")

    def validate_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        errors = self.validate(ctx, obj)
        spec, before = obj["spec"], old["spec"]
        if _sources(spec) != _sources(before):
            # COMPAT: the path is that of the Go structure
            errors.append(FieldError.forbidden(_SPEC / "persistentvolumesource", _NEVER_CHANGES))
        errors += immutable("volumeMode", spec.get("volumeMode"), before.get("volumeMode"))
        if before.get("nodeAffinity") is not None:
            errors += immutable("nodeAffinity", spec.get("nodeAffinity"), before["nodeAffinity"])
        return errors


class PersistentVolumeStatusStrategy(StatusStrategy):
    """Rules of ``/status``: the server notes when the phase changed."""

    def prepare_for_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> None:
        super().prepare_for_update(ctx, obj, old)
        status, before = obj.get("status") or {}, old.get("status") or {}
        if status.get("phase") == before.get("phase"):
            return
        time = status.get("lastPhaseTransitionTime")
        if time is None or time == before.get("lastPhaseTransitionTime"):
            obj["status"] = {**status, "lastPhaseTransitionTime": now()}


def _phase(obj: dict[str, Any]) -> str:
    deleting = obj["metadata"].get("deletionTimestamp")
    return "Terminating" if deleting else str(value_at(obj, "status", "phase") or "")


def _claim(obj: dict[str, Any]) -> str:
    claim = value_at(obj, "spec", "claimRef")
    return f"{claim.get('namespace', '')}/{claim.get('name', '')}" if claim else ""


def _modes(obj: dict[str, Any]) -> str:
    return short_modes(value_at(obj, "spec", "accessModes"))


STRATEGY = PersistentVolumeStrategy()
STATUS = PersistentVolumeStatusStrategy(STRATEGY)
COLUMNS = (
    Column("Capacity", cell("spec", "capacity", "storage", default="0"), field="spec.capacity"),
    Column("Access Modes", _modes, field="spec.accessModes"),
    Column("Reclaim Policy", cell("spec", "persistentVolumeReclaimPolicy"), field="spec.persistentVolumeReclaimPolicy"),
    Column("Status", _phase, field="status.phase"),
    Column("Claim", _claim, field="spec.claimRef"),
    Column("StorageClass", storage_class, description="StorageClass of the pv"),
    Column(
        "VolumeAttributesClass",
        cell("spec", "volumeAttributesClassName", default=UNSET),
        description="VolumeAttributesClass of the pv",
    ),
    Column("Reason", cell("status", "reason"), field="status.reason"),
    AGE,
    Column("VolumeMode", cell("spec", "volumeMode", default=UNSET), priority=1, field="spec.volumeMode"),
)
