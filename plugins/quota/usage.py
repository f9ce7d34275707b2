"""What one object uses, and what scopes can ask about it.

:func:`measure` is called once for each version of an object; sums are made of what it returns.

COMPAT: pkg/quota/v1/evaluator/core
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from apiserver.api.durations import parse_time
from apiserver.api.names import GroupResource
from apiserver.api.quantity import Amount, amount, whole
from apiserver_plugins.quota import pods
from apiserver_plugins.quota.names import BY_CLASS, BY_NAME, CLAIMS, PODS, SERVICES, count_of

Object = dict[str, Any]
Amounts = dict[str, Amount]
CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"


class Measured(NamedTuple):
    """What an object uses.

    ``always`` is its count; ``used`` is what it uses beside that as long as it is not over, which it is after
    ``ends`` (seconds since the epoch; None = it stays). ``scopes`` are the values that scopes ask for, by scope: what
    is not in it does not apply.
    """

    always: Amounts
    used: Amounts
    ends: float | None
    scopes: Mapping[str, frozenset[str]]

    def now(self) -> Amounts:
        """What is used at this moment."""
        over = self.ends is not None and time.time() > self.ends
        return self.always if over else {**self.always, **self.used}


def measure(resource: GroupResource, obj: Object) -> Measured:
    """What ``obj`` uses."""
    count = {count_of(resource): whole(1)}
    if resource == PODS:
        return _pod(obj, count)
    if resource == SERVICES:
        return Measured(count, _service(obj.get("spec") or {}), None, {})
    if resource == CLAIMS:
        return Measured(count, _claim(obj), None, _claim_scopes(obj))
    if not resource.group and resource.resource in BY_NAME:
        return Measured(count, {resource.resource: whole(1)}, None, {})
    return Measured(count, {}, None, {})


# -- pods -------------------------------------------------------------------------------------------------------------


def _pod(pod: Object, count: Amounts) -> Measured:
    ended = (pod.get("status") or {}).get("phase") in ("Failed", "Succeeded")
    return Measured(count, {} if ended else pods.usage(pod), _end(pod["metadata"]), _pod_scopes(pod))


def _end(metadata: Object) -> float | None:
    """COMPAT: QuotaV1Pod: a deleted pod that should be gone is not charged."""
    deleted, grace = metadata.get("deletionTimestamp"), metadata.get("deletionGracePeriodSeconds")
    if not deleted or grace is None:
        return None
    parsed = parse_time(deleted)
    return parsed.timestamp() + int(grace) if parsed is not None else None


def terminating(pod: Object) -> bool:
    """Whether a pod has a deadline. COMPAT: IsTerminating"""
    deadline = (pod.get("spec") or {}).get("activeDeadlineSeconds")
    return deadline is not None and deadline >= 0


def _pod_scopes(pod: Object) -> Mapping[str, frozenset[str]]:
    """COMPAT: podMatchesScopeFunc"""
    spec = pod.get("spec") or {}
    scopes = {
        "Terminating" if terminating(pod) else "NotTerminating": frozenset[str](),
        "BestEffort" if pods.best_effort(pod) else "NotBestEffort": frozenset[str](),
    }
    if spec.get("priorityClassName"):
        scopes["PriorityClass"] = frozenset((spec["priorityClassName"],))
    if _crosses_namespaces(spec.get("affinity") or {}):
        scopes["CrossNamespacePodAffinity"] = frozenset()
    return scopes


def _crosses_namespaces(affinity: Object) -> bool:
    """COMPAT: usesCrossNamespacePodAffinity"""
    for kind in ("podAffinity", "podAntiAffinity"):
        rules = affinity.get(kind) or {}
        weighted = rules.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        terms = [
            *(rules.get("requiredDuringSchedulingIgnoredDuringExecution") or ()),
            *(term.get("podAffinityTerm") or {} for term in weighted),
        ]
        if any(term.get("namespaces") or term.get("namespaceSelector") is not None for term in terms):
            return True
    return False


# -- services ---------------------------------------------------------------------------------------------------------


def _service(spec: Object) -> Amounts:
    """COMPAT: serviceEvaluator.Usage"""
    ports = spec.get("ports") or ()
    kind = spec.get("type")
    node_ports = len(ports) if kind in ("NodePort", "LoadBalancer") else 0
    if kind == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts") is False:
        node_ports = sum(1 for port in ports if port.get("nodePort"))
    return {
        "services": whole(1),
        "services.nodeports": whole(node_ports),
        "services.loadbalancers": whole(int(kind == "LoadBalancer")),
    }


# -- claims -----------------------------------------------------------------------------------------------------------


def _claim(claim: Object) -> Amounts:
    """COMPAT: pvcEvaluator.Usage"""
    spec = claim.get("spec") or {}
    used = {"persistentvolumeclaims": whole(1)}
    annotations = claim["metadata"].get("annotations") or {}
    storage_class = annotations.get(CLASS_ANNOTATION) or spec.get("storageClassName")
    if storage_class:
        used[f"{storage_class}{BY_CLASS}persistentvolumeclaims"] = whole(1)
    asked = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    if asked is not None:
        allocated = ((claim.get("status") or {}).get("allocatedResources") or {}).get("storage")
        most = max((amount(text) for text in (asked, allocated) if text is not None), key=lambda found: found.nanos)
        used["requests.storage"] = most
        if storage_class:
            used[f"{storage_class}{BY_CLASS}requests.storage"] = most
    return used


def _claim_scopes(claim: Object) -> Mapping[str, frozenset[str]]:
    """COMPAT: getReferencedVolumeAttributesClassNames"""
    spec, status = claim.get("spec") or {}, claim.get("status") or {}
    names = (
        spec.get("volumeAttributesClassName"),
        status.get("currentVolumeAttributesClassName"),
        (status.get("modifyVolumeStatus") or {}).get("targetVolumeAttributesClassName"),
    )
    found = frozenset(name for name in names if name)
    return {"VolumeAttributesClass": found} if found else {}
