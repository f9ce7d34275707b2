"""Priority: a pod's priority class becomes a number.

COMPAT: plugin/pkg/admission/priority
"""

from __future__ import annotations

from typing import Any

from apiserver import hookimpl
from apiserver.api.admission import CREATE, UPDATE, AdmissionRequest
from apiserver.api.names import GroupResource
from apiserver.api.server import Server

PODS = GroupResource("", "pods")
CLASSES = GroupResource("scheduling.k8s.io", "priorityclasses")
PREEMPT = "PreemptLowerPriority"

_MISMATCH = (
    "the {what} ({given}) must not be provided in pod spec; priority admission controller computed {computed} from the "
    "given PriorityClass name"
)


@hookimpl(priority=1400)
def apiserver_admit(request: AdmissionRequest) -> None:
    pod = request.object
    if request.subresource or request.resource.group_resource != PODS or pod is None:
        return
    spec = pod.setdefault("spec", {})
    if request.operation == UPDATE and request.old_object is not None:
        old = request.old_object.get("spec") or {}
        for field in ("priority", "preemptionPolicy"):
            if spec.get(field) is None and old.get(field) is not None:
                spec[field] = old[field]
    elif request.operation == CREATE:
        _compute(request, spec)


def _compute(request: AdmissionRequest, spec: dict[str, Any]) -> None:
    name = spec.get("priorityClassName")
    chosen = _named(request.server, name) if name else _default(request.server)
    if name and chosen is None:
        raise request.forbidden(f"no PriorityClass with name {name} was found")
    if chosen is not None:
        spec["priorityClassName"] = chosen["metadata"]["name"]
    priority = (chosen or {}).get("value", 0)
    policy = (chosen or {}).get("preemptionPolicy") or PREEMPT
    for field, what, computed in (
        ("priority", "integer value of priority", priority),
        ("preemptionPolicy", "string value of PreemptionPolicy", policy),
    ):
        given = spec.get(field)
        if given is not None and given != computed:
            raise request.forbidden(_MISMATCH.format(what=what, given=given, computed=computed))
        spec[field] = computed


def _named(server: Server, name: str) -> dict[str, Any] | None:
    try:
        found = server.lister(CLASSES).get("", name)
    except KeyError:
        # Priority classes are not served: none exists.
        return None
    return found.decode() if found is not None else None


def _default(server: Server) -> dict[str, Any] | None:
    """The class that is the default for all pods; of several, the one with the lowest value."""
    try:
        classes = [found.decode() for found in server.lister(CLASSES).list()]
    except KeyError:
        return None
    return min((c for c in classes if c.get("globalDefault")), key=lambda c: c.get("value", 0), default=None)


@hookimpl(priority=1400)
def apiserver_validate(request: AdmissionRequest) -> None:
    """There is one default at most. COMPAT: validatePriorityClass"""
    new = request.object
    if request.subresource or request.resource.group_resource != CLASSES or new is None:
        return
    if request.operation not in (CREATE, UPDATE) or not new.get("globalDefault"):
        return
    present = _default(request.server)
    if present is not None and present["metadata"]["name"] != new["metadata"].get("name"):
        name = present["metadata"]["name"]
        raise request.forbidden(f"PriorityClass {name} is already marked as default. Only one default can exist")
