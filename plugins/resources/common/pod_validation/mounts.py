"""What containers do with the pod's volumes.

COMPAT: pkg/apis/core/validation ValidateVolumeMounts, ValidateVolumeDevices
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from apiserver.api.fields import FieldError, Path

_PROPAGATIONS = frozenset(("Bidirectional", "HostToContainer", "None"))
_RECURSIVE = frozenset(("Disabled", "Enabled", "IfPossible"))


def descending_path_errors(path: str, value: str) -> list[FieldError]:
    """COMPAT: validateLocalDescendingPath."""
    if value.startswith("/"):
        return [FieldError.invalid(path, value, "must be a relative path")]
    return no_backsteps(path, value)


def no_backsteps(path: str, value: str) -> list[FieldError]:
    """COMPAT: validatePathNoBacksteps."""
    return [FieldError.invalid(path, value, "must not contain '..'")] if ".." in value.split("/") else []


def mount_errors(mounts: Iterable[Mapping[str, Any]], volumes: Mapping[str, Any], path: Path) -> list[FieldError]:
    """Problems of ``volumeMounts``.

    :param volumes: the pod's volumes by name.
    """
    errors: list[FieldError] = []
    points: set[str] = set()
    for i, mount in enumerate(mounts):
        where, name, point = path / i, mount.get("name") or "", mount.get("mountPath") or ""
        if not name:
            errors.append(FieldError.required(where / "name"))
        elif name not in volumes:
            errors.append(FieldError.not_found(where / "name", name))
        if not point:
            errors.append(FieldError.required(where / "mountPath"))
        if point in points:
            errors.append(FieldError.invalid(where / "mountPath", point, "must be unique"))
        points.add(point)
        errors += _sub_paths(mount, where) + _propagation(mount, where)
    return errors


def _sub_paths(mount: Mapping[str, Any], path: Path) -> list[FieldError]:
    errors: list[FieldError] = []
    for field in ("subPath", "subPathExpr"):
        if mount.get(field):
            errors += descending_path_errors(path / field, mount[field])
    if mount.get("subPath") and mount.get("subPathExpr"):
        text = "subPathExpr and subPath are mutually exclusive"
        errors.append(FieldError.invalid(path / "subPathExpr", mount["subPathExpr"], text))
    return errors


def _propagation(mount: Mapping[str, Any], path: Path) -> list[FieldError]:
    errors = []
    value = mount.get("mountPropagation")
    if value is not None and value not in _PROPAGATIONS:
        errors.append(FieldError.not_supported(path / "mountPropagation", value, _PROPAGATIONS))
    value = mount.get("recursiveReadOnly")
    if value is not None and value not in _RECURSIVE:
        errors.append(FieldError.not_supported(path / "recursiveReadOnly", value, _RECURSIVE))
    if value in ("Enabled", "IfPossible") and not mount.get("readOnly"):
        text = "may only be specified when readOnly is true"
        errors.append(FieldError.forbidden(path / "recursiveReadOnly", text))
    return errors


def device_errors(container: Mapping[str, Any], volumes: Mapping[str, Any], path: Path) -> list[FieldError]:
    """Problems of ``volumeDevices``."""
    errors: list[FieldError] = []
    points = {mount.get("mountPath") for mount in container.get("volumeMounts") or ()}
    mounted = {mount.get("name") for mount in container.get("volumeMounts") or ()}
    for i, device in enumerate(container.get("volumeDevices") or ()):
        where, name, point = path / i, device.get("name") or "", device.get("devicePath") or ""
        if not name:
            errors.append(FieldError.required(where / "name"))
        elif name not in volumes:
            errors.append(FieldError.not_found(where / "name", name))
        elif not any(volumes[name].get(source) for source in ("persistentVolumeClaim", "ephemeral")):
            text = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
            errors.append(FieldError.invalid(where / "name", name, text))
        elif name in mounted:
            errors.append(FieldError.invalid(where / "name", name, "must not already exist in volumeMounts"))
        if not point:
            errors.append(FieldError.required(where / "devicePath"))
        elif point in points:
            errors.append(
                FieldError.invalid(where / "devicePath", point, "must not already exist as a path in volumeMounts")
            )
        else:
            errors += no_backsteps(where / "devicePath", point)
    return errors
