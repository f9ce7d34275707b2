"""Kinds of ``resource.k8s.io``: devices and claims to them; rules are imported when they are needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from apiserver import hookimpl
from apiserver.api.names import GroupVersionKind
from apiserver.api.resource import FeatureGate, Resource, Subresource
from apiserver.api.server import Server
from apiserver.api.strategy import SpecStatusStrategy
from apiserver_plugins.resources.common.declarations import declare
from apiserver_plugins.resources.common.deferred import DeferredColumns, DeferredStrategy, converting

KINDS = """
#GROUP/VERSION            KIND                       PLURAL                      SCOPE       SHORT  CATEGORIES  SINCE
resource.k8s.io/v1        DeviceClass                deviceclasses               Cluster     -      -           1.34
resource.k8s.io/v1beta2   DeviceClass                deviceclasses               Cluster     -      -           1.33
resource.k8s.io/v1beta1   DeviceClass                deviceclasses               Cluster     -      -           1.32
resource.k8s.io/v1alpha3  DeviceClass                deviceclasses               Cluster     -      -           1.31
resource.k8s.io/v1        ResourceClaim              resourceclaims              Namespaced  -      -           1.34
resource.k8s.io/v1beta2   ResourceClaim              resourceclaims              Namespaced  -      -           1.33
resource.k8s.io/v1beta1   ResourceClaim              resourceclaims              Namespaced  -      -           1.32
resource.k8s.io/v1alpha3  ResourceClaim              resourceclaims              Namespaced  -      -           1.31
resource.k8s.io/v1        ResourceClaimTemplate      resourceclaimtemplates      Namespaced  -      -           1.34
resource.k8s.io/v1beta2   ResourceClaimTemplate      resourceclaimtemplates      Namespaced  -      -           1.33
resource.k8s.io/v1beta1   ResourceClaimTemplate      resourceclaimtemplates      Namespaced  -      -           1.32
resource.k8s.io/v1alpha3  ResourceClaimTemplate      resourceclaimtemplates      Namespaced  -      -           1.31
resource.k8s.io/v1        ResourceSlice              resourceslices              Cluster     -      -           1.34
resource.k8s.io/v1beta2   ResourceSlice              resourceslices              Cluster     -      -           1.33
resource.k8s.io/v1beta1   ResourceSlice              resourceslices              Cluster     -      -           1.32
resource.k8s.io/v1alpha3  ResourceSlice              resourceslices              Cluster     -      -           1.31
resource.k8s.io/v1        DeviceTaintRule            devicetaintrules            Cluster     -      -           1.37
resource.k8s.io/v1beta2   DeviceTaintRule            devicetaintrules            Cluster     -      -           1.36
resource.k8s.io/v1alpha3  DeviceTaintRule            devicetaintrules            Cluster     -      -           1.33
resource.k8s.io/v1alpha3  ResourcePoolStatusRequest  resourcepoolstatusrequests  Cluster     -      -           1.36
resource.k8s.io/v1alpha3  PodSchedulingContext       podschedulingcontexts       Namespaced  -      -           1.31
"""
# Before structured parameters: claims to what a driver knows alone, which no later version can read.
EARLY_KINDS = """
#GROUP/VERSION            KIND                     PLURAL                     SCOPE       SHORT  CATEGORIES  SINCE
resource.k8s.io/v1alpha2  PodSchedulingContext     podschedulingcontexts      Namespaced  -      -           1.27
resource.k8s.io/v1alpha2  ResourceClaim            resourceclaims             Namespaced  -      -           1.27
resource.k8s.io/v1alpha2  ResourceClaimParameters  resourceclaimparameters    Namespaced  -      -           1.30
resource.k8s.io/v1alpha2  ResourceClaimTemplate    resourceclaimtemplates     Namespaced  -      -           1.27
resource.k8s.io/v1alpha2  ResourceClass            resourceclasses            Cluster     -      -           1.27
resource.k8s.io/v1alpha2  ResourceClassParameters  resourceclassparameters    Namespaced  -      -           1.30
resource.k8s.io/v1alpha2  ResourceSlice            resourceslices             Cluster     -      -           1.30
resource.k8s.io/v1alpha1  PodScheduling            podschedulings             Namespaced  -      -           1.26
resource.k8s.io/v1alpha1  ResourceClaim            resourceclaims             Namespaced  -      -           1.26
resource.k8s.io/v1alpha1  ResourceClaimTemplate    resourceclaimtemplates     Namespaced  -      -           1.26
resource.k8s.io/v1alpha1  ResourceClass            resourceclasses            Cluster     -      -           1.26
"""
GATE = FeatureGate("DynamicResourceAllocation", since=34)


def _rules(module: str, name: str, **more: Any) -> dict[str, Any]:
    path = f"resource_v1.{module}"
    return {
        "strategy": DeferredStrategy(path, name),
        "columns": DeferredColumns(path, f"{name}_COLUMNS"),
        "gate": GATE,
        **more,
    }


def _versions(kind: str, rules: dict[str, Any], *shapes: tuple[str, str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The declarations of a kind that is stored as v1 by every minor.

    :param shapes: a version that has another shape, and what its conversions' names end with.
    """
    stored = GroupVersionKind("resource.k8s.io", "v1", kind)
    yield kind, {**rules, "storage_version": stored}
    for version, name in shapes:
        conversion = converting(stored, "resource_v1.conversion", f"to_{name}", f"from_{name}")
        yield f"resource.k8s.io/{version} {kind}", {**rules, **conversion}


@hookimpl
def apiserver_resources(server: Server) -> Iterable[Resource]:
    claim_status = Subresource("status", DeferredStrategy("resource_v1.claims", "CLAIM_STATUS"))
    claim = _rules("claims", "CLAIM", subresources=(claim_status,))
    chosen = _rules("devices", "SLICE", selectable_fields=("spec.driver", "spec.nodeName"))
    statused = {"strategy": SpecStatusStrategy(), "subresources": (Subresource("status"),), "gate": GATE}
    before = dict.fromkeys(("PodSchedulingContext", "PodScheduling", "ResourceClaim"), statused)
    return [
        *declare(
            KINDS,
            {
                **dict(_versions("DeviceClass", _rules("devices", "CLASS"))),
                **dict(_versions("ResourceClaim", claim, ("v1beta1", "flat_claim"), ("v1alpha3", "flat_claim"))),
                **dict(
                    _versions(
                        "ResourceClaimTemplate",
                        _rules("claims", "TEMPLATE"),
                        ("v1beta1", "flat_template"),
                        ("v1alpha3", "flat_template"),
                    )
                ),
                **dict(
                    _versions("ResourceSlice", chosen, ("v1beta1", "basic_slice"), ("v1alpha3", "plain_capacity_slice"))
                ),
                "DeviceTaintRule": _rules("taintrules", "RULE", subresources=(Subresource("status"),)),
                "ResourcePoolStatusRequest": _rules("poolrequests", "REQUEST", subresources=(Subresource("status"),)),
                "PodSchedulingContext": statused,
            },
        ),
        *declare(EARLY_KINDS, {r.kind: before.get(r.kind, {"gate": GATE}) for r in declare(EARLY_KINDS)}),
    ]
