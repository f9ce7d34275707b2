"""Connections into pods, nodes and services: what is asked for, and who serves it.

kube-apiserver hands these on to kubelets, or into the network of pods. This server has neither; it checks what can be
checked and then asks the plugins that implement ``apiserver_connecters``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from apiserver.api.errors import ServiceUnavailable

if TYPE_CHECKING:
    from apiserver.api.rest import Context
    from apiserver.api.server import WsgiApp


class Connection:
    """Somebody wants to be connected, may be, and what for makes sense.

    ``subresource`` is such as ``pods/exec``. ``object`` is the pod, node or service. ``options`` are the query's, by
    their names in the options kind (``PodExecOptions``), with ``container`` filled in where there is only one.
    ``location`` is where a proxied request goes, ``http://10.0.0.7:8080`` and the path; "" for the others.
    """

    def __init__(
        self, ctx: Context, subresource: str, obj: dict[str, Any], options: dict[str, Any], location: str = ""
    ) -> None:
        self.ctx = ctx
        self.subresource = subresource
        self.object = obj
        self.options = options
        self.location = location


Connect = Callable[[Connection], "WsgiApp"]
"""Serves a connection: returns the WSGI app that answers the request (``connection.ctx.request``)."""


def unconnected(subresource: str, what: str) -> ServiceUnavailable:
    """What is answered when no plugin serves a subresource.

    :param what: what can't be reached.
    """
    return ServiceUnavailable(
        f"cannot reach {what}: this server does not connect to nodes and pods itself, "
        f"and no plugin serves {subresource} (hook apiserver_connecters)"
    )
