"""HTTP requests to a kubelet: ``nodes/x/proxy``, ``nodes/https:x:10250/proxy/path``.

COMPAT: pkg/registry/core/node/rest ProxyREST; pkg/registry/core/node ResourceLocation
"""

from __future__ import annotations

from apiserver.api.connect import Connection
from apiserver.api.names import GroupVersionKind
from apiserver.api.resource import Resource, Subresource
from apiserver.api.rest import Context, GetOptions
from apiserver.api.server import Server, WsgiApp
from apiserver_plugins.resources.common.connecting import PROXIED, Object, hand_to_kubelet, target

KUBELET_PORT = "10250"


class NodeProxy:
    """Storage of ``nodes/x/proxy``."""

    methods = PROXIED

    def __init__(self, server: Server, resource: Resource) -> None:
        self._server = server
        self._resource = resource.group_resource

    def connect_options(self, ctx: Context, path: str) -> Object:
        """The path below the kubelet."""
        return {"path": path} if path else {}

    def connect(self, ctx: Context, name: str, path: str) -> WsgiApp:
        """:raises NotFound: / :raises BadRequest: the name makes no sense."""
        where = target(name, "node")
        node = self._server.store(self._resource).get(ctx, where.name, GetOptions()).decode()
        addresses = (node.get("status") or {}).get("addresses") or [{}]
        host, port = addresses[0].get("address") or where.name, where.port or KUBELET_PORT
        location = where.location(host, port, path, scheme="https")
        connection = Connection(ctx, "nodes/proxy", node, self.connect_options(ctx, path), location)
        return hand_to_kubelet(self._server, connection, where.name)


PROXY = Subresource("proxy", kind=GroupVersionKind("", "v1", "NodeProxyOptions"), storage=NodeProxy)
