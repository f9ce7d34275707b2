"""Kinds of ``networking.k8s.io/v1`` and ``discovery.k8s.io/v1`` whose rules are imported when they are needed."""

from __future__ import annotations

from collections.abc import Iterable

from apiserver import hookimpl
from apiserver.api.resource import Resource
from apiserver.api.server import Server
from apiserver_plugins.resources.common.declarations import declare
from apiserver_plugins.resources.common.deferred import ruled

KINDS = """
#GROUP/VERSION              KIND           PLURAL           SCOPE       SHORT NAMES  CATEGORIES  SINCE
networking.k8s.io/v1        Ingress        ingresses        Namespaced  ing          -
networking.k8s.io/v1        IngressClass   ingressclasses   Cluster     -            -
networking.k8s.io/v1        NetworkPolicy  networkpolicies  Namespaced  netpol       -
networking.k8s.io/v1        ServiceCIDR    servicecidrs     Cluster     -            -           1.33
networking.k8s.io/v1beta1   ServiceCIDR    servicecidrs     Cluster     -            -           1.31
networking.k8s.io/v1alpha1  ServiceCIDR    servicecidrs     Cluster     -            -           1.29
networking.k8s.io/v1alpha1  ClusterCIDR    clustercidrs     Cluster     cc           -           1.25
discovery.k8s.io/v1         EndpointSlice  endpointslices   Namespaced  -            -
"""


@hookimpl
def apiserver_resources(server: Server) -> Iterable[Resource]:
    return declare(
        KINDS,
        {
            # COMPAT: where kube-apiserver keeps them in etcd
            "Ingress": {**ruled("networking_v1.ingresses", status=True), "storage_prefix": "ingress"},
            "IngressClass": ruled("networking_v1.ingressclasses"),
            "NetworkPolicy": ruled("networking_v1.networkpolicies"),
            "ServiceCIDR": ruled("networking_v1.servicecidrs", status=True),
            "EndpointSlice": ruled("discovery_v1.endpointslices"),
        },
    )
