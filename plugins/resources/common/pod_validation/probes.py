"""Probes and lifecycle handlers.

COMPAT: pkg/apis/core/validation validateProbe, validateHandler, validateLifecycle
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver_plugins.resources.common.values import (
    http_header_name,
    invalid,
    nonnegative,
    one_of,
    port_number,
    port_number_or_name,
)

_SCHEMES = frozenset(("HTTP", "HTTPS"))
_SECONDS = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")


def _exec(action: Mapping[str, Any], path: Path) -> list[FieldError]:
    return [] if action.get("command") else [FieldError.required(path / "command")]


def _http_get(action: Mapping[str, Any], path: Path) -> list[FieldError]:
    errors = [] if action.get("path") else [FieldError.required(path / "path")]
    errors += port_number_or_name(path / "port", action.get("port"))
    errors += one_of(path / "scheme", action.get("scheme"), _SCHEMES)
    for i, header in enumerate(action.get("httpHeaders") or ()):
        name = header.get("name", "")
        errors += invalid(path / "httpHeaders" / i / "name", name, http_header_name(name))
    return errors


def _tcp_socket(action: Mapping[str, Any], path: Path) -> list[FieldError]:
    return port_number_or_name(path / "port", action.get("port"))


def _grpc(action: Mapping[str, Any], path: Path) -> list[FieldError]:
    return port_number(path / "port", action.get("port"))


def _sleep(action: Mapping[str, Any], path: Path) -> list[FieldError]:
    seconds = action.get("seconds") or 0
    return nonnegative(path / "seconds", seconds)


_HANDLERS: dict[str, Callable[[Mapping[str, Any], Path], list[FieldError]]] = {
    "exec": _exec,
    "httpGet": _http_get,
    "tcpSocket": _tcp_socket,
    "grpc": _grpc,
    "sleep": _sleep,
}


def handler_errors(handler: Mapping[str, Any], path: Path) -> list[FieldError]:
    """Problems of what a probe or a lifecycle event does: exactly one kind of action."""
    present = [field for field in _HANDLERS if handler.get(field) is not None]
    errors = [FieldError.forbidden(path / f, "may not specify more than 1 handler type") for f in present[1:]]
    if present:
        return errors + _HANDLERS[present[0]](handler[present[0]], path / present[0])
    return [FieldError.required(path, "must specify a handler type")]


def probe_errors(probe: Mapping[str, Any] | None, path: Path, kind: str) -> list[FieldError]:
    """Problems of a probe.

    :param kind: the field it is in: livenessProbe, readinessProbe or startupProbe.
    """
    if probe is None:
        return []
    errors = handler_errors(probe, path)
    for field in _SECONDS:
        errors += nonnegative(path / field, probe.get(field))
    grace = probe.get("terminationGracePeriodSeconds")
    if grace is not None and grace <= 0:
        errors.append(FieldError.invalid(path / "terminationGracePeriodSeconds", grace, "must be greater than 0"))
    if kind == "readinessProbe":
        if grace is not None:
            text = "must not be set for readinessProbes"
            errors.append(FieldError.invalid(path / "terminationGracePeriodSeconds", grace, text))
    elif probe.get("successThreshold") != 1:
        errors.append(FieldError.invalid(path / "successThreshold", probe.get("successThreshold"), "must be 1"))
    return errors


def lifecycle_errors(lifecycle: Mapping[str, Any], path: Path) -> list[FieldError]:
    """Problems of ``postStart`` and ``preStop``."""
    errors: list[FieldError] = []
    for event in ("postStart", "preStop"):
        if lifecycle.get(event) is not None:
            errors += handler_errors(lifecycle[event], path / event)
    return errors
