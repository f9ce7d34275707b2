"""Requests and limits of a container.

COMPAT: pkg/apis/core/validation ValidateContainerResourceRequirements, validateContainerResourceName
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.quantity import nanos
from apiserver.api.validation import qualified_name
from apiserver_plugins.resources.common.quantities import is_whole
from apiserver_plugins.resources.common.values import NOT_NEGATIVE, invalid

_CONTAINER = frozenset(("cpu", "memory", "ephemeral-storage"))
STANDARD = _CONTAINER | frozenset(
    (
        "requests.cpu", "requests.memory", "requests.ephemeral-storage", "requests.storage", "limits.cpu",
        "limits.memory", "limits.ephemeral-storage", "pods", "resourcequotas", "services", "replicationcontrollers",
        "secrets", "persistentvolumeclaims", "configmaps", "services.nodeports", "services.loadbalancers", "storage",
    )
)  # fmt: skip
_HUGE = "hugepages-"


def is_extended(name: str) -> bool:
    """Whether a name is that of somebody's own resource. COMPAT: IsExtendedResourceName."""
    if "/" not in name or "kubernetes.io/" in name or name.startswith("requests."):
        return False
    return not qualified_name(f"requests.{name}")


def quantity_errors(path: str, name: str, quantity: str) -> list[FieldError]:
    """COMPAT: ValidateResourceQuantityValue."""
    errors = []
    if nanos(quantity) < 0:
        errors.append(FieldError.invalid(path, quantity, NOT_NEGATIVE))
    if is_extended(name) and not is_whole(quantity):
        errors.append(FieldError.invalid(path, quantity, "must be an integer"))
    return errors


def name_errors(path: str, name: str) -> list[FieldError]:
    errors = invalid(path, name, qualified_name(name))
    if errors:
        return errors
    if "/" not in name:
        huge = name.startswith(_HUGE)
        if name not in _CONTAINER and not huge:
            errors.append(FieldError.invalid(path, name, "must be a standard resource for containers"))
        if name not in STANDARD and not huge:
            errors.append(FieldError.invalid(path, name, "must be a standard resource type or fully qualified"))
    elif "kubernetes.io/" not in name and not is_extended(name):
        errors.append(FieldError.invalid(path, name, "doesn't follow extended resource name standard"))
    return errors


def _overcommittable(name: str) -> bool:
    return "/" not in name and not name.startswith(_HUGE)


def resource_errors(resources: Mapping[str, Any], path: Path) -> list[FieldError]:
    """Problems of ``resources`` at ``path``."""
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    errors: list[FieldError] = []
    for field, amounts in (("limits", limits), ("requests", requests)):
        for name, quantity in amounts.items():
            where = (path / field).key(name)
            errors += name_errors(where, name) + quantity_errors(where, name, quantity)
    for name, quantity in requests.items():
        errors += _compare(path, name, quantity, limits.get(name))
    return errors + _huge_errors(limits, requests, path)


def _compare(path: Path, name: str, quantity: str, limit: str | None) -> list[FieldError]:
    if limit is None:
        if _overcommittable(name):
            return []
        return [FieldError.required(path / "limits", "Limit must be set for non overcommitable resources")]
    if not _overcommittable(name) and nanos(quantity) != nanos(limit):
        return [FieldError.invalid(path / "requests", quantity, f"must be equal to {name} limit of {limit}")]
    if nanos(quantity) > nanos(limit):
        text = f"must be less than or equal to {name} limit of {limit}"
        return [FieldError.invalid(path / "requests", quantity, text)]
    return []


def _huge_errors(limits: Mapping[str, str], requests: Mapping[str, str], path: Path) -> list[FieldError]:
    names = {*limits, *requests}
    if any(name.startswith(_HUGE) for name in names) and not names & {"cpu", "memory"}:
        return [FieldError.forbidden(path, "HugePages require cpu or memory")]
    return []
