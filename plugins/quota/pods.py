"""What a pod uses: the sum of its containers, or what its init containers need before them, and its overhead.

COMPAT: pkg/quota/v1/evaluator/core/pods.go; k8s.io/component-helpers/resource PodRequests, PodLimits
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from apiserver.api.quantity import Amount, amount, total, whole
from apiserver_plugins.quota.names import HUGE, REQUESTS, is_extended

Object = dict[str, Any]
Amounts = dict[str, Amount]

_COMPUTE = ("cpu", "memory", "ephemeral-storage")
_POD_LEVEL = ("cpu", "memory")
_TO_BE_SAID = frozenset(("cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"))
_NOTHING: Mapping[str, Amount] = {}


def usage(pod: Object) -> Amounts:
    """What a pod that has not ended uses, by the names of quotas."""
    return {"pods": whole(1), **_named(needs(pod, "requests"), needs(pod, "limits"))}


def _named(requests: Mapping[str, Amount], limits: Mapping[str, Amount]) -> Amounts:
    """Requests and limits by the names of quotas. COMPAT: podComputeUsageHelper"""
    used: Amounts = {}
    for name in _COMPUTE:
        if name in requests:
            used[name] = used[REQUESTS + name] = requests[name]
        if name in limits:
            used[f"limits.{name}"] = limits[name]
    for name, needed in requests.items():
        if name.startswith(HUGE):
            used[name] = used[REQUESTS + name] = needed
        elif is_extended(name):
            used[REQUESTS + name] = needed
    return used


def missing(pod: Object, limited: Iterable[str]) -> str:
    """What containers have to say where quotas limit it, and do not; "" for nothing. COMPAT: podEvaluator.Constraints

    :param limited: the names that a quota limits.
    """
    spec = pod.get("spec") or {}
    if any((spec.get("resources") or {}).get(which) for which in ("requests", "limits")):
        return ""
    wanted, silent = _TO_BE_SAID.intersection(limited), dict[str, set[str]]()
    for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
        resources = container.get("resources") or {}
        said = _named(_amounts(resources.get("requests")), _amounts(resources.get("limits")))
        for name in wanted - said.keys():
            silent.setdefault(name, set()).add(container.get("name", ""))
    texts = [f"{name} for: {','.join(sorted(silent[name]))}" for name in sorted(silent)]
    return f"must specify {'; '.join(texts)}" if texts else ""


def best_effort(pod: Object) -> bool:
    """Whether the pod asks for nothing. COMPAT: GetPodQOS"""
    told = (pod.get("status") or {}).get("qosClass")
    if told:
        return bool(told == "BestEffort")
    needed = {**needs(pod, "requests"), **needs(pod, "limits")}
    return not any(needed.get(name, Amount(0)).nanos for name in _POD_LEVEL)


def needs(pod: Object, which: str, *, spec_only: bool = False) -> Amounts:
    """The ``requests`` or the ``limits`` of a pod as a whole.

    :param spec_only: leave out what it has at the moment, and its overhead.

    COMPAT: PodRequests, PodLimits; AggregateContainerRequests
    """
    spec = pod.get("spec") or {}
    told = {} if spec_only else _statuses(pod)
    running = _sum(_container(c, which, told) for c in spec.get("containers") or ())
    # Init containers run one after the other; those that are restarted stay beside all that come after them.
    before: Amounts = {}
    beside: Amounts = {}
    for container in spec.get("initContainers") or ():
        needed = _container(container, which, told)
        if container.get("restartPolicy") == "Always":
            beside = _sum((beside, needed))
            needed = beside
        else:
            needed = _sum((beside, needed))
        before = _most(before, needed)
    found = _most(_sum((running, beside)), before)
    for name, text in ((spec.get("resources") or {}).get(which) or {}).items():
        if name in _POD_LEVEL or name.startswith(HUGE):
            found[name] = amount(text)
    for name, text in ({} if spec_only else spec.get("overhead") or {}).items():
        if which == "requests" or found.get(name, Amount(0)).nanos:
            found[name] = total((found.get(name, Amount(0)), amount(text)))
    return found


def _container(container: Object, which: str, told: Mapping[str, Object]) -> Amounts:
    """What a container is to have, or has, whichever is more: it may be being resized."""
    needed = _amounts((container.get("resources") or {}).get(which))
    status = told.get(container.get("name", ""))
    if status is None:
        return needed
    needed = _most(needed, _amounts((status.get("resources") or {}).get(which)))
    return _most(needed, _amounts(status.get("allocatedResources"))) if which == "requests" else needed


def _statuses(pod: Object) -> dict[str, Object]:
    status = pod.get("status") or {}
    fields = ("containerStatuses", "initContainerStatuses")
    return {found.get("name", ""): found for field in fields for found in status.get(field) or ()}


def _amounts(texts: Mapping[str, str] | None) -> Amounts:
    return {name: amount(text) for name, text in (texts or {}).items()}


def _sum(parts: Iterable[Mapping[str, Amount]]) -> Amounts:
    found: Amounts = {}
    for part in parts:
        for name, needed in part.items():
            found[name] = total((found.get(name, Amount(0)), needed))
    return found


def _most(one: Mapping[str, Amount], other: Mapping[str, Amount]) -> Amounts:
    found = dict(one)
    for name, needed in other.items():
        if name not in found or needed.nanos > found[name].nanos:
            found[name] = needed
    return found
