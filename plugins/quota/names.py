"""The names of what a ResourceQuota limits, and which resource's objects use it.

COMPAT: pkg/quota/v1/evaluator/core MatchingResources, ResourcesForTracking
"""

from __future__ import annotations

from apiserver.api.names import GroupResource

PODS = GroupResource("", "pods")
SERVICES = GroupResource("", "services")
CLAIMS = GroupResource("", "persistentvolumeclaims")

REQUESTS = "requests."
HUGE = "hugepages-"
BY_CLASS = ".storageclass.storage.k8s.io/"
COUNT = "count/"
BY_NAME = frozenset(("configmaps", "secrets", "replicationcontrollers", "resourcequotas"))
"""Resources of which the number may be limited without the prefix."""

_OF_PODS = frozenset(
    (
        "pods", "cpu", "memory", "ephemeral-storage", "requests.cpu", "requests.memory", "requests.ephemeral-storage",
        "limits.cpu", "limits.memory", "limits.ephemeral-storage",
    )
)  # fmt: skip
_OF_SERVICES = frozenset(("services", "services.nodeports", "services.loadbalancers"))
_OF_CLAIMS = frozenset(("persistentvolumeclaims", "requests.storage"))


def user_of(name: str) -> GroupResource | None:
    """Whose objects use what is called ``name``; None if nobody's do.

    ``count/<resource>.<group>`` names any resource, served or not.
    """
    if name.startswith(COUNT):
        resource, _, group = name.removeprefix(COUNT).partition(".")
        return GroupResource(group, resource)
    if name in _OF_PODS or name.startswith((HUGE, REQUESTS + HUGE)):
        return PODS
    if name in _OF_SERVICES:
        return SERVICES
    if name in _OF_CLAIMS or BY_CLASS in name:
        return CLAIMS
    if name in BY_NAME:
        return GroupResource("", name)
    return PODS if name.startswith(REQUESTS) and is_extended(name.removeprefix(REQUESTS)) else None


def is_extended(name: str) -> bool:
    """Whether a resource of nodes is somebody's own, such as ``example.com/gpu``. COMPAT: IsExtendedResourceName."""
    return "/" in name and "kubernetes.io/" not in name and not name.startswith(REQUESTS)


def count_of(resource: GroupResource) -> str:
    """``count/deployments.apps``"""
    return f"{COUNT}{resource}"
