"""EndpointSlices.

COMPAT: pkg/apis/discovery/v1 defaults; pkg/apis/discovery/validation; pkg/registry/discovery/endpointslice
"""

from __future__ import annotations

from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.resource import Column
from apiserver.api.rest import Context
from apiserver.api.strategy import Strategy
from apiserver.api.validation import dns_label, dns_subdomain, qualified_name
from apiserver_plugins.resources.common.addresses import special_ip_errors
from apiserver_plugins.resources.common.columns import AGE, UNSET, cell
from apiserver_plugins.resources.common.selectors import label_errors
from apiserver_plugins.resources.common.values import immutable, invalid, is_ip, one_of, parse_ip, port_number

SHOWN = 3
_TYPES = frozenset(("FQDN", "IPv4", "IPv6"))
_PROTOCOLS = frozenset(("TCP", "UDP", "SCTP"))
_MOST_ENDPOINTS, _MOST_PORTS, _MOST_ADDRESSES, _MOST_TOPOLOGY, _MOST_HINTS = 1000, 20000, 100, 16, 8


def _domain_errors(name: str, path: Path) -> list[FieldError]:
    """COMPAT: IsFullyQualifiedDomainName."""
    if not name:
        return [FieldError.required(path)]
    name = name.removesuffix(".")
    errors = invalid(path, name, dns_subdomain(name))
    if errors:
        return errors
    labels = name.split(".")
    if len(labels) < 2:
        text = "should be a domain with at least two segments separated by dots"
        return [FieldError.invalid(path, name, text)]
    return [error for label in labels for error in invalid(path, label, dns_label(label))]


def _address_errors(address: str, kind: str, path: Path, i: int) -> list[FieldError]:
    if kind == "FQDN":
        return _domain_errors(address, path / i)
    if kind not in _TYPES:
        return []
    parsed = parse_ip(address)
    if parsed is None:
        return is_ip(path / i, address)
    errors = [] if kind == f"IPv{parsed.version}" else [FieldError.invalid(path, address, f"must be an {kind} address")]
    return errors + special_ip_errors(path / i, address)


def _endpoint_errors(endpoint: dict[str, Any], kind: str, path: Path) -> list[FieldError]:
    addresses, where = endpoint.get("addresses") or (), path / "addresses"
    errors: list[FieldError] = []
    if not addresses:
        errors.append(FieldError.required(where, "must contain at least 1 address"))
    elif len(addresses) > _MOST_ADDRESSES:
        errors.append(FieldError.too_many(where, len(addresses), _MOST_ADDRESSES))
    for i, address in enumerate(addresses):
        errors += _address_errors(address, kind, where, i)
    if endpoint.get("nodeName") is not None:
        errors += invalid(path / "nodeName", endpoint["nodeName"], dns_subdomain(endpoint["nodeName"]))
    topology = endpoint.get("deprecatedTopology") or {}
    if len(topology) > _MOST_TOPOLOGY:
        errors.append(FieldError.too_many(path / "deprecatedTopology", len(topology), _MOST_TOPOLOGY))
    errors += label_errors(path / "deprecatedTopology", topology)
    if endpoint.get("hostname") is not None:
        errors += invalid(path / "hostname", endpoint["hostname"], dns_label(endpoint["hostname"]))
    for field in ("forZones", "forNodes"):
        errors += _hint_errors((endpoint.get("hints") or {}).get(field) or (), path / "hints" / field)
    return errors


def _hint_errors(hints: Any, path: Path) -> list[FieldError]:
    if len(hints) > _MOST_HINTS:
        return [FieldError.too_many(path, len(hints), _MOST_HINTS)]
    names = [hint.get("name") or "" for hint in hints]
    return [FieldError.duplicate(path / i, name) for i, name in enumerate(names) if name in names[:i]]


def _port_errors(ports: Any, path: Path) -> list[FieldError]:
    errors: list[FieldError] = []
    if len(ports) > _MOST_PORTS:
        errors.append(FieldError.too_many(path, len(ports), _MOST_PORTS))
    names: set[str] = set()
    for i, port in enumerate(ports):
        where, name = path / i, port.get("name") or ""
        if name:
            errors += invalid(where / "name", name, dns_label(name))
        if name in names:
            errors.append(FieldError.duplicate(where / "name", name))
        names.add(name)
        errors += one_of(where / "protocol", port.get("protocol"), _PROTOCOLS)
        if port.get("port") is not None:
            errors += port_number(where / "port", port["port"])
        if port.get("appProtocol"):
            errors += invalid(where / "appProtocol", port["appProtocol"], qualified_name(port["appProtocol"]))
    return errors


def _contents(obj: dict[str, Any]) -> dict[str, Any]:
    """What counts for the generation."""
    labels = obj["metadata"].get("labels")
    return {**{k: v for k, v in obj.items() if k != "metadata" and v}, "labels": labels or {}}


class EndpointSliceStrategy(Strategy):
    """Rules of EndpointSlices."""

    def default(self, obj: dict[str, Any]) -> None:
        for port in obj.get("ports") or ():
            port["protocol"] = port.get("protocol") or "TCP"
            if port.get("name") is None:
                port["name"] = ""

    def prepare_for_create(self, ctx: Context, obj: dict[str, Any]) -> None:
        obj["metadata"]["generation"] = 1

    def prepare_for_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> None:
        changed = _contents(obj) != _contents(old)
        obj["metadata"]["generation"] = old["metadata"].get("generation", 0) + changed

    def validate(self, ctx: Context, obj: dict[str, Any]) -> list[FieldError]:
        kind = obj.get("addressType") or ""
        errors = one_of("addressType", kind, _TYPES)
        endpoints, path = obj.get("endpoints") or (), Path("endpoints")
        if len(endpoints) > _MOST_ENDPOINTS:
            errors.append(FieldError.too_many(path, len(endpoints), _MOST_ENDPOINTS))
        for i, endpoint in enumerate(endpoints):
            errors += _endpoint_errors(endpoint, kind, path / i)
        return errors + _port_errors(obj.get("ports") or (), Path("ports"))

    def validate_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        return self.validate(ctx, obj) + immutable("addressType", obj.get("addressType"), old.get("addressType"))


def _first(words: list[str]) -> str:
    """COMPAT: listWithMoreString."""
    more = len(words) - SHOWN
    shown = ",".join(words[:SHOWN])
    return f"{shown} + {more} more..." if more > 0 else shown or UNSET


def _ports(obj: dict[str, Any]) -> str:
    numbers = [(port.get("port"), port.get("name")) for port in obj.get("ports") or ()]
    return _first([str(number) if number is not None else name or "*" for number, name in numbers])


def _endpoints(obj: dict[str, Any]) -> str:
    return _first([address for e in obj.get("endpoints") or () for address in e.get("addresses") or ()])


STRATEGY = EndpointSliceStrategy()
COLUMNS = (
    Column("AddressType", cell("addressType"), field="addressType"),
    Column("Ports", _ports, field="ports"),
    Column("Endpoints", _endpoints, field="endpoints"),
    AGE,
)
