"""Conditions of ServiceCIDRs, for the controllers that set them."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from apiserver.api.durations import now
from apiserver.api.names import GroupResource

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
SERVICE_CIDRS = GroupResource("networking.k8s.io", "servicecidrs")
DEFAULT = "kubernetes"
"""The name of the one that the settings make."""
READY = "Ready"


def cidrs_of(obj: Mapping[str, Any]) -> list[str]:
    """The ranges of a ServiceCIDR."""
    return list((obj.get("spec") or {}).get("cidrs") or ())


def networks_of(obj: Mapping[str, Any]) -> Sequence[Network]:
    """The ranges, parsed."""
    return [ipaddress.ip_network(cidr, strict=False) for cidr in cidrs_of(obj)]


def ready(obj: Mapping[str, Any]) -> str | None:
    """The status of the condition Ready, None if there is none."""
    for condition in (obj.get("status") or {}).get("conditions") or ():
        if condition.get("type") == READY:
            return str(condition.get("status"))
    return None


def with_condition(status: str, message: str, reason: str = "") -> Callable[[dict[str, Any]], None]:
    """Set the condition Ready; one that is the same already keeps the time of its last change."""

    def apply(obj: dict[str, Any]) -> None:
        conditions = obj.setdefault("status", {}).setdefault("conditions", [])
        made = {"type": READY, "status": status, "reason": reason, "message": message, "lastTransitionTime": now()}
        for i, old in enumerate(conditions):
            if old.get("type") == READY:
                if old.get("status") == status:
                    made["lastTransitionTime"] = old.get("lastTransitionTime")
                conditions[i] = {**old, **made}
                return
        conditions.append(made)

    return apply
