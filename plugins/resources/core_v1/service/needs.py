"""Which parts of a Service's spec apply to which type.

COMPAT: pkg/registry/core/service needsClusterIP and its like; pkg/api/service
"""

from __future__ import annotations

from typing import Any

Spec = dict[str, Any]

CLUSTER_IP = "ClusterIP"
NODE_PORT = "NodePort"
LOAD_BALANCER = "LoadBalancer"
EXTERNAL_NAME = "ExternalName"
NO_IP = "None"
LOCAL = "Local"

TYPES = frozenset((CLUSTER_IP, NODE_PORT, LOAD_BALANCER, EXTERNAL_NAME))


def spec_of(obj: dict[str, Any]) -> Spec:
    """The spec, made if there is none."""
    spec: Spec = obj.setdefault("spec", {})
    return spec


def cluster_ip(spec: Spec) -> bool:
    """Has a cluster IP ("None" counts)."""
    return spec.get("type") in (CLUSTER_IP, NODE_PORT, LOAD_BALANCER)


def node_ports(spec: Spec) -> bool:
    """May have node ports."""
    return spec.get("type") in (NODE_PORT, LOAD_BALANCER)


def load_balancer(spec: Spec) -> bool:
    """Is a load balancer."""
    return spec.get("type") == LOAD_BALANCER


def health_check_port(spec: Spec) -> bool:
    """Has a port that tells which nodes have endpoints."""
    return load_balancer(spec) and spec.get("externalTrafficPolicy") == LOCAL


def external_traffic_policy(spec: Spec) -> bool:
    """Can be reached from outside. COMPAT: ExternallyAccessible."""
    return node_ports(spec) or (spec.get("type") == CLUSTER_IP and bool(spec.get("externalIPs")))


def headless(spec: Spec) -> bool:
    """Has "None" for a cluster IP."""
    ips = spec.get("clusterIPs") or []
    return len(ips) == 1 and ips[0] == NO_IP


def wants_node_ports(spec: Spec) -> bool:
    """Whether node ports are to be found for ports without one. COMPAT: shouldAllocateNodePorts."""
    if spec.get("type") == NODE_PORT:
        return True
    return load_balancer(spec) and spec.get("allocateLoadBalancerNodePorts", True) is not False
