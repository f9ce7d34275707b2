"""Cluster IPs: each one in use is an IPAddress object, so that creating it is what takes the address.

Safe for any number of server processes: two that want the same address race for one create. Used by
:mod:`apiserver_plugins.resources.core_v1.service.allocation`.

COMPAT: pkg/registry/core/service/ipallocator Allocator, cidrAllocator
"""

from __future__ import annotations

import contextlib
import ipaddress
import secrets
from collections.abc import Iterator
from typing import Any

from apiserver.api.errors import AlreadyExists, NotFound
from apiserver.api.names import GroupResource
from apiserver.api.rest import DeleteOptions, WriteOptions
from apiserver.api.server import Server

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
ADDRESSES = GroupResource("networking.k8s.io", "ipaddresses")
SERVICE_CIDRS = GroupResource("networking.k8s.io", "servicecidrs")
FAMILY_LABEL = "ipaddress.kubernetes.io/ip-family"
MANAGER_LABEL = "ipaddress.kubernetes.io/managed-by"
MANAGER = "ipallocator.k8s.io"

_TRIES = 64
_LARGEST_IPV6 = 1 << 64


class AllocationError(Exception):
    """An address or port is not to be had; the text is upstream's."""


def service_networks(server: Server, *, ready: bool = False) -> Iterator[Network]:
    """The ranges of all ServiceCIDRs; with ``ready`` only of those that addresses may be taken from.

    COMPAT: MetaAllocator.syncAllocators, isReady: one that nobody has said anything of is ready
    """
    try:
        found = server.lister(SERVICE_CIDRS).list()
    except KeyError:  # the kind is not served
        return
    for obj in (item.decode() for item in found):
        conditions = (obj.get("status") or {}).get("conditions") or ()
        refused = any(c.get("type") == "Ready" and c.get("status") != "True" for c in conditions)
        if ready and (refused or obj["metadata"].get("deletionTimestamp")):
            continue
        for cidr in (obj.get("spec") or {}).get("cidrs") or ():
            yield ipaddress.ip_network(cidr, strict=False)


class FamilyPool:
    """The addresses of one family: those of the configured range, and of ServiceCIDRs that were added to it.

    COMPAT: MetaAllocator
    """

    def __init__(self, server: Server, network: Network) -> None:
        self._server = server
        self._first = AddressPool(server, network)
        self.family = self._first.family

    def take(self, ip: str, namespace: str, name: str, dry_run: bool) -> None:
        """Take one certain address. :raises AllocationError: it is taken, or in none of the ranges."""
        address = ipaddress.ip_address(ip)
        pools = (pool for pool in self._pools() if address in pool.network)
        next(pools, self._first).take(ip, namespace, name, dry_run)

    def take_any(self, namespace: str, name: str, dry_run: bool) -> str:
        """Take any address. :raises AllocationError: there is none left."""
        for pool in self._pools():
            with contextlib.suppress(AllocationError):
                return pool.take_any(namespace, name, dry_run)
        raise AllocationError("range is full")

    def release(self, ip: str) -> None:
        """Give an address back; one that nobody holds is no error."""
        self._first.release(ip)

    def _pools(self) -> Iterator[AddressPool]:
        """The configured one first: the others are looked up only when it is of no use."""
        yield self._first
        for network in service_networks(self._server, ready=True):
            if network.version == self._first.network.version and network != self._first.network:
                yield AddressPool(self._server, network)


class AddressPool:
    """The addresses of one range.

    :param network: the first and (IPv4) the last address are not given out.
    """

    def __init__(self, server: Server, network: Network) -> None:
        self._server = server
        self.network = network
        self.family = f"IPv{network.version}"
        size = min(network.num_addresses, _LARGEST_IPV6)
        self._count = max(size - (2 if network.version == 4 else 1), 0)
        # COMPAT: the lower band is left to addresses that people choose, until the rest is used up
        self._static = 0 if size < 16 else min(max(16, size // 16), 256)

    def check(self, ip: str) -> None:
        """:raises AllocationError: ``ip`` is not one of this pool's."""
        address = ipaddress.ip_address(ip)
        if address not in self.network:
            raise AllocationError("the provided network does not match the current range")
        offset = int(address) - int(self.network.network_address)
        if not 1 <= offset <= self._count:
            raise AllocationError(f"the provided IP ({ip}) is not in the valid range")

    def take(self, ip: str, namespace: str, name: str, dry_run: bool) -> None:
        """Take one certain address. :raises AllocationError: it is taken, or not one of this pool's."""
        self.check(ip)
        if not self._create(ip, namespace, name, dry_run):
            raise AllocationError("provided IP is already allocated")

    def take_any(self, namespace: str, name: str, dry_run: bool) -> str:
        """Take any address. :raises AllocationError: there is none left."""
        upper = self._count - self._static
        for _ in range(_TRIES if upper > 0 else 0):
            ip = self._at(self._static + secrets.randbelow(upper))
            if self._create(ip, namespace, name, dry_run):
                return ip
        return self._search(namespace, name, dry_run)

    def restore(self, ip: str, namespace: str, name: str) -> None:
        """Note an address that is in use, in whatever range."""
        self._create(ip, namespace, name, dry_run=False)

    def release(self, ip: str) -> None:
        """Give an address back; one that nobody holds is no error."""
        try:
            self._store().delete(self._server.system_context(), _canonical(ip), DeleteOptions(), lambda _obj: None)
        except NotFound:
            return

    def _search(self, namespace: str, name: str, dry_run: bool) -> str:
        """When luck fails: try what the cache thinks is free, the upper band first."""
        used = {held.name for held in self._server.lister(ADDRESSES).list()}
        order = [*range(self._static, self._count), *range(self._static)] if self._count < 1 << 20 else []
        for offset in order:
            ip = self._at(offset)
            if ip not in used and self._create(ip, namespace, name, dry_run):
                return ip
        raise AllocationError("range is full")

    def _at(self, offset: int) -> str:
        return str(self.network.network_address + 1 + offset)

    def _store(self) -> Any:
        return self._server.store(ADDRESSES)

    def _create(self, ip: str, namespace: str, name: str, dry_run: bool) -> bool:
        """Whether the address was free."""
        obj = {
            "apiVersion": "networking.k8s.io/v1",
            "kind": "IPAddress",
            "metadata": {"name": _canonical(ip), "labels": {FAMILY_LABEL: self.family, MANAGER_LABEL: MANAGER}},
            "spec": {"parentRef": {"resource": "services", "namespace": namespace, "name": name}},
        }
        try:
            options = WriteOptions(dry_run=dry_run)
            self._store().create(self._server.system_context(), obj, options, lambda _obj, _old: None)
        except AlreadyExists:
            return False
        return True


def _canonical(ip: str) -> str:
    return str(ipaddress.ip_address(ip))
