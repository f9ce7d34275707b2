"""Kinds about API servers themselves: who serves which group, and which versions are stored."""

from __future__ import annotations

from collections.abc import Iterable

from apiserver import hookimpl
from apiserver.api.resource import FeatureGate, Resource, Subresource
from apiserver.api.server import Server
from apiserver.api.strategy import SpecStatusStrategy
from apiserver_plugins.resources.common.declarations import declare
from apiserver_plugins.resources.common.deferred import ruled

KINDS = """
#GROUP/VERSION                      KIND                     PLURAL                    SCOPE    SHORT  CATEGORIES      SINCE
apiregistration.k8s.io/v1           APIService               apiservices               Cluster  -      api-extensions
internal.apiserver.k8s.io/v1alpha1  StorageVersion           storageversions           Cluster  -      -
storagemigration.k8s.io/v1          StorageVersionMigration  storageversionmigrations  Cluster  -      -               1.37
storagemigration.k8s.io/v1beta1     StorageVersionMigration  storageversionmigrations  Cluster  -      -               1.35
storagemigration.k8s.io/v1alpha1    StorageVersionMigration  storageversionmigrations  Cluster  -      -               1.30
"""  # noqa: E501


@hookimpl
def apiserver_resources(server: Server) -> Iterable[Resource]:
    return declare(
        KINDS,
        {
            # COMPAT: where kube-apiserver keeps them in etcd
            "APIService": {
                **ruled("apiregistration_v1.apiservices", status=True),
                "storage_prefix": "apiregistration.k8s.io/apiservices",
            },
            "StorageVersion": {
                **ruled("internal_v1alpha1.storageversions", status=True),
                "gate": FeatureGate("StorageVersionAPI"),
            },
            "StorageVersionMigration": {
                "strategy": SpecStatusStrategy(),
                "subresources": (Subresource("status"),),
                "gate": FeatureGate("StorageVersionMigrator", since=37),
            },
        },
    )
