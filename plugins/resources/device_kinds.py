"""Kinds of ``resource.k8s.io/v1``: devices and claims to them; rules are imported when they are needed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from apiserver import hookimpl
from apiserver.api.resource import Resource, Subresource
from apiserver.api.server import Server
from apiserver_plugins.resources.common.declarations import declare
from apiserver_plugins.resources.common.deferred import DeferredColumns, DeferredStrategy

KINDS = """
#GROUP/VERSION      KIND                   PLURAL                  SCOPE       SHORT NAMES  CATEGORIES
resource.k8s.io/v1  DeviceClass            deviceclasses           Cluster     -            -
resource.k8s.io/v1  ResourceClaim          resourceclaims          Namespaced  -            -
resource.k8s.io/v1  ResourceClaimTemplate  resourceclaimtemplates  Namespaced  -            -
resource.k8s.io/v1  ResourceSlice          resourceslices          Cluster     -            -
"""


def _rules(module: str, name: str) -> dict[str, Any]:
    path = f"resource_v1.{module}"
    return {"strategy": DeferredStrategy(path, name), "columns": DeferredColumns(path, f"{name}_COLUMNS")}


@hookimpl
def apiserver_resources(server: Server) -> Iterable[Resource]:
    status = Subresource("status", DeferredStrategy("resource_v1.claims", "CLAIM_STATUS"))
    return declare(
        KINDS,
        {
            "DeviceClass": _rules("devices", "CLASS"),
            "ResourceClaim": {**_rules("claims", "CLAIM"), "subresources": (status,)},
            "ResourceClaimTemplate": _rules("claims", "TEMPLATE"),
            "ResourceSlice": {
                **_rules("devices", "SLICE"),
                "selectable_fields": ("spec.driver", "spec.nodeName"),
            },
        },
    )
