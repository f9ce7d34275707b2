"""RuntimeClass: a pod gets the overhead and the place that its runtime class has, and no other overhead.

COMPAT: plugin/pkg/admission/runtimeclass; pkg/util/tolerations MergeTolerations
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from apiserver import hookimpl
from apiserver.api.admission import CREATE, AdmissionRequest
from apiserver.api.errors import NotFound
from apiserver.api.logs import quote
from apiserver.api.names import GroupResource
from apiserver.api.quantity import nanos
from apiserver.api.rest import GetOptions

PODS = GroupResource("", "pods")
CLASSES = GroupResource("node.k8s.io", "runtimeclasses")
Object = dict[str, Any]

_DIFFERENT = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
_UNFOUNDED = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
_CONFLICT = "conflict: runtimeClass.scheduling.nodeSelector[{0}] = {1}; pod.spec.nodeSelector[{0}] = {2}"


@hookimpl(priority=2400)
def apiserver_admit(request: AdmissionRequest) -> None:
    if not _concerned(request):
        return
    spec = (request.object or {}).setdefault("spec", {})
    found = _class(request, spec)
    fixed = _overhead(found)
    if fixed is not None:
        if spec.get("overhead") is not None and not _equal(fixed, spec["overhead"]):
            raise request.forbidden(_DIFFERENT)
        spec["overhead"] = dict(fixed)
    _schedule(request, spec, (found or {}).get("scheduling"))


@hookimpl(priority=2400)
def apiserver_validate(request: AdmissionRequest) -> None:
    if not _concerned(request):
        return
    spec = (request.object or {}).get("spec") or {}
    fixed, given = _overhead(_class(request, spec)), spec.get("overhead")
    if fixed is not None and not _equal(fixed, given or {}):
        raise request.forbidden(_DIFFERENT)
    if fixed is None and given is not None:
        raise request.forbidden(_UNFOUNDED)


def _concerned(request: AdmissionRequest) -> bool:
    if request.operation != CREATE or request.subresource or request.object is None:
        return False
    return request.resource.group_resource == PODS


def _class(request: AdmissionRequest, spec: Object) -> Object | None:
    name = spec.get("runtimeClassName")
    if name is None:
        return None
    server = request.server
    try:
        # The cache may be a little behind: what it does not have the store is asked for.
        found = server.lister(CLASSES).get("", name)
        found = found or server.store(CLASSES).get(server.system_context(), name, GetOptions())
    except (KeyError, NotFound):
        raise request.forbidden(f"pod rejected: RuntimeClass {quote(name)} not found") from None
    return found.decode()


def _overhead(found: Object | None) -> Mapping[str, str] | None:
    overhead = (found or {}).get("overhead")
    return None if overhead is None else overhead.get("podFixed") or {}


def _equal(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    return {name: nanos(text) for name, text in one.items()} == {name: nanos(text) for name, text in other.items()}


def _schedule(request: AdmissionRequest, spec: Object, scheduling: Object | None) -> None:
    """COMPAT: setScheduling"""
    if scheduling is None:
        return
    selector = dict(spec.get("nodeSelector") or {})
    for key, value in (scheduling.get("nodeSelector") or {}).items():
        if selector.setdefault(key, value) != value:
            raise request.forbidden(_CONFLICT.format(key, value, selector[key]))
    if selector:
        spec["nodeSelector"] = selector
    merged = merge(spec.get("tolerations") or [], scheduling.get("tolerations") or [])
    if merged:
        spec["tolerations"] = merged


def merge(first: Sequence[Object], second: Sequence[Object]) -> list[Object]:
    """Both without those that tolerate nothing more than another; of equal ones the first stays."""
    tolerations, merged = [*first, *second], list[Object]()
    for i, one in enumerate(tolerations):
        covered = any(covers(other, one) for other in merged)
        if not covered and not any(other != one and covers(other, one) for other in tolerations[i + 1 :]):
            merged.append(one)
    return merged


def covers(wide: Object, narrow: Object) -> bool:
    """Whether ``wide`` tolerates whatever ``narrow`` does. COMPAT: isSuperset"""
    if wide == narrow:
        return True
    operator = wide.get("operator") or "Equal"
    if wide.get("key", "") != narrow.get("key", "") and (wide.get("key") or operator != "Exists"):
        return False
    if wide.get("effect") and wide.get("effect") != narrow.get("effect"):
        return False
    if wide.get("effect") == "NoExecute" and wide.get("tolerationSeconds") is not None:
        seconds = narrow.get("tolerationSeconds")
        if seconds is None or seconds > wide["tolerationSeconds"]:
            return False
    if operator == "Equal":
        return narrow.get("operator") == "Equal" and narrow.get("value", "") == wide.get("value", "")
    return bool(operator == "Exists")
