"""Where the service ``kubernetes`` is served: its Endpoints and EndpointSlices, made of the addresses of all servers.

Called by :mod:`apiserver_plugins.controllers.kubernetes_service` again and again; what is right is left alone.

COMPAT: pkg/controlplane/reconcilers/endpointsadapter.go
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from typing import Any

from apiserver.api.encoded import EncodedObject
from apiserver.api.names import GroupResource
from apiserver.api.rest import DeleteOptions
from apiserver.api.server import Server
from apiserver_plugins.controllers.changing import change, create

NAMESPACE, NAME = "default", "kubernetes"
ENDPOINTS = GroupResource("", "endpoints")
SLICES = GroupResource("discovery.k8s.io", "endpointslices")
SERVICE_LABEL = "kubernetes.io/service-name"
NO_MIRROR = {"endpointslice.kubernetes.io/skip-mirror": "true"}
PORT_NAME = "https"

Object = dict[str, Any]


def family_of(text: str) -> str:
    """``IPv4`` or ``IPv6``, of an address or a range."""
    return f"IPv{ipaddress.ip_network(text, strict=False).version}"


class Publisher:
    """Keeps the objects.

    :param families: of the service addresses, the default one first.
    :param port: on which all servers are reached.
    """

    def __init__(self, server: Server, families: list[str], port: int) -> None:
        self._server = server
        self._families = families
        self._port = port
        self._own_ports = True

    def publish(self, addresses: Iterable[str]) -> None:
        """Make the objects say ``addresses``.

        :raises ApiError: they can't be stored; somebody else may have been faster.
        """
        by_family: dict[str, list[str]] = {family: [] for family in self._families}
        for address in sorted(addresses):
            by_family.setdefault(family_of(address), []).append(address)
        if len({len(by_family[family]) for family in self._families}) > 1:
            # COMPAT: the second family is told only if all servers have it
            for family in self._families[1:]:
                by_family[family] = []
        self._endpoints(by_family[self._families[0]])
        self._slices(by_family)
        self._own_ports = False

    def _endpoints(self, addresses: list[str]) -> None:
        found = self._server.lister(ENDPOINTS).get(NAMESPACE, NAME)
        subsets = found.decode().get("subsets") or [{}] if found is not None else [{}]
        ports = self._ports(subsets[0].get("ports") or [])
        told = [{"addresses": [{"ip": ip} for ip in addresses], "ports": ports}] if addresses else []
        self._keep(ENDPOINTS, found, {"kind": "Endpoints", "apiVersion": "v1"}, NAME, NO_MIRROR, {"subsets": told})

    def _slices(self, by_family: dict[str, list[str]]) -> None:
        names = {NAME: self._families[0]}
        for family in self._families[1:]:
            names[f"{NAME}-v{family[-1]}"] = family
        labels = {SERVICE_LABEL: NAME}
        slices = {found.name: found for found in self._server.lister(SLICES).list(NAMESPACE, labels)}
        for found in list(slices.values()):
            if names.get(found.name) != found.decode().get("addressType"):
                context = self._server.system_context(NAMESPACE)
                self._server.store(SLICES).delete(context, found.name, DeleteOptions(), lambda _obj: None)
                del slices[found.name]
        for name, family in names.items():
            present = slices.get(name)
            endpoints = [{"addresses": [ip], "conditions": {"ready": True}} for ip in by_family[family]]
            ports = self._ports((present.decode().get("ports") or []) if present is not None else [])
            body = {"kind": "EndpointSlice", "apiVersion": "discovery.k8s.io/v1", "addressType": family}
            self._keep(SLICES, present, body, name, labels, {"endpoints": endpoints, "ports": ports})

    def _ports(self, present: list[Object]) -> list[Object]:
        """COMPAT: ports are set right once; servers with different ones would change them in turns."""
        own = [{"name": PORT_NAME, "port": self._port, "protocol": "TCP"}]
        return own if self._own_ports or not present else present

    def _keep(
        self,
        resource: GroupResource,
        found: EncodedObject | None,
        body: Object,
        name: str,
        labels: dict[str, str],
        content: Object,
    ) -> None:
        if found is None:
            metadata = {"name": name, "namespace": NAMESPACE, "labels": dict(labels)}
            create(self._server, resource, {**body, "metadata": metadata, **content})
        elif not _says(found, labels, content):

            def apply(obj: Object) -> None:
                obj["metadata"]["labels"] = dict(labels)
                obj.update(content)

            change(self._server, resource, NAMESPACE, name, apply)


def _says(found: EncodedObject, labels: dict[str, str], content: Object) -> bool:
    obj = found.decode()
    return dict(found.labels) == labels and all((obj.get(field) or []) == value for field, value in content.items())
