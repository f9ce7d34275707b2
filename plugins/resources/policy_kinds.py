"""Kinds of ``policy/v1``, ``scheduling.k8s.io/v1`` and ``node.k8s.io/v1``, whose rules are imported when needed."""

from __future__ import annotations

from collections.abc import Iterable

from apiserver import hookimpl
from apiserver.api.resource import Resource
from apiserver.api.server import Server
from apiserver_plugins.resources.common.declarations import declare
from apiserver_plugins.resources.common.deferred import ruled

KINDS = """
#GROUP/VERSION        KIND                 PLURAL                SCOPE       SHORT NAMES  CATEGORIES
policy/v1             PodDisruptionBudget  poddisruptionbudgets  Namespaced  pdb          -
scheduling.k8s.io/v1  PriorityClass        priorityclasses       Cluster     pc           -
node.k8s.io/v1        RuntimeClass         runtimeclasses        Cluster     -            -
"""


@hookimpl
def apiserver_resources(server: Server) -> Iterable[Resource]:
    return declare(
        KINDS,
        {
            "PodDisruptionBudget": ruled("policy_v1.poddisruptionbudgets", status=True),
            "PriorityClass": ruled("scheduling_v1.priorityclasses"),
            "RuntimeClass": ruled("node_v1.runtimeclasses"),
        },
    )
