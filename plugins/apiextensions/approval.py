"""Definitions in Kubernetes' own groups say who has approved them.

Asked when a definition is checked, and when its conditions are set (:mod:`.naming`).

COMPAT: apihelpers.IsProtectedCommunityGroup, GetAPIApprovalState
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

ANNOTATION = "api-approved.kubernetes.io"
MISSING, INVALID, UNAPPROVED, APPROVED = (
    "MissingAnnotation", "InvalidAnnotation", "UnapprovedAnnotation", "ApprovedAnnotation",
)  # fmt: skip
_NEEDED = f'protected groups must have approval annotation "{ANNOTATION}"'
_SEE = "see https://github.com/kubernetes/enhancements/pull/1111"


class Approval(NamedTuple):
    """What the annotation says: the status, reason and message of the condition that tells."""

    status: str
    reason: str
    message: str


def is_protected(group: str) -> bool:
    """Whether a group belongs to the Kubernetes community."""
    return group in ("k8s.io", "kubernetes.io") or group.endswith((".k8s.io", ".kubernetes.io"))


def annotation(definition: Mapping[str, Any]) -> str:
    """The annotation, "" when there is none."""
    return str((definition["metadata"].get("annotations") or {}).get(ANNOTATION) or "")


def approval(definition: Mapping[str, Any]) -> Approval:
    """What the annotation of a definition in such a group says."""
    value = annotation(definition)
    if not value:
        return Approval("False", MISSING, f"{_NEEDED}, {_SEE}")
    if value.startswith("unapproved"):
        return Approval("False", UNAPPROVED, f'not approved: "{value}"')
    if _is_url(value):
        return Approval("True", APPROVED, f"approved in {value}")
    return Approval("False", INVALID, f'{_NEEDED} with either a URL or a reason starting with "unapproved", {_SEE}')


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return bool(parts.scheme and parts.netloc)
