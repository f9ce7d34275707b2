"""References to objects of any kind, by group, kind and name.

COMPAT: pkg/apis/networking/validation validateIngressTypedLocalObjectReference
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.validation import dns_subdomain, path_segment
from apiserver_plugins.resources.common.values import invalid


def reference_errors(reference: Mapping[str, Any], path: Path) -> list[FieldError]:
    """Problems of a TypedLocalObjectReference or of something that begins like one."""
    errors: list[FieldError] = []
    group = reference.get("apiGroup")
    if group is not None:
        errors += invalid(path / "apiGroup", group, dns_subdomain(group))
    for field in ("kind", "name"):
        value = reference.get(field) or ""
        if value:
            errors += invalid(path / field, value, path_segment(value))
        else:
            errors.append(FieldError.required(path / field, f"{field} is required"))
    return errors
