"""The cells of a Service in tables. COMPAT: pkg/printers/internalversion printService."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from apiserver.api.resource import Column
from apiserver_plugins.resources.common.columns import AGE, NONE, cell, format_labels
from apiserver_plugins.resources.core_v1.service import needs
from apiserver_plugins.resources.core_v1.service.needs import Spec


def _cluster_ip(obj: dict[str, Any]) -> str:
    ips = (obj.get("spec") or {}).get("clusterIPs")
    return ips[0] if ips else NONE


def _ingress(obj: dict[str, Any]) -> str:
    entries = ((obj.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ()
    addresses = sorted({entry.get("ip") or entry.get("hostname") or "" for entry in entries} - {""})
    return ",".join(addresses)


def _external_ip(obj: dict[str, Any]) -> str:
    spec: Spec = obj.get("spec") or {}
    external: Sequence[str] = spec.get("externalIPs") or ()
    kind = spec.get("type")
    if kind == needs.EXTERNAL_NAME:
        return str(spec.get("externalName", ""))
    if kind == needs.LOAD_BALANCER:
        address = _ingress(obj)
        parts = [*([address] if address else []), *external]
        return ",".join(parts) or "<pending>"
    return ",".join(external) or NONE


def _ports(obj: dict[str, Any]) -> str:
    ports = (obj.get("spec") or {}).get("ports") or ()
    texts = [
        f"{p.get('port')}:{p['nodePort']}/{p.get('protocol')}"
        if p.get("nodePort")
        else f"{p.get('port')}/{p.get('protocol')}"
        for p in ports
    ]
    return ",".join(texts) or NONE


def _selector(obj: dict[str, Any]) -> str:
    return format_labels((obj.get("spec") or {}).get("selector"))


COLUMNS = (
    Column("Type", cell("spec", "type"), field="spec.type"),
    Column("Cluster-IP", _cluster_ip, field="spec.clusterIP"),
    Column("External-IP", _external_ip, field="spec.externalIPs"),
    Column("Port(s)", _ports, field="spec.ports"),
    AGE,
    Column("Selector", _selector, priority=1, field="spec.selector"),
)
