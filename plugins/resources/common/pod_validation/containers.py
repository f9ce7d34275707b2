"""Containers: names, images, ports, and everything that hangs on a container.

COMPAT: pkg/apis/core/validation validateContainers, validateInitContainers, validateContainerCommon
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver_plugins.resources.common.pod_validation.env import env_errors
from apiserver_plugins.resources.common.pod_validation.mounts import device_errors, mount_errors
from apiserver_plugins.resources.common.pod_validation.probes import lifecycle_errors, probe_errors
from apiserver_plugins.resources.common.pod_validation.resources import resource_errors
from apiserver_plugins.resources.common.pod_validation.security import container_security_errors
from apiserver_plugins.resources.common.values import is_label, one_of, port_name, port_number

Container = dict[str, Any]

PROTOCOLS = frozenset(("TCP", "UDP", "SCTP"))
PULL_POLICIES = frozenset(("Always", "IfNotPresent", "Never"))
_MESSAGE_POLICIES = ("File", "FallbackToLogsOnError")
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_RESTART_POLICIES = ("Always", "OnFailure", "Never")


def all_container_errors(spec: dict[str, Any], volumes: Mapping[str, Any], path: Path) -> list[FieldError]:
    """Problems of all containers of a pod spec.

    :param volumes: the pod's volumes by name.
    """
    errors: list[FieldError] = []
    names: set[str] = set()
    host_network = bool(spec.get("hostNetwork"))
    if not spec.get("containers"):
        errors.append(FieldError.required(path / "containers"))
    for kind in ("containers", "initContainers", "ephemeralContainers"):
        host_ports: set[str] = set()
        for i, container in enumerate(spec.get(kind) or ()):
            where = path / kind / i
            errors += _common_errors(container, volumes, where, names, host_network)
            errors += _probes_and_lifecycle(container, where, kind)
            # COMPAT: init containers run one after the other, so their host ports don't clash
            if kind == "containers":
                errors += _host_port_clashes(container, where, host_ports)
    return errors


def _common_errors(
    container: Container, volumes: Mapping[str, Any], path: Path, names: set[str], host_network: bool
) -> list[FieldError]:
    name = container.get("name") or ""
    errors: list[FieldError] = is_label(path / "name", name) if name else [FieldError.required(path / "name")]
    if name and name in names:
        errors.append(FieldError.duplicate(path / "name", name))
    names.add(name)
    if not container.get("image"):
        errors.append(FieldError.required(path / "image"))
    errors += one_of(path / "terminationMessagePolicy", container.get("terminationMessagePolicy"), _MESSAGE_POLICIES)
    errors += _port_errors(container.get("ports") or (), path / "ports", host_network)
    errors += env_errors(container, path)
    errors += mount_errors(container.get("volumeMounts") or (), volumes, path / "volumeMounts")
    errors += device_errors(container, volumes, path / "volumeDevices")
    errors += one_of(path / "imagePullPolicy", container.get("imagePullPolicy"), PULL_POLICIES)
    errors += resource_errors(container.get("resources") or {}, path / "resources")
    return errors + container_security_errors(container.get("securityContext"), path / "securityContext")


def _probes_and_lifecycle(container: Container, path: Path, kind: str) -> list[FieldError]:
    policy = container.get("restartPolicy")
    errors = [] if policy is None else one_of(path / "restartPolicy", policy, _RESTART_POLICIES)
    if kind == "initContainers" and policy != "Always":
        text = "may not be set for init containers without restartPolicy=Always"
    elif kind == "ephemeralContainers":
        text = "cannot be set for an Ephemeral Container"
    else:
        grace = container.get("lifecycle") or {}
        errors += lifecycle_errors(grace, path / "lifecycle")
        for field in _PROBES:
            errors += probe_errors(container.get(field), path / field, field)
        return errors
    fields = ("lifecycle", *_PROBES)
    return errors + [FieldError.forbidden(path / f, text) for f in fields if container.get(f) is not None]


def _port_errors(ports: Any, path: Path, host_network: bool) -> list[FieldError]:
    errors: list[FieldError] = []
    names: set[str] = set()
    for i, port in enumerate(ports):
        where, name = path / i, port.get("name") or ""
        if name:
            problems = [FieldError.invalid(where / "name", name, text) for text in port_name(name)]
            if not problems and name in names:
                problems = [FieldError.duplicate(where / "name", name)]
            errors += problems
            names.add(name)
        number, host = port.get("containerPort") or 0, port.get("hostPort") or 0
        errors += (
            port_number(where / "containerPort", number) if number else [FieldError.required(where / "containerPort")]
        )
        if host:
            errors += port_number(where / "hostPort", host)
        if host_network and host != number:
            text = "must match `containerPort` when `hostNetwork` is true"
            errors.append(FieldError.invalid(where / "hostPort", host, text))
        errors += one_of(where / "protocol", port.get("protocol"), PROTOCOLS)
    return errors


def _host_port_clashes(container: Container, path: Path, seen: set[str]) -> list[FieldError]:
    errors = []
    for i, port in enumerate(container.get("ports") or ()):
        if not port.get("hostPort"):
            continue
        key = f"{port.get('protocol')}/{port.get('hostIP') or ''}/{port['hostPort']}"
        if key in seen:
            errors.append(FieldError.duplicate(path / "ports" / i / "hostPort", key))
        seen.add(key)
    return errors
