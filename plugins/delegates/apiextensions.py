"""The delegate of custom resources: it answers for what CustomResourceDefinitions declare.

Which ones are served, and who looks after the definitions, is in :mod:`apiserver_plugins.apiextensions`. Without this
plugin definitions can be stored, and nothing comes of them.

COMPAT: the last of kube-apiserver's three chained servers, apiextensions-apiserver
"""

from __future__ import annotations

from collections.abc import Callable

from apiserver import hookimpl
from apiserver.api.names import GroupVersionResource
from apiserver.api.request import Request
from apiserver.api.server import DelegateMatch, Server
from apiserver_plugins.apiextensions.controller import Controller
from apiserver_plugins.apiextensions.serving import DEFINITIONS, NAME, Serving


@hookimpl(priority=300)
def apiserver_delegate(server: Server) -> Callable[[Request], DelegateMatch | None] | None:
    """Claims requests for custom resources; None where there are no definitions."""
    if server.resource(GroupVersionResource(DEFINITIONS.group, "v1", DEFINITIONS.resource)) is None:
        return None
    serving = Serving(server)
    server.post_start_hook("crd-informer-synced", serving.follow)
    server.background(NAME, Controller(server, serving).run)
    return serving.claim
