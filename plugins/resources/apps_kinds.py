"""Kinds of ``apps/v1`` whose rules are imported when they are needed; the most used ones are plugins of their own."""

from __future__ import annotations

from collections.abc import Iterable

from apiserver import hookimpl
from apiserver.api.resource import Resource
from apiserver.api.server import Server
from apiserver_plugins.resources.common.declarations import declare
from apiserver_plugins.resources.common.deferred import ruled
from apiserver_plugins.resources.common.scale import scale_subresource

KINDS = """
#GROUP/VERSION  KIND                PLURAL               SCOPE       SHORT NAMES  CATEGORIES
apps/v1         ControllerRevision  controllerrevisions  Namespaced  -            -
apps/v1         DaemonSet           daemonsets           Namespaced  ds           all
apps/v1         StatefulSet         statefulsets         Namespaced  sts          all
"""


@hookimpl
def apiserver_resources(server: Server) -> Iterable[Resource]:
    return declare(
        KINDS,
        {
            "ControllerRevision": ruled("apps_v1.controllerrevisions"),
            "DaemonSet": ruled("apps_v1.daemonsets", status=True),
            "StatefulSet": ruled("apps_v1.statefulsets", status=True, also=(scale_subresource(),)),
        },
    )
