"""Environment variables and where their values come from.

COMPAT: pkg/apis/core/validation ValidateEnv, validateEnvVarValueFrom, ValidateEnvFrom
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.validation import config_map_key, qualified_name
from apiserver_plugins.resources.common.values import env_name, invalid

ENV_FIELDS = frozenset(
    (
        "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
        "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
    )
)  # fmt: skip
VOLUME_FIELDS = frozenset(
    ("metadata.name", "metadata.namespace", "metadata.labels", "metadata.annotations", "metadata.uid")
)
_KNOWN_FIELDS = ENV_FIELDS | VOLUME_FIELDS | {"spec.restartPolicy", "spec.schedulerName", "status.phase", "spec.host"}
_RESOURCES = frozenset(
    f"{kind}.{name}" for kind in ("limits", "requests") for name in ("cpu", "memory", "ephemeral-storage")
)
_HUGE = ("limits.hugepages-", "requests.hugepages-")
_SUBSCRIPT = re.compile(r"(metadata\.(?:annotations|labels))\['(.*)'\]")
_DIVISORS = {
    "cpu": ("1m", "1"),
    **dict.fromkeys(
        ("memory", "ephemeral-storage", "hugepages"),
        ("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"),
    ),
}
_DIVISOR_NAMES = {"ephemeral-storage": "local ephemeral storage"}
_SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")


def env_errors(container: Mapping[str, Any], path: Path) -> list[FieldError]:
    """Problems of ``env`` and ``envFrom`` of a container at ``path``."""
    errors: list[FieldError] = []
    for i, variable in enumerate(container.get("env") or ()):
        where, name = path / "env" / i, variable.get("name") or ""
        errors += invalid(where / "name", name, env_name(name)) if name else [FieldError.required(where / "name")]
        if variable.get("valueFrom") is not None:
            errors += _value_from_errors(variable, where / "valueFrom")
    for i, source in enumerate(container.get("envFrom") or ()):
        errors += _env_from_errors(source, path / "envFrom" / i)
    return errors


def _value_from_errors(variable: Mapping[str, Any], path: Path) -> list[FieldError]:
    source = variable["valueFrom"]
    present = [field for field in _SOURCES if source.get(field) is not None]
    errors: list[FieldError] = []
    for field in present:
        if field == "fieldRef":
            errors += field_ref_errors(source[field], path / field, ENV_FIELDS)
        elif field == "resourceFieldRef":
            errors += resource_ref_errors(source[field], path / field, volume=False)
        elif field in ("configMapKeyRef", "secretKeyRef"):
            errors += _key_ref_errors(source[field], path / field)
    if not present:
        text = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
        errors.append(FieldError.invalid(path, "", text))
    if variable.get("value"):
        if present:
            errors.append(FieldError.invalid(path, "", "may not be specified when `value` is not empty"))
    elif len(present) > 1:
        errors.append(FieldError.invalid(path, "", "may not have more than one field specified at a time"))
    return errors


def field_ref_errors(ref: Mapping[str, Any], path: Path, supported: frozenset[str]) -> list[FieldError]:
    """Problems of a reference to a field of the pod. COMPAT: validateObjectFieldSelector."""
    if not ref.get("apiVersion"):
        return [FieldError.required(path / "apiVersion")]
    name = ref.get("fieldPath") or ""
    where = path / "fieldPath"
    if not name:
        return [FieldError.required(where)]
    match = _SUBSCRIPT.fullmatch(name)
    if match:
        key = match[2].lower() if match[1] == "metadata.annotations" else match[2]
        return invalid(where, match[2], qualified_name(key))
    if name not in _KNOWN_FIELDS:
        return [FieldError.invalid(where, name, f"error converting fieldPath: field label not supported: {name}")]
    name = "spec.nodeName" if name == "spec.host" else name
    return [] if name in supported else [FieldError.not_supported(where, name, supported)]


def resource_ref_errors(ref: Mapping[str, Any], path: Path, *, volume: bool) -> list[FieldError]:
    """Problems of a reference to a container's resources. COMPAT: validateContainerResourceFieldSelector."""
    name = ref.get("resource") or ""
    if volume and not ref.get("containerName"):
        return [FieldError.required(path / "containerName")]
    if not name:
        return [FieldError.required(path / "resource")]
    if name not in _RESOURCES and not name.startswith(_HUGE):
        return [FieldError.not_supported(path / "resource", name, _RESOURCES)]
    kind = name.partition(".")[2].partition("hugepages-")
    kind_name = "hugepages" if kind[1] else kind[0]
    divisor = ref.get("divisor") or "0"
    allowed = _DIVISORS[kind_name]
    if divisor in ("0", *allowed):
        return []
    shown = _DIVISOR_NAMES.get(kind_name, kind_name)
    values = (" and " if len(allowed) == 2 else ", ").join(allowed)
    text = f"only divisor's values {values} are supported with the {shown} resource"
    return [FieldError.invalid(path / "divisor", divisor, text)]


def _key_ref_errors(ref: Mapping[str, Any], path: Path) -> list[FieldError]:
    errors = [] if ref.get("name") else [FieldError.required(path / "name")]
    key = ref.get("key") or ""
    return errors + (invalid(path / "key", key, config_map_key(key)) if key else [FieldError.required(path / "key")])


def _env_from_errors(source: Mapping[str, Any], path: Path) -> list[FieldError]:
    errors: list[FieldError] = []
    if source.get("prefix"):
        errors += invalid(path / "prefix", source["prefix"], env_name(source["prefix"]))
    present = [field for field in ("configMapRef", "secretRef") if source.get(field) is not None]
    errors += [FieldError.required(path / f / "name") for f in present if not source[f].get("name")]
    if not present:
        errors.append(FieldError.invalid(path, "", "must specify one of: `configMapRef` or `secretRef`"))
    elif len(present) > 1:
        errors.append(FieldError.invalid(path, "", "may not have more than one field specified at a time"))
    return errors
