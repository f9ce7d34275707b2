"""The order of groups and versions in discovery.

COMPAT: GroupPriorityMinimum and VersionPriority of kube-apiserver's own APIServices.
"""

from __future__ import annotations

GROUPS = (
    "",
    "apiregistration.k8s.io",
    "apps",
    "events.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "networking.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "storage.k8s.io",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "scheduling.k8s.io",
    "coordination.k8s.io",
    "node.k8s.io",
    "discovery.k8s.io",
    "resource.k8s.io",
    "flowcontrol.apiserver.k8s.io",
    "internal.apiserver.k8s.io",
    "storagemigration.k8s.io",
    "lifecycle.k8s.io",
)
_PLACE = {group: place for place, group in enumerate(GROUPS)}


def is_own(group: str) -> bool:
    """Whether a group is one of Kubernetes' own."""
    return group in _PLACE


def group_order(group: str) -> tuple[int, str]:
    """A sort key: Kubernetes' own groups in their order, then the others by name."""
    return _PLACE.get(group, len(GROUPS)), group
