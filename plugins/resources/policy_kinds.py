"""Kinds of ``policy/v1``, ``scheduling.k8s.io/v1`` and ``node.k8s.io/v1``, whose rules are imported when needed."""

from __future__ import annotations

from collections.abc import Iterable

from apiserver import hookimpl
from apiserver.api.resource import FeatureGate, Resource, Subresource
from apiserver.api.server import Server
from apiserver.api.strategy import SpecStatusStrategy
from apiserver_plugins.resources.common.declarations import declare
from apiserver_plugins.resources.common.deferred import ruled

KINDS = """
#GROUP/VERSION              KIND                 PLURAL                SCOPE       SHORT NAMES  CATEGORIES  SINCE
policy/v1                   PodDisruptionBudget  poddisruptionbudgets  Namespaced  pdb          -
scheduling.k8s.io/v1        PriorityClass        priorityclasses       Cluster     pc           -
scheduling.k8s.io/v1beta1   Workload             workloads             Namespaced  -            -           1.37
scheduling.k8s.io/v1alpha3  Workload             workloads             Namespaced  -            -           1.37
scheduling.k8s.io/v1alpha2  Workload             workloads             Namespaced  -            -           1.36
scheduling.k8s.io/v1alpha1  Workload             workloads             Namespaced  -            -           1.35
scheduling.k8s.io/v1beta1   PodGroup             podgroups             Namespaced  -            -           1.37
scheduling.k8s.io/v1alpha3  PodGroup             podgroups             Namespaced  -            -           1.37
scheduling.k8s.io/v1alpha2  PodGroup             podgroups             Namespaced  -            -           1.36
scheduling.k8s.io/v1alpha3  CompositePodGroup    compositepodgroups    Namespaced  -            -           1.37
node.k8s.io/v1              RuntimeClass         runtimeclasses        Cluster     -            -
"""


@hookimpl
def apiserver_resources(server: Server) -> Iterable[Resource]:
    groups = FeatureGate("GenericWorkload")
    grouped = {"strategy": SpecStatusStrategy(), "subresources": (Subresource("status"),), "gate": groups}
    return declare(
        KINDS,
        {
            "PodDisruptionBudget": ruled("policy_v1.poddisruptionbudgets", status=True),
            "PriorityClass": ruled("scheduling_v1.priorityclasses"),
            "RuntimeClass": ruled("node_v1.runtimeclasses"),
            "Workload": {"gate": groups},
            "PodGroup": grouped,
            "CompositePodGroup": grouped,
        },
    )
