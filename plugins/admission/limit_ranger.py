"""LimitRanger: containers get the resources that their namespace gives by default, and nothing beyond its bounds.

COMPAT: plugin/pkg/admission/limitranger
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from apiserver import hookimpl
from apiserver.api.admission import CREATE, UPDATE, AdmissionRequest
from apiserver.api.names import GroupResource
from apiserver.api.quantity import Amount, amount
from apiserver_plugins.quota.pods import needs

PODS = GroupResource("", "pods")
CLAIMS = GroupResource("", "persistentvolumeclaims")
RANGES = GroupResource("", "limitranges")
ANNOTATION = "kubernetes.io/limit-ranger"
CONTAINER, POD, CLAIM = "Container", "Pod", "PersistentVolumeClaim"

Object = dict[str, Any]
Amounts = Mapping[str, Amount]
_NONE = Amount(0)


@hookimpl(priority=600)
def apiserver_admit(request: AdmissionRequest) -> None:
    if request.resource.group_resource == PODS and _concerned(request):
        for limits in _limits(request):
            _set_defaults(request.object or {}, limits)


@hookimpl(priority=600)
def apiserver_validate(request: AdmissionRequest) -> None:
    if not _concerned(request):
        return
    problems_of = _pod_problems if request.resource.group_resource == PODS else _claim_problems
    for limits in _limits(request):
        problems = list(problems_of(request.object or {}, limits))
        if problems:
            raise request.forbidden(problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]")


def _concerned(request: AdmissionRequest) -> bool:
    """COMPAT: SupportsAttributes: of pods new ones and those being resized, as their containers can't change else."""
    if request.object is None or request.operation not in (CREATE, UPDATE):
        return False
    if ((request.old_object or {}).get("metadata") or {}).get("deletionTimestamp"):
        return False
    resource, update = request.resource.group_resource, request.operation == UPDATE
    if resource == PODS:
        return request.subresource == ("resize" if update else "")
    return resource == CLAIMS and not request.subresource


def _limits(request: AdmissionRequest) -> Iterator[Sequence[Object]]:
    """The items of each LimitRange of the namespace."""
    for found in request.server.lister(RANGES).list(request.namespace):
        yield (found.decode().get("spec") or {}).get("limits") or ()


# -- defaults ---------------------------------------------------------------------------------------------------------


def _set_defaults(pod: Object, limits: Sequence[Object]) -> None:
    """COMPAT: mergePodResourceRequirements"""
    defaults: dict[str, dict[str, str]] = {"requests": {}, "limits": {}}
    for item in limits:
        if item.get("type") == CONTAINER:
            defaults["requests"].update(item.get("defaultRequest") or {})
            defaults["limits"].update(item.get("default") or {})
    spec, notes = pod.get("spec") or {}, list[str]()
    for field, what in (("containers", "container"), ("initContainers", "init container")):
        for container in spec.get(field) or ():
            notes += _complete(container, what, defaults)
    if notes:
        annotations = pod["metadata"].get("annotations") or {}
        pod["metadata"]["annotations"] = {**annotations, ANNOTATION: f"LimitRanger plugin set: {'; '.join(notes)}"}


def _complete(container: Object, what: str, defaults: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """Give a container what it lacks; says what that was."""
    resources = container.get("resources") or {}
    for field, given in defaults.items():
        present = resources.get(field) or {}
        missing = sorted(given.keys() - present.keys())
        if missing:
            container["resources"] = resources
            resources[field] = {**present, **{name: given[name] for name in missing}}
            yield f"{', '.join(missing)} {field.removesuffix('s')} for {what} {container.get('name', '')}"


# -- bounds -----------------------------------------------------------------------------------------------------------


def _pod_problems(pod: Object, limits: Sequence[Object]) -> Iterator[str]:
    """COMPAT: PodValidateLimitFunc"""
    spec = pod.get("spec") or {}
    containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    for item in limits:
        if item.get("type") == CONTAINER:
            for container in containers:
                resources = container.get("resources") or {}
                yield from _problems(item, _amounts(resources.get("requests")), _amounts(resources.get("limits")))
        elif item.get("type") == POD:
            whole = [needs(pod, which, spec_only=True) for which in ("requests", "limits")]
            yield from _problems(item, *whole)


def _problems(item: Object, requests: Amounts, limits: Amounts) -> Iterator[str]:
    kind = item["type"]
    for name, bound in _bounds(item, "min"):
        yield from _too_little(kind, name, bound, requests, limits)
    for name, bound in _bounds(item, "max"):
        yield from _too_much(kind, name, bound, requests, limits)
    for name, bound in _bounds(item, "maxLimitRequestRatio"):
        yield from _too_far_apart(kind, name, bound, requests, limits)


def _claim_problems(claim: Object, limits: Sequence[Object]) -> Iterator[str]:
    """COMPAT: PersistentVolumeClaimValidateLimitFunc: a claim asks for storage; limits mean nothing in it."""
    requests = _amounts(((claim.get("spec") or {}).get("resources") or {}).get("requests"))
    for item in limits:
        if item.get("type") != CLAIM:
            continue
        for name, bound in _bounds(item, "min"):
            yield from _too_little(CLAIM, name, bound, requests, {})
        for name, bound in _bounds(item, "max"):
            text = f"maximum {name} usage per {CLAIM} is {bound}"
            if name not in requests:
                yield f"{text}.  No request is specified"
            elif requests[name].nanos > bound.nanos:
                yield f"{text}, but request is {requests[name]}"


def _too_little(kind: str, name: str, bound: Amount, requests: Amounts, limits: Amounts) -> Iterator[str]:
    """COMPAT: minConstraint"""
    text = f"minimum {name} usage per {kind} is {bound}"
    if name not in requests:
        yield f"{text}.  No request is specified"
    elif requests[name].nanos < bound.nanos:
        yield f"{text}, but request is {requests[name]}"
    elif name in limits and limits[name].nanos < bound.nanos:
        yield f"{text}, but limit is {limits[name]}"


def _too_much(kind: str, name: str, bound: Amount, requests: Amounts, limits: Amounts) -> Iterator[str]:
    """COMPAT: maxConstraint"""
    text = f"maximum {name} usage per {kind} is {bound}"
    if name not in limits:
        yield f"{text}.  No limit is specified"
    elif limits[name].nanos > bound.nanos:
        yield f"{text}, but limit is {limits[name]}"
    elif name in requests and requests[name].nanos > bound.nanos:
        yield f"{text}, but request is {requests[name]}"


def _too_far_apart(kind: str, name: str, bound: Amount, requests: Amounts, limits: Amounts) -> Iterator[str]:
    """COMPAT: limitRequestRatioConstraint"""
    text = f"{name} max limit to request ratio per {kind} is {bound}"
    request, limit = requests.get(name, _NONE).nanos, limits.get(name, _NONE).nanos
    if not request:
        yield f"{text}, but no request is specified or request is 0"
    elif not limit:
        yield f"{text}, but no limit is specified or limit is 0"
    elif limit * 10**9 > bound.nanos * request:
        yield f"{text}, but provided ratio is {limit / request:f}"


def _bounds(item: Object, field: str) -> Iterator[tuple[str, Amount]]:
    for name, text in sorted((item.get(field) or {}).items()):
        yield name, amount(text)


def _amounts(texts: Mapping[str, str] | None) -> dict[str, Amount]:
    return {name: amount(text) for name, text in (texts or {}).items()}
