"""Endpoints: who answers for a Service, as it was told before EndpointSlices.

COMPAT: pkg/apis/core/validation ValidateEndpointsCreate; pkg/registry/core/endpoint
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.resource import Column
from apiserver.api.rest import Context
from apiserver.api.strategy import Strategy
from apiserver.api.validation import dns_label, dns_subdomain, qualified_name
from apiserver_plugins.resources.common.addresses import special_ip_errors
from apiserver_plugins.resources.common.columns import AGE, NONE
from apiserver_plugins.resources.common.values import invalid, is_ip, one_of, port_number

SHOWN = 3
_PROTOCOLS = frozenset(("TCP", "UDP", "SCTP"))
_ADDRESSES = ("addresses", "notReadyAddresses")


def _address_errors(address: dict[str, Any], path: Path) -> list[FieldError]:
    ip = address.get("ip") or ""
    errors = is_ip(path / "ip", ip)
    if address.get("hostname"):
        errors += invalid(path / "hostname", address["hostname"], dns_label(address["hostname"]))
    if address.get("nodeName") is not None:
        errors += invalid(path / "nodeName", address["nodeName"], dns_subdomain(address["nodeName"]))
    # COMPAT: what is no address at all is told twice
    return errors + special_ip_errors(path / "ip", ip)


def _port_errors(port: dict[str, Any], path: Path, *, named: bool) -> list[FieldError]:
    name = port.get("name") or ""
    errors: list[FieldError] = []
    if name:
        errors += invalid(path / "name", name, dns_label(name))
    elif named:
        errors.append(FieldError.required(path / "name"))
    errors += port_number(path / "port", port.get("port"))
    errors += one_of(path / "protocol", port.get("protocol"), _PROTOCOLS)
    if port.get("appProtocol"):
        errors += invalid(path / "appProtocol", port["appProtocol"], qualified_name(port["appProtocol"]))
    return errors


def _subset_errors(subset: dict[str, Any], path: Path) -> list[FieldError]:
    errors: list[FieldError] = []
    if not any(subset.get(field) for field in _ADDRESSES):
        errors.append(FieldError.required(path, "must specify `addresses` or `notReadyAddresses`"))
    for field in _ADDRESSES:
        for i, address in enumerate(subset.get(field) or ()):
            errors += _address_errors(address, path / field / i)
    ports = subset.get("ports") or ()
    for i, port in enumerate(ports):
        errors += _port_errors(port, path / "ports" / i, named=len(ports) > 1)
    return errors


class EndpointsStrategy(Strategy):
    """Rules of Endpoints."""

    allow_create_on_update = True

    def default(self, obj: dict[str, Any]) -> None:
        for subset in obj.get("subsets") or ():
            for port in subset.get("ports") or ():
                port["protocol"] = port.get("protocol") or "TCP"

    def validate(self, ctx: Context, obj: dict[str, Any]) -> list[FieldError]:
        errors: list[FieldError] = []
        for i, subset in enumerate(obj.get("subsets") or ()):
            errors += _subset_errors(subset, Path("subsets") / i)
        return errors


def _answering(obj: dict[str, Any]) -> Iterator[str]:
    for subset in obj.get("subsets") or ():
        ips = [address.get("ip") or "" for address in subset.get("addresses") or ()]
        if not subset.get("ports"):
            yield from ips
        for port in subset.get("ports") or ():
            for ip in ips:
                host = f"[{ip}]" if ":" in ip else ip
                yield f"{host}:{port.get('port')}"


def _endpoints(obj: dict[str, Any]) -> str:
    """The first few. COMPAT: formatEndpoints."""
    if not obj.get("subsets"):
        return NONE
    all_of_them = list(_answering(obj))
    shown = ",".join(all_of_them[:SHOWN])
    more = len(all_of_them) - SHOWN
    return f"{shown} + {more} more..." if more > 0 else shown


STRATEGY = EndpointsStrategy()
COLUMNS = (Column("Endpoints", _endpoints, field="subsets"), AGE)
