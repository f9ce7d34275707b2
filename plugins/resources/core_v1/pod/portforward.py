"""Connections to ports of a pod: ``pods/x/portforward``.

COMPAT: pkg/registry/core/pod/rest PortForwardREST; pkg/registry/core/pod PortForwardLocation
"""

from __future__ import annotations

from apiserver.api.connect import Connection
from apiserver.api.names import GroupVersionKind
from apiserver.api.resource import Resource, Subresource
from apiserver.api.rest import Context, GetOptions
from apiserver.api.server import Server, WsgiApp
from apiserver_plugins.resources.common.connecting import STREAMED, Object, hand_to_kubelet, integers, options
from apiserver_plugins.resources.core_v1.pod.containers import node_of

OPTIONS = {"ports": integers}


class PodPortForward:
    """Storage of ``pods/x/portforward``."""

    methods = STREAMED

    def __init__(self, server: Server, resource: Resource) -> None:
        self._server = server
        self._resource = resource.group_resource

    def connect_options(self, ctx: Context, path: str) -> Object:
        """:raises BadRequest: the query can't be read."""
        return options(ctx, OPTIONS)

    def connect(self, ctx: Context, name: str, path: str) -> WsgiApp:
        """:raises NotFound: / :raises BadRequest: the pod is on no node."""
        pod = self._server.store(self._resource).get(ctx, name, GetOptions()).decode()
        connection = Connection(ctx, "pods/portforward", pod, self.connect_options(ctx, path))
        return hand_to_kubelet(self._server, connection, node_of(pod), upgrade=True)


PORTFORWARD = Subresource(
    "portforward", kind=GroupVersionKind("", "v1", "PodPortForwardOptions"), storage=PodPortForward
)
