"""Sharing the streams of a container that runs: ``pods/x/attach``.

COMPAT: pkg/registry/core/pod/rest AttachREST; pkg/registry/core/pod AttachLocation
"""

from __future__ import annotations

from apiserver.api.connect import Connection
from apiserver.api.names import GroupVersionKind
from apiserver.api.resource import Resource, Subresource
from apiserver.api.rest import Context, GetOptions
from apiserver.api.server import Server, WsgiApp
from apiserver_plugins.resources.common.connecting import STREAMED, Object, boolean, hand_to_kubelet, options, text
from apiserver_plugins.resources.core_v1.pod.containers import container_of, node_of

OPTIONS = {"stdin": boolean, "stdout": boolean, "stderr": boolean, "tty": boolean, "container": text}


class PodAttach:
    """Storage of ``pods/x/attach``."""

    methods = STREAMED

    def __init__(self, server: Server, resource: Resource) -> None:
        self._server = server
        self._resource = resource.group_resource

    def connect_options(self, ctx: Context, path: str) -> Object:
        """:raises BadRequest: the query can't be read."""
        return options(ctx, OPTIONS)

    def connect(self, ctx: Context, name: str, path: str) -> WsgiApp:
        """:raises NotFound: / :raises BadRequest: the container is unclear, or the pod is on no node."""
        pod = self._server.store(self._resource).get(ctx, name, GetOptions()).decode()
        given = self.connect_options(ctx, path)
        given["container"] = container_of(pod, given.get("container", ""))
        return hand_to_kubelet(self._server, Connection(ctx, "pods/attach", pod, given), node_of(pod), upgrade=True)


ATTACH = Subresource("attach", kind=GroupVersionKind("", "v1", "PodAttachOptions"), storage=PodAttach)
