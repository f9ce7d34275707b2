"""The parts of a pod spec that are not containers, volumes or scheduling, and the order of all of them.

COMPAT: pkg/apis/core/validation ValidatePodSpec
"""

from __future__ import annotations

from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.validation import dns_subdomain
from apiserver_plugins.resources.common.pod_validation.containers import all_container_errors
from apiserver_plugins.resources.common.pod_validation.network import network_errors
from apiserver_plugins.resources.common.pod_validation.scheduling import scheduling_errors
from apiserver_plugins.resources.common.pod_validation.security import pod_security_errors
from apiserver_plugins.resources.common.pod_validation.volumes import volume_errors
from apiserver_plugins.resources.common.values import MAX_INT32, invalid, is_label, is_qualified, is_subdomain, one_of

RESTART_POLICIES = ("Always", "OnFailure", "Never")


def spec_errors(spec: dict[str, Any], path: Path) -> list[FieldError]:
    """Problems of a pod spec at ``path``."""
    volumes = {v.get("name", ""): v for v in spec.get("volumes") or ()}
    errors = volume_errors(spec.get("volumes") or (), path / "volumes")
    errors += all_container_errors(spec, volumes, path)
    errors += one_of(path / "restartPolicy", spec.get("restartPolicy"), RESTART_POLICIES)
    errors += pod_security_errors(spec, path / "securityContext")
    errors += _references(spec, path)
    errors += network_errors(spec, path)
    errors += scheduling_errors(spec, path)
    return errors + _limits(spec, path)


def _references(spec: dict[str, Any], path: Path) -> list[FieldError]:
    errors: list[FieldError] = []
    for field in ("serviceAccountName", "nodeName", "priorityClassName"):
        if spec.get(field):
            errors += invalid(path / field, spec[field], dns_subdomain(spec[field]))
    if spec.get("runtimeClassName") is not None:
        errors += is_subdomain(path / "runtimeClassName", spec["runtimeClassName"])
    for i, gate in enumerate(spec.get("readinessGates") or ()):
        errors += is_qualified(path / "readinessGates" / i / "conditionType", gate.get("conditionType", ""))
    for field in ("hostname", "subdomain"):
        if spec.get(field):
            errors += is_label(path / field, spec[field])
    return errors


def _limits(spec: dict[str, Any], path: Path) -> list[FieldError]:
    errors: list[FieldError] = []
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline <= MAX_INT32:
        text = f"must be between 1 and {MAX_INT32}, inclusive"
        errors.append(FieldError.invalid(path / "activeDeadlineSeconds", deadline, text))
    if spec.get("preemptionPolicy") is not None:
        errors += one_of(path / "preemptionPolicy", spec["preemptionPolicy"], ("PreemptLowerPriority", "Never"))
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        text = "ShareProcessNamespace and HostPID cannot both be enabled"
        errors.append(FieldError.invalid(path / "shareProcessNamespace", True, text))
    return errors
