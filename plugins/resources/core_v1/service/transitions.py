"""What an update of a Service means for the values that the server had chosen.

A client that sends a Service without them keeps them; one that changes the type sheds those the new type can't have,
unless it changed them too (then validation speaks).

COMPAT: pkg/registry/core/service patchAllocatedValues, NormalizeClusterIPs, dropTypeDependentFields
"""

from __future__ import annotations

from collections.abc import Callable

from apiserver_plugins.resources.core_v1.service import needs
from apiserver_plugins.resources.core_v1.service.needs import Spec


def keep_allocated(spec: Spec, old: Spec) -> None:
    """Carry over addresses and node ports that the new spec leaves out."""
    if needs.cluster_ip(old) and needs.cluster_ip(spec):
        if not spec.get("clusterIP") and old.get("clusterIP"):
            spec["clusterIP"] = old["clusterIP"]
        if not spec.get("clusterIPs") and spec.get("clusterIP") == old.get("clusterIP") and old.get("clusterIPs"):
            spec["clusterIPs"] = list(old["clusterIPs"])
    if needs.node_ports(old) and needs.node_ports(spec):
        _keep_node_ports(spec, old)
    if needs.health_check_port(old) and needs.health_check_port(spec) and not spec.get("healthCheckNodePort"):
        spec["healthCheckNodePort"] = old.get("healthCheckNodePort")


def _keep_node_ports(spec: Spec, old: Spec) -> None:
    taken = {port.get("nodePort") or 0 for port in spec.get("ports") or ()} - {0}
    by_name = {port.get("name", ""): port.get("nodePort") or 0 for port in old.get("ports") or ()}
    for port in spec.get("ports") or ():
        before = by_name.get(port.get("name", ""), 0)
        if not port.get("nodePort") and before and before not in taken:
            port["nodePort"] = before
            taken.add(before)


def normalize_cluster_ips(spec: Spec, old: Spec | None) -> None:
    """Make ``clusterIP`` and ``clusterIPs`` agree for clients that know only the first."""
    ip = spec.get("clusterIP") or ""
    if old is None:
        if ip and not spec.get("clusterIPs"):
            spec["clusterIPs"] = [ip]
        return
    if ip == (old.get("clusterIP") or "") or (spec.get("clusterIPs") or []) != (old.get("clusterIPs") or []):
        return
    if ip:
        spec["clusterIPs"] = [ip]
    else:
        spec.pop("clusterIPs", None)


def _same(field: str) -> Callable[[Spec, Spec], bool]:
    return lambda spec, old: (spec.get(field) or None) == (old.get(field) or None)


def _drop(spec: Spec, old: Spec, needed: Callable[[Spec], bool], groups: tuple[tuple[str, ...], ...]) -> None:
    if needed(old) and not needed(spec):
        for group in groups:
            if all(_same(field)(spec, old) for field in group):
                for field in group:
                    spec.pop(field, None)


_DEPENDENT: tuple[tuple[Callable[[Spec], bool], tuple[tuple[str, ...], ...]], ...] = (
    (needs.cluster_ip, (("clusterIP", "clusterIPs"), ("ipFamilies",), ("ipFamilyPolicy",), ("internalTrafficPolicy",))),
    (needs.health_check_port, (("healthCheckNodePort",),)),
    (needs.load_balancer, (("allocateLoadBalancerNodePorts",), ("loadBalancerClass",))),
    (needs.external_traffic_policy, (("externalTrafficPolicy",),)),
)


def drop_type_dependent(spec: Spec, old: Spec) -> None:
    """Shed unchanged fields that the new type can't have."""
    for needed, groups in _DEPENDENT:
        _drop(spec, old, needed, groups)
    if needs.node_ports(old) and not needs.node_ports(spec):
        ports, before = spec.get("ports") or [], old.get("ports") or []
        if [p.get("nodePort") or 0 for p in ports] == [p.get("nodePort") or 0 for p in before]:
            for port in ports:
                port.pop("nodePort", None)
