"""What a Service takes from the cluster's pools when it is created or changed, and what it gives back.

The strategy calls :meth:`Allocators.create` and :meth:`Allocators.update` before anything is checked, and gets a
function that settles the matter when the write has ended.

COMPAT: pkg/registry/core/service/storage/alloc.go
"""

from __future__ import annotations

import functools
import ipaddress
from collections.abc import Callable, Sequence
from typing import Any

from apiserver.api.errors import InternalError, Invalid
from apiserver.api.fields import FieldError, Path
from apiserver.api.names import GroupKind
from apiserver.api.server import Server
from apiserver_plugins.resources.core_v1.service import needs
from apiserver_plugins.resources.core_v1.service.addresses import AllocationError, FamilyPool, Network
from apiserver_plugins.resources.core_v1.service.families import init_families
from apiserver_plugins.resources.core_v1.service.needs import Spec
from apiserver_plugins.resources.core_v1.service.nodeports import PortPool, parse_range

Object = dict[str, Any]
_SPEC = Path("spec")


class Taken:
    """What one write has taken so far and will give back when it succeeds."""

    def __init__(self, ports: PortPool, dry_run: bool) -> None:
        self._pool = ports
        self.dry_run = dry_run
        self.ports: set[int] = set()
        self.freed_ports: set[int] = set()
        self.ips: list[tuple[FamilyPool, str]] = []
        self.freed_ips: list[tuple[FamilyPool, str]] = []

    def port(self, port: int) -> None:
        """Take a certain port. :raises AllocationError:"""
        self._pool.take(port, self.dry_run)
        self.ports.add(port)

    def any_port(self) -> int:
        """Take any port. :raises AllocationError:"""
        port = self._pool.take_any(self.ports if self.dry_run else set(), self.dry_run)
        self.ports.add(port)
        return port

    def settle(self, stored: bool) -> None:
        """Give back what is not needed: the old on success, the new on failure."""
        if self.dry_run:
            return
        ports, ips = (self.freed_ports, self.freed_ips) if stored else (self.ports, self.ips)
        self._pool.release(ports)
        for pool, ip in ips:
            pool.release(ip)


class Allocators:
    """The pools of one server, made from its settings when they are first needed."""

    def __init__(self, server: Server) -> None:
        self._server = server

    @functools.cached_property
    def networks(self) -> Sequence[Network]:
        """The configured ranges, the default family's first."""
        ranges = self._server.config.strings("service-cluster-ip-range")
        return [ipaddress.ip_network(text, strict=False) for text in ranges]

    @functools.cached_property
    def pools(self) -> dict[str, FamilyPool]:
        """Address pools by family, the default family first."""
        pools = (FamilyPool(self._server, network) for network in self.networks)
        return {pool.family: pool for pool in pools}

    @functools.cached_property
    def ports(self) -> PortPool:
        """The node ports."""
        return PortPool(self._server, *parse_range(self._server.config.text("service-node-port-range")))

    @property
    def families(self) -> Sequence[str]:
        """The families this cluster has, the default one first."""
        return tuple(self.pools)

    def create(self, obj: Object, dry_run: bool) -> Callable[[bool], None]:
        """:raises ApiError: something is not to be had; nothing stays taken then."""
        init_families(obj, None, self.families)
        return self._attempt(dry_run, lambda taken: self._create(obj, taken))

    def update(self, obj: Object, old: Object, dry_run: bool) -> Callable[[bool], None]:
        """:raises ApiError: something is not to be had; nothing stays taken then."""
        init_families(obj, old, self.families)
        return self._attempt(dry_run, lambda taken: self._update(obj, old, taken))

    def release(self, obj: Object) -> None:
        """Give back all that a deleted Service had. COMPAT: releaseAllocatedResources."""
        spec = needs.spec_of(obj)
        taken = Taken(self.ports, dry_run=False)
        taken.freed_ports = _ports_of(spec)
        taken.freed_ips = self._held(spec)
        taken.settle(True)

    def _attempt(self, dry_run: bool, work: Callable[[Taken], None]) -> Callable[[bool], None]:
        taken = Taken(self.ports, dry_run)
        try:
            work(taken)
        except BaseException:
            taken.settle(False)
            raise
        return taken.settle

    # -- create -------------------------------------------------------------------------------------------------------

    def _create(self, obj: Object, taken: Taken) -> None:
        spec = needs.spec_of(obj)
        self._take_ips(obj, taken)
        if needs.node_ports(spec):
            _init_node_ports(obj, taken)
        if needs.health_check_port(spec):
            _health_check_port(spec, taken)

    def _take_ips(self, obj: Object, taken: Taken) -> None:
        """An address for every family that has none yet."""
        spec = needs.spec_of(obj)
        if not needs.cluster_ip(spec) or needs.headless(spec):
            return
        ips = list(spec.get("clusterIPs") or ())
        for i, family in enumerate(spec.get("ipFamilies") or ()):
            if i < len(ips):
                self._take_ip(obj, family, ips[i], taken)
            else:
                ips.append(self._take_ip(obj, family, "", taken))
        spec["clusterIPs"], spec["clusterIP"] = ips, ips[0]

    def _take_ip(self, obj: Object, family: str, ip: str, taken: Taken) -> str:
        pool, meta = self.pools[family], obj["metadata"]
        owner = (meta.get("namespace", ""), meta.get("name", ""))
        try:
            if ip:
                pool.take(ip, *owner, taken.dry_run)
            else:
                ip = pool.take_any(*owner, taken.dry_run)
        except AllocationError as ex:
            if not ip:
                raise InternalError(f"failed to allocate a serviceIP: {ex}") from None
            ips = needs.spec_of(obj).get("clusterIPs")
            raise _invalid(obj, _SPEC / "clusterIPs", ips, f"failed to allocate IP {ip}: {ex}") from None
        taken.ips.append((pool, ip))
        return ip

    # -- update -------------------------------------------------------------------------------------------------------

    def _update(self, obj: Object, old: Object, taken: Taken) -> None:
        self._update_ips(obj, old, taken)
        spec, before = needs.spec_of(obj), needs.spec_of(old)
        if needs.node_ports(spec):
            _update_node_ports(obj, before, taken)
        elif needs.node_ports(before):
            taken.freed_ports |= _node_ports_of(before)
        _update_health_check_port(spec, before, taken)

    def _update_ips(self, obj: Object, old: Object, taken: Taken) -> None:
        spec, before = needs.spec_of(obj), needs.spec_of(old)
        if not needs.cluster_ip(before) and needs.cluster_ip(spec):
            self._take_ips(obj, taken)
            return
        if needs.headless(before):
            return
        if needs.cluster_ip(before) and not needs.cluster_ip(spec):
            taken.freed_ips += self._held(before)
            return
        had, have = len(before.get("ipFamilies") or ()), len(spec.get("ipFamilies") or ())
        if had == 1 and have == 2:
            ips = list(spec.get("clusterIPs") or ())
            wanted = ips[1] if len(ips) > 1 else ""
            spec["clusterIPs"] = [*ips[:1], self._take_ip(obj, spec["ipFamilies"][1], wanted, taken)]
        elif had == 2 and have == 1:
            taken.freed_ips += self._held(before)[1:]

    def _held(self, spec: Spec) -> list[tuple[FamilyPool, str]]:
        if needs.headless(spec) or not needs.cluster_ip(spec):
            return []
        pairs = zip(spec.get("ipFamilies") or (), spec.get("clusterIPs") or (), strict=False)
        return [(self.pools[family], ip) for family, ip in pairs if family in self.pools]


# -- node ports -------------------------------------------------------------------------------------------------------


def _invalid(obj: Object, path: str, value: Any, text: str) -> Invalid:
    name = obj["metadata"].get("name", "")
    return Invalid(GroupKind("", "Service"), name, [FieldError.invalid(path, value, text)])


def _node_ports_of(spec: Spec) -> set[int]:
    return {port["nodePort"] for port in spec.get("ports") or () if port.get("nodePort")}


def _ports_of(spec: Spec) -> set[int]:
    check = spec.get("healthCheckNodePort")
    return _node_ports_of(spec) | ({check} if check else set())


def _take_port(obj: Object, i: int, port: int, taken: Taken) -> None:
    try:
        taken.port(port)
    except AllocationError as ex:
        raise _invalid(obj, _SPEC / "ports" / i / "nodePort", port, str(ex)) from None


def _any_port(taken: Taken) -> int:
    try:
        return taken.any_port()
    except AllocationError as ex:
        raise InternalError(f"failed to allocate a nodePort: {ex}") from None


def _init_node_ports(obj: Object, taken: Taken) -> None:
    """The same port number gets the same node port for every protocol. COMPAT: initNodePorts."""
    spec = needs.spec_of(obj)
    wanted: dict[int, int] = {}
    for port in spec.get("ports") or ():
        if port.get("nodePort"):
            wanted.setdefault(port.get("port", 0), port["nodePort"])
    found: dict[int, int] = {}
    for i, port in enumerate(spec.get("ports") or ()):
        number, asked = port.get("port", 0), port.get("nodePort") or 0
        if not asked and not needs.wants_node_ports(spec):
            continue
        if number not in found:
            found[number] = wanted.get(number, 0)
            if found[number]:
                _take_port(obj, i, found[number], taken)
            else:
                found[number] = _any_port(taken)
        elif asked and asked != found[number]:
            _take_port(obj, i, asked, taken)
            continue
        port["nodePort"] = found[number]


def _update_node_ports(obj: Object, old: Spec, taken: Taken) -> None:
    """COMPAT: updateNodePorts."""
    spec, before = needs.spec_of(obj), _node_ports_of(old)
    for i, port in enumerate(spec.get("ports") or ()):
        asked = port.get("nodePort") or 0
        if asked:
            if asked not in before and asked not in taken.ports:
                _take_port(obj, i, asked, taken)
        elif needs.wants_node_ports(spec):
            port["nodePort"] = _any_port(taken)
    taken.freed_ports |= before - _node_ports_of(spec)


def _health_check_port(spec: Spec, taken: Taken) -> None:
    asked = spec.get("healthCheckNodePort") or 0
    try:
        if asked:
            taken.port(asked)
        else:
            spec["healthCheckNodePort"] = taken.any_port()
    except AllocationError as ex:
        wanted = f"requested HealthCheck NodePort {asked}" if asked else "a HealthCheck NodePort 0"
        raise InternalError(f"failed to allocate {wanted}: {ex}") from None


def _update_health_check_port(spec: Spec, old: Spec, taken: Taken) -> None:
    """COMPAT: updateHealthCheckNodePort."""
    needed, need = needs.health_check_port(old), needs.health_check_port(spec)
    if need and not needed:
        _health_check_port(spec, taken)
    elif needed and not need and old.get("healthCheckNodePort"):
        taken.freed_ports.add(old["healthCheckNodePort"])
