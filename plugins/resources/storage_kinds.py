"""Kinds of ``storage.k8s.io/v1``, whose rules are imported when they are needed."""

from __future__ import annotations

from collections.abc import Iterable

from apiserver import hookimpl
from apiserver.api.resource import FeatureGate, Resource
from apiserver.api.server import Server
from apiserver_plugins.resources.common.declarations import declare
from apiserver_plugins.resources.common.deferred import ruled

KINDS = """
#GROUP/VERSION           KIND                   PLURAL                   SCOPE       SHORT NAMES  CATEGORIES  SINCE
storage.k8s.io/v1        CSIDriver              csidrivers               Cluster     -            -
storage.k8s.io/v1        CSINode                csinodes                 Cluster     -            -
storage.k8s.io/v1        CSIStorageCapacity     csistoragecapacities     Namespaced  -            -
storage.k8s.io/v1beta1   CSIStorageCapacity     csistoragecapacities     Namespaced  -            -           1.21
storage.k8s.io/v1        StorageClass           storageclasses           Cluster     sc           -
storage.k8s.io/v1        VolumeAttachment       volumeattachments        Cluster     -            -
storage.k8s.io/v1        VolumeAttributesClass  volumeattributesclasses  Cluster     vac          -           1.34
storage.k8s.io/v1beta1   VolumeAttributesClass  volumeattributesclasses  Cluster     vac          -           1.31
storage.k8s.io/v1alpha1  VolumeAttributesClass  volumeattributesclasses  Cluster     vac          -           1.29
"""
CAPACITY_DEPRECATED = (
    "storage.k8s.io/v1beta1 CSIStorageCapacity is deprecated in v1.24+, unavailable in v1.27+; "
    "use storage.k8s.io/v1 CSIStorageCapacity"
)


@hookimpl
def apiserver_resources(server: Server) -> Iterable[Resource]:
    capacity = ruled("storage_v1.csistoragecapacities", columns=False)
    return declare(
        KINDS,
        {
            "CSIDriver": ruled("storage_v1.csidrivers"),
            "CSINode": ruled("storage_v1.csinodes"),
            "CSIStorageCapacity": capacity,
            "storage.k8s.io/v1beta1 CSIStorageCapacity": {
                **capacity,
                "enabled": True,
                "deprecated": CAPACITY_DEPRECATED,
            },
            "StorageClass": ruled("storage_v1.storageclasses"),
            "VolumeAttachment": ruled("storage_v1.volumeattachments", status=True),
            "VolumeAttributesClass": {
                **ruled("storage_v1.volumeattributesclasses"),
                "gate": FeatureGate("VolumeAttributesClass", since=34),
            },
        },
    )
