"""Security contexts of pods and containers.

COMPAT: pkg/apis/core/validation ValidateSecurityContext, validatePodSecurityContext
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver_plugins.resources.common.pod_validation.mounts import descending_path_errors
from apiserver_plugins.resources.common.values import MAX_INT32

_ID_TEXT = f"must be between 0 and {MAX_INT32}, inclusive"
_PROFILES = ("Localhost", "RuntimeDefault", "Unconfined")
_PROC_MOUNTS = frozenset(("Default", "Unmasked"))
_SYSCTL = re.compile(r"([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?")


def _id(path: Path, value: int | None) -> list[FieldError]:
    return [FieldError.invalid(path, value, _ID_TEXT)] if value is not None and not 0 <= value <= MAX_INT32 else []


def _profile(profile: Mapping[str, Any] | None, path: Path) -> list[FieldError]:
    """COMPAT: validateSeccompProfileField, ValidateAppArmorProfileField."""
    if profile is None:
        return []
    kind, local = profile.get("type") or "", profile.get("localhostProfile")
    if not kind:
        return [FieldError.required(path / "type", f"type is required when {path.rpartition('.')[2]} is set")]
    if kind not in _PROFILES:
        return [FieldError.not_supported(path / "type", kind, _PROFILES)]
    if kind == "Localhost":
        if not local:
            return [FieldError.required(path / "localhostProfile", "must be set when type is Localhost")]
        return descending_path_errors(path / "localhostProfile", local)
    if local is not None:
        return [FieldError.invalid(path / "localhostProfile", local, "can only be set when type is Localhost")]
    return []


def pod_security_errors(spec: Mapping[str, Any], path: Path) -> list[FieldError]:
    """Problems of the security context of a pod."""
    context = spec.get("securityContext") or {}
    errors: list[FieldError] = []
    for field in ("fsGroup", "runAsUser", "runAsGroup"):
        errors += _id(path / field, context.get(field))
    for i, group in enumerate(context.get("supplementalGroups") or ()):
        errors += _id(path / "supplementalGroups" / i, group)
    seen: set[str] = set()
    for i, sysctl in enumerate(context.get("sysctls") or ()):
        errors += _sysctl(sysctl.get("name") or "", path / "sysctls" / i / "name", seen)
    errors += _profile(context.get("seccompProfile"), path / "seccompProfile")
    return errors + _profile(context.get("appArmorProfile"), path / "appArmorProfile")


def _sysctl(name: str, path: Path, seen: set[str]) -> list[FieldError]:
    if not name:
        return [FieldError.required(path)]
    if len(name) > 253 or not _SYSCTL.fullmatch(name):
        text = f"must have at most 253 characters and match regex ^{_SYSCTL.pattern}$"
        return [FieldError.invalid(path, name, text)]
    if name in seen:
        return [FieldError.duplicate(path, name)]
    seen.add(name)
    return []


def container_security_errors(context: Mapping[str, Any] | None, path: Path) -> list[FieldError]:
    """Problems of the security context of a container."""
    if context is None:
        return []
    errors = _id(path / "runAsUser", context.get("runAsUser")) + _id(path / "runAsGroup", context.get("runAsGroup"))
    mount = context.get("procMount")
    if mount is not None and mount not in _PROC_MOUNTS:
        errors.append(FieldError.not_supported(path / "procMount", mount, _PROC_MOUNTS))
    errors += _profile(context.get("seccompProfile"), path / "seccompProfile")
    errors += _profile(context.get("appArmorProfile"), path / "appArmorProfile")
    if context.get("allowPrivilegeEscalation") is False:
        if context.get("privileged"):
            text = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"
            errors.append(FieldError.invalid(path, dict(context), text))
        if "CAP_SYS_ADMIN" in ((context.get("capabilities") or {}).get("add") or ()):
            text = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"
            errors.append(FieldError.invalid(path, dict(context), text))
    return errors
