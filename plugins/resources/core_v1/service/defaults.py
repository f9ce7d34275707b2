"""What a Service gets when its author does not say. COMPAT: pkg/apis/core/v1 SetDefaults_Service."""

from __future__ import annotations

from typing import Any

from apiserver_plugins.resources.core_v1.service import needs
from apiserver_plugins.resources.core_v1.service.needs import Spec

AFFINITY_SECONDS = 10800


def set_defaults(obj: dict[str, Any]) -> None:
    """Fill in type, affinity, ports and policies, in place."""
    spec = needs.spec_of(obj)
    spec["type"] = spec.get("type") or needs.CLUSTER_IP
    _affinity(spec)
    for port in spec.get("ports") or ():
        port["protocol"] = port.get("protocol") or "TCP"
        if not port.get("targetPort"):
            port["targetPort"] = port.get("port", 0)
    if needs.external_traffic_policy(spec) and not spec.get("externalTrafficPolicy"):
        spec["externalTrafficPolicy"] = "Cluster"
    if needs.cluster_ip(spec) and spec.get("internalTrafficPolicy") is None:
        spec["internalTrafficPolicy"] = "Cluster"
    if needs.load_balancer(spec):
        if spec.get("allocateLoadBalancerNodePorts") is None:
            spec["allocateLoadBalancerNodePorts"] = True
        for ingress in ((obj.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ():
            if ingress.get("ip") and not ingress.get("ipMode"):
                ingress["ipMode"] = "VIP"


def _affinity(spec: Spec) -> None:
    affinity = spec["sessionAffinity"] = spec.get("sessionAffinity") or "None"
    if affinity == "None":
        spec.pop("sessionAffinityConfig", None)
    elif affinity == "ClientIP":
        config = (spec.get("sessionAffinityConfig") or {}).get("clientIP") or {}
        if config.get("timeoutSeconds") is None:
            spec["sessionAffinityConfig"] = {"clientIP": {"timeoutSeconds": AFFINITY_SECONDS}}
