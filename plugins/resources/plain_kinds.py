"""Kinds that have no rules beyond their schema: a line for each.

A kind that gets rules moves to a file of its own in the folder of its group.
"""

from __future__ import annotations

from collections.abc import Iterable

from apiserver import hookimpl
from apiserver.api.resource import Column, Resource
from apiserver.api.server import Server
from apiserver_plugins.resources.common.columns import AGE, cell
from apiserver_plugins.resources.common.declarations import declare

KINDS = """
#GROUP/VERSION     KIND          PLURAL          SCOPE       SHORT NAMES   CATEGORIES
node.k8s.io/v1     RuntimeClass  runtimeclasses  Cluster     -             -
"""

MORE = {
    "RuntimeClass": {"columns": (Column("Handler", cell("handler"), field="handler"), AGE)},
}


@hookimpl
def apiserver_resources(server: Server) -> Iterable[Resource]:
    return declare(KINDS, MORE)
