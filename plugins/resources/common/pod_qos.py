"""The quality of service class of a pod. COMPAT: pkg/apis/core/helper/qos ComputePodQOS."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from apiserver.api.quantity import nanos

_COUNTED = ("cpu", "memory")


def _amounts(resources: Mapping[str, Any], field: str) -> dict[str, int]:
    values = {k: nanos(v) for k, v in (resources.get(field) or {}).items() if k in _COUNTED}
    return {k: v for k, v in values.items() if v > 0}


def qos_class(spec: Mapping[str, Any]) -> str:
    """``Guaranteed``, ``Burstable`` or ``BestEffort``.

    Only cpu and memory count; resources of the pod as a whole win over those of its containers.
    """
    whole = spec.get("resources") or {}
    if whole.get("requests") or whole.get("limits"):
        parts = [whole]
    else:
        containers = (*(spec.get("containers") or ()), *(spec.get("initContainers") or ()))
        parts = [container.get("resources") or {} for container in containers]
    requests: dict[str, int] = {}
    limits: dict[str, int] = {}
    guaranteed = True
    for part in parts:
        for name, value in _amounts(part, "requests").items():
            requests[name] = requests.get(name, 0) + value
        own = _amounts(part, "limits")
        for name, value in own.items():
            limits[name] = limits.get(name, 0) + value
        guaranteed = guaranteed and len(own) == len(_COUNTED)
    if not requests and not limits:
        return "BestEffort"
    return "Guaranteed" if guaranteed and requests == limits else "Burstable"
