"""HTTP requests to a pod: ``pods/x/proxy``, ``pods/https:x:8443/proxy/path``.

COMPAT: pkg/registry/core/pod/rest ProxyREST; pkg/registry/core/pod ResourceLocation
"""

from __future__ import annotations

from apiserver.api.connect import Connection
from apiserver.api.names import GroupVersionKind
from apiserver.api.resource import Resource, Subresource
from apiserver.api.rest import Context, GetOptions
from apiserver.api.server import Server, WsgiApp
from apiserver_plugins.resources.common.connecting import PROXIED, Object, hand_on, proxied, target


class PodProxy:
    """Storage of ``pods/x/proxy``."""

    methods = PROXIED

    def __init__(self, server: Server, resource: Resource) -> None:
        self._server = server
        self._resource = resource.group_resource

    def connect_options(self, ctx: Context, path: str) -> Object:
        """The path below the pod."""
        return {"path": path} if path else {}

    def connect(self, ctx: Context, name: str, path: str) -> WsgiApp:
        """:raises NotFound: / :raises BadRequest: the name makes no sense, or the pod has no proper address."""
        where = target(name, "pod")
        pod = self._server.store(self._resource).get(ctx, where.name, GetOptions()).decode()
        port = where.port or _first_port(pod)
        address = proxied(((pod.get("status") or {}).get("podIPs") or [{}])[0].get("ip", ""))
        location = where.location(address, port, path)
        connection = Connection(ctx, "pods/proxy", pod, self.connect_options(ctx, path), location)
        return hand_on(self._server, connection, location)


def _first_port(pod: Object) -> str:
    ports = (c["ports"][0].get("containerPort", 0) for c in pod["spec"].get("containers") or () if c.get("ports"))
    return str(next(ports, ""))


PROXY = Subresource("proxy", kind=GroupVersionKind("", "v1", "PodProxyOptions"), storage=PodProxy)
