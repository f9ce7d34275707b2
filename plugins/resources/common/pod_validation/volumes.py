"""Volumes of a pod: their names, and one source each.

COMPAT: pkg/apis/core/validation ValidateVolumes, validateVolumeSource
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver_plugins.resources.common.pod_validation.env import VOLUME_FIELDS, field_ref_errors, resource_ref_errors
from apiserver_plugins.resources.common.pod_validation.mounts import descending_path_errors, no_backsteps
from apiserver_plugins.resources.common.quantities import amount
from apiserver_plugins.resources.common.values import is_label, one_of

Source = Mapping[str, Any]

_MODE_TEXT = "must be a number between 0 and 0777 (octal), both inclusive"
_HOST_PATH_TYPES = frozenset(
    ("", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket")
)
_ONE_TYPE = "may not specify more than 1 volume type"


def volume_errors(volumes: Iterable[Source], path: Path) -> list[FieldError]:
    """Problems of ``volumes``."""
    errors: list[FieldError] = []
    names: set[str] = set()
    for i, volume in enumerate(volumes):
        where, name = path / i, volume.get("name") or ""
        errors += _source_errors(volume, where)
        errors += is_label(where / "name", name) if name else [FieldError.required(where / "name")]
        if name and name in names:
            errors.append(FieldError.duplicate(where / "name", name))
        names.add(name)
    return errors


def _source_errors(volume: Source, path: Path) -> list[FieldError]:
    present = [field for field in _ORDER if volume.get(field) is not None]
    if not present:
        return [FieldError.required(path, "must specify a volume type")]
    errors = [FieldError.forbidden(path / field, _ONE_TYPE) for field in present[1:]]
    check = _SOURCES.get(present[0])
    return errors + (check(volume[present[0]], path / present[0]) if check else [])


def _required(*fields: str) -> Callable[[Source, Path], list[FieldError]]:
    return lambda source, path: [FieldError.required(path / field) for field in fields if not source.get(field)]


def _mode(path: Path, mode: int | None) -> list[FieldError]:
    return [FieldError.invalid(path, mode, _MODE_TEXT)] if mode is not None and not 0 <= mode <= 0o777 else []


def _local_path(path: Path, value: str) -> list[FieldError]:
    """COMPAT: validateLocalNonReservedPath."""
    if not value:
        return [FieldError.required(path)]
    errors = descending_path_errors(path, value)
    if value.startswith("..") and not value.startswith("../"):
        errors.append(FieldError.invalid(path, value, "must not start with '..'"))
    return errors


def _items(source: Source, path: Path) -> list[FieldError]:
    errors: list[FieldError] = []
    for i, item in enumerate(source.get("items") or ()):
        where = path / "items" / i
        if not item.get("key"):
            errors.append(FieldError.required(where / "key"))
        errors += _local_path(where / "path", item.get("path") or "") + _mode(where / "mode", item.get("mode"))
    return errors


def _secret(source: Source, path: Path) -> list[FieldError]:
    errors = _required("secretName")(source, path) + _mode(path / "defaultMode", source.get("defaultMode"))
    return errors + _items(source, path)


def _config_map(source: Source, path: Path) -> list[FieldError]:
    return (
        _required("name")(source, path) + _mode(path / "defaultMode", source.get("defaultMode")) + _items(source, path)
    )


def _downward_items(source: Source, path: Path) -> list[FieldError]:
    errors: list[FieldError] = []
    for i, item in enumerate(source.get("items") or ()):
        where = path / "items" / i
        errors += _local_path(where / "path", item.get("path") or "")
        if item.get("fieldRef") is not None:
            errors += field_ref_errors(item["fieldRef"], where / "fieldRef", VOLUME_FIELDS)
            if item.get("resourceFieldRef") is not None:
                text = "fieldRef and resourceFieldRef can not be specified simultaneously"
                errors.append(FieldError.invalid(where, "resource", text))
        elif item.get("resourceFieldRef") is not None:
            errors += resource_ref_errors(item["resourceFieldRef"], where / "resourceFieldRef", volume=True)
        else:
            errors.append(FieldError.required(where / "fieldRef", "one of fieldRef and resourceFieldRef is required"))
        errors += _mode(where / "mode", item.get("mode"))
    return errors


def _downward(source: Source, path: Path) -> list[FieldError]:
    return _mode(path / "defaultMode", source.get("defaultMode")) + _downward_items(source, path)


def _token(source: Source, path: Path) -> list[FieldError]:
    errors: list[FieldError] = []
    seconds = source.get("expirationSeconds") or 0
    if seconds < 600:
        text = "may not specify a duration less than 10 minutes"
        errors.append(FieldError.invalid(path / "expirationSeconds", seconds, text))
    elif seconds > 1 << 32:
        text = "may not specify a duration larger than 2^32 seconds"
        errors.append(FieldError.invalid(path / "expirationSeconds", seconds, text))
    return errors + _local_path(path / "path", source.get("path") or "")


def _projected_secret(source: Source, path: Path) -> list[FieldError]:
    return _required("name")(source, path) + _items(source, path)


_PROJECTIONS: dict[str, Callable[[Source, Path], list[FieldError]]] = {
    "secret": _projected_secret,
    "configMap": _projected_secret,
    "downwardAPI": _downward_items,
    "serviceAccountToken": _token,
    "clusterTrustBundle": lambda source, path: _local_path(path / "path", source.get("path") or ""),
    "podCertificate": lambda _source, _path: [],
}


def _projected(source: Source, path: Path) -> list[FieldError]:
    errors = _mode(path / "defaultMode", source.get("defaultMode"))
    for i, part in enumerate(source.get("sources") or ()):
        where = path / "sources" / i
        present = [field for field in _PROJECTIONS if part.get(field) is not None]
        errors += [FieldError.forbidden(where / field, _ONE_TYPE) for field in present[1:]]
        if present:
            errors += _PROJECTIONS[present[0]](part[present[0]], where / present[0])
    return errors


def _empty_dir(source: Source, path: Path) -> list[FieldError]:
    if source.get("sizeLimit") is not None and amount(source["sizeLimit"]) < 0:
        return [FieldError.forbidden(path / "sizeLimit", "SizeLimit field must be a valid resource quantity")]
    return []


def _host_path(source: Source, path: Path) -> list[FieldError]:
    if not source.get("path"):
        return [FieldError.required(path / "path")]
    errors = no_backsteps(path / "path", source["path"])
    kind = source.get("type")
    if kind is not None and kind not in _HOST_PATH_TYPES:
        errors.append(FieldError.not_supported(path / "type", kind, _HOST_PATH_TYPES))
    return errors


def _nfs(source: Source, path: Path) -> list[FieldError]:
    errors = _required("server", "path")(source, path)
    if source.get("path") and not source["path"].startswith("/"):
        errors.append(FieldError.invalid(path / "path", source["path"], "must be an absolute path"))
    return errors


def _ephemeral(source: Source, path: Path) -> list[FieldError]:
    return [] if source.get("volumeClaimTemplate") else [FieldError.required(path / "volumeClaimTemplate")]


def _image(source: Source, path: Path) -> list[FieldError]:
    policies = frozenset(("Always", "IfNotPresent", "Never"))
    return _required("reference")(source, path) + one_of(path / "pullPolicy", source.get("pullPolicy"), policies)


_SOURCES: dict[str, Callable[[Source, Path], list[FieldError]]] = {
    "emptyDir": _empty_dir,
    "hostPath": _host_path,
    "gitRepo": _required("repository"),
    "secret": _secret,
    "nfs": _nfs,
    "persistentVolumeClaim": _required("claimName"),
    "downwardAPI": _downward,
    "configMap": _config_map,
    "projected": _projected,
    "csi": _required("driver"),
    "ephemeral": _ephemeral,
    "image": _image,
}
# The order in which upstream looks; the first one found is the volume's.
_ORDER = (
    "emptyDir", "hostPath", "gitRepo", "gcePersistentDisk", "awsElasticBlockStore", "secret", "nfs", "iscsi",
    "glusterfs", "persistentVolumeClaim", "rbd", "cinder", "cephfs", "flocker", "downwardAPI", "fc", "flexVolume",
    "configMap", "azureFile", "vsphereVolume", "quobyte", "azureDisk", "photonPersistentDisk", "portworxVolume",
    "scaleIO", "projected", "storageos", "csi", "ephemeral", "image",
)  # fmt: skip
