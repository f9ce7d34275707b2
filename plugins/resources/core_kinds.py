"""Kinds of ``v1`` whose rules are imported when they are needed; the most used ones are plugins of their own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from apiserver import hookimpl
from apiserver.api.resource import Resource
from apiserver.api.server import Server
from apiserver_plugins.resources.common.declarations import declare
from apiserver_plugins.resources.common.deferred import ruled
from apiserver_plugins.resources.common.scale import scale_subresource
from apiserver_plugins.resources.core_v1.node.proxy import PROXY

# The storage prefixes are those that kube-apiserver uses in etcd.
KINDS = """
#GROUP/VERSION  KIND                   PLURAL                  SCOPE       SHORT NAMES  CATEGORIES
v1              Endpoints              endpoints               Namespaced  ep           -
v1              LimitRange             limitranges             Namespaced  limits       -
v1              Node                   nodes                   Cluster     no           -
v1              PersistentVolume       persistentvolumes       Cluster     pv           -
v1              PersistentVolumeClaim  persistentvolumeclaims  Namespaced  pvc          -
v1              PodTemplate            podtemplates            Namespaced  -            -
v1              ReplicationController  replicationcontrollers  Namespaced  rc           all
v1              ResourceQuota          resourcequotas          Namespaced  quota        -
"""


def _map_selector(obj: dict[str, Any]) -> dict[str, Any]:
    return {"matchLabels": (obj.get("spec") or {}).get("selector") or {}}


@hookimpl
def apiserver_resources(server: Server) -> Iterable[Resource]:
    return declare(
        KINDS,
        {
            "Endpoints": {
                **ruled("core_v1.endpoints"),
                "storage_prefix": "services/endpoints",
                "deprecated": "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
            },
            "LimitRange": ruled("core_v1.limitranges", columns=False),
            "Node": {
                **ruled("core_v1.nodes", status=True, also=(PROXY,), fields="spec.unschedulable"),
                "storage_prefix": "minions",
            },
            "PersistentVolume": ruled("core_v1.persistentvolumes", status=True),
            "PersistentVolumeClaim": ruled("core_v1.persistentvolumeclaims", status=True),
            "PodTemplate": ruled("core_v1.podtemplates"),
            "ReplicationController": {
                **ruled(
                    "core_v1.replicationcontrollers",
                    status=True,
                    also=(scale_subresource(_map_selector),),
                    fields="status.replicas",
                ),
                "storage_prefix": "controllers",
            },
            "ResourceQuota": ruled("core_v1.resourcequotas", status=True),
        },
    )
