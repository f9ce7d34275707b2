"""TaintNodesByCondition: nothing is scheduled on a new node before it is known to be ready.

COMPAT: plugin/pkg/admission/nodetaint
"""

from __future__ import annotations

from apiserver import hookimpl
from apiserver.api.admission import CREATE, AdmissionRequest
from apiserver.api.names import GroupResource

NODES = GroupResource("", "nodes")
NOT_READY = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}


@hookimpl(priority=900)
def apiserver_admit(request: AdmissionRequest) -> None:
    node = request.object
    if node is None or request.subresource or request.operation != CREATE or request.resource.group_resource != NODES:
        return
    spec = node.setdefault("spec", {})
    taints = spec.get("taints") or []
    if not any(all(taint.get(field) == value for field, value in NOT_READY.items()) for taint in taints):
        spec["taints"] = [*taints, dict(NOT_READY)]
