"""What Services have and what is noted as taken, brought together again.

Something may go wrong between taking an address or a port and storing the Service: a crash, or the store away. What
was taken for nothing is given back, after a time in which no create can be still under way; what a Service has and
nobody noted is noted. Called by :mod:`apiserver_plugins.resources.core_v1.service_ip_repair`, by any number of
processes.

COMPAT: pkg/registry/core/service/ipallocator/controller RepairIPAddress; .../portallocator/controller Repair
"""

from __future__ import annotations

import ipaddress
import time
from collections.abc import Iterator, Mapping
from typing import Any

from apiserver.api.durations import parse_time
from apiserver.api.encoded import EncodedObject
from apiserver.api.errors import Conflict, NotFound
from apiserver.api.events import record
from apiserver.api.names import GroupResource
from apiserver.api.rest import DeleteOptions, GetOptions, ListOptions
from apiserver.api.server import Server
from apiserver_plugins.resources.core_v1.service import needs
from apiserver_plugins.resources.core_v1.service.addresses import (
    ADDRESSES,
    FAMILY_LABEL,
    MANAGER,
    MANAGER_LABEL,
    AddressPool,
    Network,
    service_networks,
)
from apiserver_plugins.resources.core_v1.service.allocation import Allocators

SERVICES = GroupResource("", "services")
GRACE = 60.0
"""Seconds that an address may be taken for a Service that does not exist: one may be just being created."""
LOOKS = 3
"""How often a port must be found leaked before it is given back."""

_IP_COMPONENT = "ipallocator-repair-controller"
_PORT_COMPONENT = "portallocator-repair-controller"

Object = dict[str, Any]


class Repair:
    """One process's looks.

    :param allocators: the pools, of the settings.
    """

    def __init__(self, server: Server, allocators: Allocators) -> None:
        self._server = server
        self._allocators = allocators
        self._leaks: dict[int, int] = {}

    def look(self) -> None:
        """Compare and repair everything once. :raises ApiError: / :raises StorageError: the store can't be reached."""
        # Ports that are taken after this are nobody's business; the Services come after it, so none is missed.
        taken = self._allocators.ports.taken()
        context = self._server.system_context()
        services = [item.decode() for item in self._server.store(SERVICES).list(context, ListOptions()).items]
        self._addresses(services)
        self._ports(services, taken)

    # -- addresses ----------------------------------------------------------------------------------------------------

    def _addresses(self, services: list[Object]) -> None:
        networks = [*service_networks(self._server), *self._allocators.networks]
        by_place = {_place(service["metadata"]): service for service in services}
        for service in services:
            for ip in _cluster_ips(service):
                self._service_address(service, ip, by_place, networks)
        for held in self._server.lister(ADDRESSES).list(labels={MANAGER_LABEL: MANAGER}):
            self._held_address(held, by_place)

    def _service_address(
        self, service: Object, ip: str, by_place: Mapping[tuple[str, str], Object], networks: list[Network]
    ) -> None:
        """COMPAT: syncService."""
        address = ipaddress.ip_address(ip)
        family, name = f"IPv{address.version}", str(address)
        if not any(address in network for network in networks):
            text = f"Cluster IP [{family}]: {ip} is not within any configured Service CIDR; please recreate service"
            record(self._server, _IP_COMPONENT, service, "ClusterIPOutOfRange", text)
            return
        held = self._server.lister(ADDRESSES).get("", name)
        if held is None:
            text = f"Cluster IP [{family}]: {ip} is not allocated; repairing"
            record(self._server, _IP_COMPONENT, service, "ClusterIPNotAllocated", text)
            self._take(service, name)
            return
        place, parent = _place(service["metadata"]), _parent(held.decode())
        if parent != place:
            other = by_place.get(parent) if parent is not None else None
            if other is not None and ip in _cluster_ips(other):
                text = f"Cluster IP [{family}]:{ip} was assigned to multiple services; please recreate service"
                record(self._server, _IP_COMPONENT, service, "ClusterIPAlreadyAllocated", text)
                return
            where = "/".join(place)
            text = f"the ClusterIP [{family}]: {ip} for Service {where} has a wrong reference; repairing"
            record(self._server, _IP_COMPONENT, service, "ClusterIPNotAllocated", text)
        elif held.labels.get(FAMILY_LABEL) == family and held.labels.get(MANAGER_LABEL) == MANAGER:
            return
        self._drop(held.decode())
        self._take(service, name)

    def _held_address(self, held: EncodedObject, by_place: Mapping[tuple[str, str], Object]) -> None:
        """COMPAT: syncIPAddress."""
        obj = held.decode()
        parent = _parent(obj)
        if parent is None:
            reference = (obj.get("spec") or {}).get("parentRef")
            text = f"IPAddress {held.name} appears to have been modified, not referencing a Service {reference}"
            record(self._server, _IP_COMPONENT, obj, "IPAddressNotAllocated", f"{text}: cleaning up")
            self._drop(obj)
            return
        if _is_of(held.name, by_place.get(parent)) or _age(obj) <= GRACE:
            return
        service = self._live(*parent)
        if _is_of(held.name, service):
            return
        where = "/".join(parent)
        if service is None:
            text = f"IPAddress: {held.name} for Service {where} appears to have leaked: cleaning up"
            record(self._server, _IP_COMPONENT, obj, "IPAddressNotAllocated", text)
        else:
            text = f"IPAddress: {held.name} for Service {where} has a wrong reference; cleaning up"
            record(self._server, _IP_COMPONENT, obj, "IPAddressWrongReference", text)
        self._drop(obj)

    def _take(self, service: Object, ip: str) -> None:
        AddressPool(self._server, ipaddress.ip_network(ip)).restore(ip, *_place(service["metadata"]))

    def _drop(self, obj: Object) -> None:
        metadata = obj["metadata"]
        options = DeleteOptions(uid=metadata["uid"], resource_version=metadata["resourceVersion"])
        try:
            context = self._server.system_context()
            self._server.store(ADDRESSES).delete(context, metadata["name"], options, lambda _obj: None)
        except (NotFound, Conflict):
            # Another process was faster.
            return

    def _live(self, namespace: str, name: str) -> Object | None:
        try:
            found: EncodedObject = self._server.store(SERVICES).get(
                self._server.system_context(namespace), name, GetOptions()
            )
        except NotFound:
            return None
        return found.decode()

    # -- ports --------------------------------------------------------------------------------------------------------

    def _ports(self, services: list[Object], taken: set[int]) -> None:
        """COMPAT: portallocator/controller Repair.runOnce."""
        pool = self._allocators.ports
        used: set[int] = set()
        for service in services:
            for port in _ports_of(needs.spec_of(service)):
                if port in used:
                    text = f"Port {port} was assigned to multiple services; please recreate service"
                    record(self._server, _PORT_COMPONENT, service, "PortAlreadyAllocated", text)
                elif not pool.first <= port <= pool.last:
                    text = f"Port {port} is not within the port range {pool.range}; please recreate service"
                    record(self._server, _PORT_COMPONENT, service, "PortOutOfRange", text)
                elif port not in taken:
                    text = f"Port {port} is not allocated; repairing"
                    record(self._server, _PORT_COMPONENT, service, "PortNotAllocated", text)
                used.add(port)
        pool.restore(used - taken)
        self._leaks = {port: self._leaks.get(port, 0) + 1 for port in taken - used}
        leaked = {port for port, looks in self._leaks.items() if looks > LOOKS}
        pool.release(leaked)


def _place(metadata: Mapping[str, Any]) -> tuple[str, str]:
    return metadata.get("namespace") or "", metadata.get("name") or ""


def _parent(held: Object) -> tuple[str, str] | None:
    """The Service that an IPAddress is for; None for something else."""
    parent = (held.get("spec") or {}).get("parentRef") or {}
    return _place(parent) if parent.get("resource") == "services" and not parent.get("group") else None


def _cluster_ips(service: Object) -> list[str]:
    spec = needs.spec_of(service)
    if not needs.cluster_ip(spec) or needs.headless(spec):
        return []
    return [ip for ip in spec.get("clusterIPs") or () if ip]


def _is_of(ip: str, service: Object | None) -> bool:
    return service is not None and ip in {str(ipaddress.ip_address(held)) for held in _cluster_ips(service)}


def _age(obj: Object) -> float:
    created = parse_time(obj["metadata"]["creationTimestamp"])
    return time.time() - created.timestamp() if created is not None else 0.0


def _ports_of(spec: needs.Spec) -> Iterator[int]:
    """A port once for all of its protocols, and again when one has it twice. COMPAT: collectServiceNodePorts."""
    seen: dict[int, set[str]] = {}
    for entry in spec.get("ports") or ():
        port, protocol = entry.get("nodePort") or 0, entry.get("protocol", "TCP")
        if not port:
            continue
        if protocol in seen.setdefault(port, set()) or not seen[port]:
            yield port
        seen[port].add(protocol)
    check = spec.get("healthCheckNodePort") or 0
    if check and (check not in seen or "TCP" in seen[check]):
        yield check
