"""HTTP requests to one of a service's endpoints: ``services/x/proxy``, ``services/https:x:web/proxy/path``.

COMPAT: pkg/registry/core/service/storage ResourceLocation
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from apiserver.api.connect import Connection
from apiserver.api.errors import ServiceUnavailable
from apiserver.api.names import GroupResource, GroupVersionKind
from apiserver.api.resource import Resource, Subresource
from apiserver.api.rest import Context, GetOptions
from apiserver.api.server import Server, WsgiApp
from apiserver_plugins.resources.common.connecting import PROXIED, Object, hand_on, proxied, target

SLICES = GroupResource("discovery.k8s.io", "endpointslices")
SERVICE_NAME = "kubernetes.io/service-name"


class ServiceProxy:
    """Storage of ``services/x/proxy``."""

    methods = PROXIED

    def __init__(self, server: Server, resource: Resource) -> None:
        self._server = server
        self._resource = resource.group_resource

    def connect_options(self, ctx: Context, path: str) -> Object:
        """The path below the service."""
        return {"path": path} if path else {}

    def connect(self, ctx: Context, name: str, path: str) -> WsgiApp:
        """:raises NotFound: / :raises BadRequest: / :raises ServiceUnavailable: no such port, or nobody serves it."""
        where = target(name, "service")
        service = self._server.store(self._resource).get(ctx, where.name, GetOptions()).decode()
        ready = list(self._ready(ctx.namespace, where.name, _port_name(service, where.port)))
        if not ready:
            raise ServiceUnavailable(f'no endpoints available for service "{name}"')
        address, port = random.choice(ready)  # noqa: S311 - which one is no secret
        location = where.location(proxied(address), port, path)
        connection = Connection(ctx, "services/proxy", service, self.connect_options(ctx, path), location)
        return hand_on(self._server, connection, location)

    def _ready(self, namespace: str, name: str, port_name: str) -> Iterator[tuple[str, str]]:
        """Addresses and ports that take requests."""
        try:
            found = self._server.lister(SLICES).list(namespace, {SERVICE_NAME: name})
        except KeyError:
            return
        for encoded in found:
            part = encoded.decode()
            port = next((p.get("port") for p in part.get("ports") or () if (p.get("name") or "") == port_name), None)
            if port is None:
                continue
            for endpoint in part.get("endpoints") or ():
                if (endpoint.get("conditions") or {}).get("ready") is not False:
                    yield from ((address, str(port)) for address in endpoint.get("addresses") or ())


def _port_name(service: Object, port: str) -> str:
    """The name of the port that was asked for by name or by number."""
    if not port.isdecimal():
        return port
    for one in (service.get("spec") or {}).get("ports") or ():
        if one.get("port") == int(port):
            name: str = one.get("name") or ""
            return name
    name = service["metadata"]["name"]
    raise ServiceUnavailable(f'no service port {port} found for service "{name}"')


PROXY = Subresource("proxy", kind=GroupVersionKind("", "v1", "ServiceProxyOptions"), storage=ServiceProxy)
