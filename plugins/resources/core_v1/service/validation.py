"""What a Service must look like. COMPAT: pkg/apis/core/validation ValidateService."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver_plugins.resources.common.addresses import special_ip_errors
from apiserver_plugins.resources.common.selectors import label_errors
from apiserver_plugins.resources.common.values import (
    is_ip,
    is_label,
    is_qualified,
    is_subdomain,
    one_of,
    parse_ip,
    port_number,
    port_number_or_name,
)
from apiserver_plugins.resources.core_v1.service import needs
from apiserver_plugins.resources.core_v1.service.needs import Spec
from apiserver_plugins.resources.core_v1.service.validation_ips import cluster_ip_errors

PROTOCOLS = frozenset(("TCP", "UDP", "SCTP"))
_AFFINITIES = frozenset(("ClientIP", "None"))
_TRAFFIC = frozenset(("Cluster", "Local"))
_DISTRIBUTIONS = ("PreferClose", "PreferSameZone", "PreferSameNode")
_KUBELET_PORT = 10250
_DAY = 86400
_SPEC = Path("spec")
_RANGES_ANNOTATION = "service.beta.kubernetes.io/load-balancer-source-ranges"
_ONLY_LB = "may only be used when `type` is 'LoadBalancer'"
_CIDR_TEXT = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"


def validate(obj: dict[str, Any]) -> list[FieldError]:
    """Problems of a Service, metadata excepted."""
    spec = needs.spec_of(obj)
    errors: list[FieldError] = []
    if not spec.get("ports") and not needs.headless(spec) and spec["type"] != needs.EXTERNAL_NAME:
        errors.append(FieldError.required(_SPEC / "ports"))
    errors += _by_type(spec)
    errors += _ports(spec)
    errors += label_errors(_SPEC / "selector", spec.get("selector"))
    errors += _affinity(spec)
    errors += cluster_ip_errors(spec)
    errors += _external_ips(spec)
    errors += one_of(_SPEC / "type", spec["type"], needs.TYPES)
    errors += _port_uniqueness(spec)
    errors += _source_ranges(obj, spec)
    return errors + _load_balancer(spec) + _traffic(spec)


def _by_type(spec: Spec) -> list[FieldError]:
    kind = spec["type"]
    if kind == needs.EXTERNAL_NAME:
        return _external_name(spec)
    errors = []
    if kind == needs.LOAD_BALANCER:
        text = f"may not expose port {_KUBELET_PORT} externally since it is used by kubelet"
        errors += [
            FieldError.invalid(_SPEC / "ports" / i, _KUBELET_PORT, text)
            for i, port in enumerate(spec.get("ports") or ())
            if port.get("port") == _KUBELET_PORT
        ]
    if kind in (needs.LOAD_BALANCER, needs.NODE_PORT) and needs.headless(spec):
        text = f"may not be set to 'None' for {kind} services"
        errors.append(FieldError.invalid(_SPEC / "clusterIPs" / 0, needs.NO_IP, text))
    return errors


def _external_name(spec: Spec) -> list[FieldError]:
    errors = [
        FieldError.forbidden(_SPEC / field, "may not be set for ExternalName services")
        for field in ("clusterIPs", "ipFamilies", "ipFamilyPolicy")
        if spec.get(field)
    ]
    name = (spec.get("externalName") or "").removesuffix(".")
    path = _SPEC / "externalName"
    return [*errors, *(is_subdomain(path, name) if name else [FieldError.required(path)])]


def _ports(spec: Spec) -> list[FieldError]:
    errors: list[FieldError] = []
    ports, names = spec.get("ports") or [], set()
    for i, port in enumerate(ports):
        path, name = _SPEC / "ports" / i, port.get("name") or ""
        if name:
            errors += is_label(path / "name", name)
            if name in names:
                errors.append(FieldError.duplicate(path / "name", name))
            names.add(name)
        elif len(ports) > 1:
            errors.append(FieldError.required(path / "name"))
        errors += port_number(path / "port", port.get("port"))
        errors += one_of(path / "protocol", port.get("protocol"), PROTOCOLS)
        errors += port_number_or_name(path / "targetPort", port.get("targetPort"))
        if port.get("appProtocol") is not None:
            errors += is_qualified(path / "appProtocol", port["appProtocol"])
    return errors


def _affinity(spec: Spec) -> list[FieldError]:
    affinity, config = spec.get("sessionAffinity"), spec.get("sessionAffinityConfig")
    errors = one_of(_SPEC / "sessionAffinity", affinity, _AFFINITIES)
    path = _SPEC / "sessionAffinityConfig"
    if affinity == "ClientIP":
        timeout = ((config or {}).get("clientIP") or {}).get("timeoutSeconds")
        if timeout is None or not 0 < timeout <= _DAY:
            text = f"must be greater than 0 and less than {_DAY}"
            errors.append(FieldError.invalid(path / "clientIP" / "timeoutSeconds", timeout, text))
    elif affinity == "None" and config:
        errors.append(FieldError.forbidden(path, "must not be set when session affinity is None"))
    return errors


def _external_ips(spec: Spec) -> list[FieldError]:
    errors: list[FieldError] = []
    for i, ip in enumerate(spec.get("externalIPs") or ()):
        path = _SPEC / "externalIPs" / i
        errors += is_ip(path, ip) or special_ip_errors(path, ip)
    return errors


def _port_uniqueness(spec: Spec) -> list[FieldError]:
    ports, errors = spec.get("ports") or [], []
    if spec["type"] == needs.CLUSTER_IP:
        text = "may not be used when `type` is 'ClusterIP'"
        errors += [
            FieldError.forbidden(_SPEC / "ports" / i / "nodePort", text)
            for i, p in enumerate(ports)
            if p.get("nodePort")
        ]
    for i, key in _repeated((p.get("protocol"), p.get("nodePort") or None) for p in ports):
        errors.append(FieldError.duplicate(_SPEC / "ports" / i / "nodePort", key[1]))
    for i, key in _repeated((p.get("protocol"), p.get("port", 0)) for p in ports):
        # COMPAT: the value shown is the internal structure with nothing but the key in it
        shown = {"Name": "", "Protocol": key[0], "AppProtocol": None, "Port": key[1], "TargetPort": 0, "NodePort": 0}
        errors.append(FieldError.duplicate(_SPEC / "ports" / i, shown))
    return errors


def _repeated(keys: Iterable[tuple[Any, Any]]) -> list[tuple[int, tuple[Any, Any]]]:
    """Places and values of keys that stood before; keys without a number don't count."""
    seen, found = set(), []
    for i, key in enumerate(keys):
        if key[1] is None:
            continue
        if key in seen:
            found.append((i, key))
        seen.add(key)
    return found


def _is_cidr(value: str) -> bool:
    try:
        ipaddress.ip_network(value, strict=False)
    except ValueError:
        return False
    return "/" in value


def _source_ranges(obj: dict[str, Any], spec: Spec) -> list[FieldError]:
    ranges = spec.get("loadBalancerSourceRanges")
    annotation = (obj["metadata"].get("annotations") or {}).get(_RANGES_ANNOTATION)
    if not ranges and annotation is None:
        return []
    # COMPAT: the path is written with a capital
    path = _SPEC / "LoadBalancerSourceRanges" if ranges else Path("metadata.annotations").key(_RANGES_ANNOTATION)
    errors = [] if needs.load_balancer(spec) else [FieldError.forbidden(path, _ONLY_LB)]
    if ranges:
        return errors + [
            FieldError.invalid(path / i, value.strip(), _CIDR_TEXT)
            for i, value in enumerate(ranges)
            if not _is_cidr(value.strip())
        ]
    parts = [part.strip() for part in (annotation or "").split(",") if part.strip()]
    if not all(map(_is_cidr, parts)):
        text = "must be a list of IP ranges. For example, 10.240.0.0/24,10.250.0.0/24 "
        errors.append(FieldError.invalid(path, annotation, text))
    return errors


def _load_balancer(spec: Spec) -> list[FieldError]:
    errors = []
    if not needs.load_balancer(spec):
        fields = ("allocateLoadBalancerNodePorts", "loadBalancerClass")
        errors += [FieldError.forbidden(_SPEC / field, _ONLY_LB) for field in fields if spec.get(field) is not None]
    elif spec.get("loadBalancerClass") is not None:
        errors += is_qualified(_SPEC / "loadBalancerClass", spec["loadBalancerClass"])
    return errors


def _traffic(spec: Spec) -> list[FieldError]:
    errors: list[FieldError] = []
    path, policy = _SPEC / "externalTrafficPolicy", spec.get("externalTrafficPolicy")
    if needs.external_traffic_policy(spec):
        errors += one_of(path, policy, _TRAFFIC)
    elif policy:
        errors.append(FieldError.invalid(path, policy, "may only be set for externally-accessible services"))
    path, port = _SPEC / "healthCheckNodePort", spec.get("healthCheckNodePort") or 0
    if needs.health_check_port(spec):
        errors += port_number(path, port) if port else [FieldError.required(path)]
    elif port:
        text = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
        errors.append(FieldError.invalid(path, port, text))
    path, policy = _SPEC / "internalTrafficPolicy", spec.get("internalTrafficPolicy")
    if policy is not None or needs.cluster_ip(spec):
        errors += one_of(path, policy, _TRAFFIC)
    distribution = spec.get("trafficDistribution")
    if distribution is not None and distribution not in _DISTRIBUTIONS:
        errors.append(FieldError.not_supported(_SPEC / "trafficDistribution", distribution, _DISTRIBUTIONS))
    return errors


def validate_class_change(spec: Spec, old: Spec) -> list[FieldError]:
    """COMPAT: validateLoadBalancerClassField for updates."""
    both = needs.load_balancer(spec) and needs.load_balancer(old)
    if both and spec.get("loadBalancerClass") != old.get("loadBalancerClass"):
        value = spec.get("loadBalancerClass")
        return [FieldError.invalid(_SPEC / "loadBalancerClass", value, "may not change once set")]
    return []


def validate_status(obj: dict[str, Any]) -> list[FieldError]:
    """Problems of ``status.loadBalancer``. COMPAT: ValidateLoadBalancerStatus."""
    status = (obj.get("status") or {}).get("loadBalancer") or {}
    ingress, base = status.get("ingress") or [], Path("status.loadBalancer.ingress")
    if ingress and not needs.load_balancer(needs.spec_of(obj)):
        return [FieldError.forbidden(base, "may only be used when `spec.type` is 'LoadBalancer'")]
    errors: list[FieldError] = []
    for i, entry in enumerate(ingress):
        path, ip, host = base / i, entry.get("ip"), entry.get("hostname")
        if ip:
            errors += is_ip(path / "ip", ip)
            errors += one_of(path / "ipMode", entry.get("ipMode"), frozenset(("VIP", "Proxy")))
        elif entry.get("ipMode"):
            errors.append(FieldError.forbidden(path / "ipMode", "may not be specified when `ip` is not set"))
        if host:
            errors += is_subdomain(path / "hostname", host)
            if parse_ip(host):
                text = "must be a DNS name, not an IP address"
                errors.append(FieldError.invalid(path / "hostname", host, text))
    return errors
