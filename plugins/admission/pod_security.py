"""PodSecurity: the labels of a namespace say which of the Pod Security Standards its pods keep.

Pods that break the enforced standard are refused. Templates of pods are stored whatever they say, with a warning.

COMPAT: plugin/pkg/admission/security/podsecurity; k8s.io/pod-security-admission/admission
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from apiserver import hookimpl
from apiserver.api.admission import CREATE, UPDATE, AdmissionRequest
from apiserver.api.encoded import EncodedObject
from apiserver.api.errors import Invalid, NotFound
from apiserver.api.logs import quote
from apiserver.api.names import GroupResource
from apiserver.api.rest import GetOptions
from apiserver_plugins.podsecurity.levels import PREFIX, PRIVILEGED, Policy, Standard, policy_of, stricter
from apiserver_plugins.podsecurity.standards import reasons, told, violations

Object = dict[str, Any]
PODS = GroupResource("", "pods")
NAMESPACES = GroupResource("", "namespaces")
TEMPLATES: Mapping[GroupResource, tuple[str, ...]] = {
    GroupResource("", "podtemplates"): ("template",),
    GroupResource("", "replicationcontrollers"): ("spec", "template"),
    GroupResource("apps", "replicasets"): ("spec", "template"),
    GroupResource("apps", "deployments"): ("spec", "template"),
    GroupResource("apps", "statefulsets"): ("spec", "template"),
    GroupResource("apps", "daemonsets"): ("spec", "template"),
    GroupResource("batch", "jobs"): ("spec", "template"),
    GroupResource("batch", "cronjobs"): ("spec", "jobTemplate", "spec", "template"),
}
"""Where kinds keep the template of their pods."""
MOST_PODS, LONGEST = 3000, 1.0
"""How many pods of a namespace are looked at when its labels change, and for how many seconds."""

_IGNORED = frozenset(("exec", "attach", "binding", "eviction", "log", "portforward", "proxy", "status"))


@hookimpl(priority=1200)
def apiserver_validate(request: AdmissionRequest) -> None:
    if request.operation not in (CREATE, UPDATE) or request.object is None:
        return
    resource = request.resource.group_resource
    if resource == PODS:
        _pod(request, request.object)
    elif resource == NAMESPACES:
        _namespace(request, request.object)
    elif resource in TEMPLATES:
        _template(request, request.object, TEMPLATES[resource])


# -- pods and templates -----------------------------------------------------------------------------------------------


def _pod(request: AdmissionRequest, pod: Object) -> None:
    """COMPAT: ValidatePod"""
    if request.subresource in _IGNORED:
        return
    policy, problem = _policy(request)
    if policy.privileged and not problem:
        request.annotate(f"{PREFIX}enforce-policy", str(Standard()))
        return
    old = request.old_object
    if request.operation == UPDATE and old is not None and not significant(pod, old):
        return
    _evaluate(request, policy, problem, pod, enforced=True)


def _template(request: AdmissionRequest, obj: Object, path: Sequence[str]) -> None:
    """COMPAT: ValidatePodController"""
    if request.subresource:
        return
    policy, problem = _policy(request)
    if not problem and policy.warn.level == PRIVILEGED and policy.audit.level == PRIVILEGED:
        return
    template: Object | None = obj
    for field in path:
        template = (template or {}).get(field)
    if template is not None:
        _evaluate(request, policy, problem, template, enforced=False)


def _policy(request: AdmissionRequest) -> tuple[Policy, str]:
    """What the namespace asks for, and what is wrong with its labels."""
    server, name = request.server, request.namespace
    found = server.lister(NAMESPACES).get("", name)
    if found is None:
        try:
            # The cache may be a little behind.
            found = server.store(NAMESPACES).get(server.system_context(), name, GetOptions())
        except NotFound:
            raise request.forbidden(f"failed to lookup namespace {quote(name)}") from None
    policy, errors = policy_of(found.labels)
    texts = [str(error) for error in errors]
    return policy, texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]" if texts else ""


def _evaluate(request: AdmissionRequest, policy: Policy, problem: str, pod: Object, *, enforced: bool) -> None:
    """Refuse, note or warn. COMPAT: EvaluatePod"""
    metadata, spec = pod.get("metadata") or {}, pod.get("spec") or {}
    found = {
        standard: violations(standard, metadata, spec, _newest(request))
        for standard in {policy.audit, policy.warn, *([policy.enforce] if enforced else [])}
    }
    if problem:
        request.annotate(f"{PREFIX}error", f"Failed to parse policy: {problem}")
    if enforced:
        request.annotate(f"{PREFIX}enforce-policy", str(policy.enforce))
    if found[policy.audit]:
        request.annotate(f"{PREFIX}audit-violations", f"would {_broken(policy.audit, told(found[policy.audit]))}")
    if enforced and found[policy.enforce]:
        raise request.forbidden(_broken(policy.enforce, told(found[policy.enforce]), "violates"))
    if found[policy.warn]:
        request.warn(f"would {_broken(policy.warn, told(found[policy.warn]))}")


def _broken(standard: Standard, what: str, verb: str = "violate") -> str:
    return f'{verb} PodSecurity "{standard}": {what}'


def _newest(request: AdmissionRequest) -> int:
    """The minor of this server, which is the latest there is."""
    return int(request.server.config.text("emulated-version").rpartition("1.")[2].partition(".")[0])


def significant(pod: Object, old: Object) -> bool:
    """Whether an update of a pod changes something that may change in a pod. COMPAT: isSignificantPodUpdate"""
    new, before = pod.get("spec") or {}, old.get("spec") or {}
    for field in ("containers", "initContainers"):
        one, other = new.get(field) or (), before.get(field) or ()
        if len(one) != len(other) or any(a.get("image") != b.get("image") for a, b in zip(one, other, strict=True)):
            return True
    known = {container.get("name"): container for container in before.get("ephemeralContainers") or ()}
    return any(
        container.get("name") not in known or container.get("image") != known[container.get("name")].get("image")
        for container in new.get("ephemeralContainers") or ()
    )


# -- namespaces -------------------------------------------------------------------------------------------------------


def _namespace(request: AdmissionRequest, namespace: Object) -> None:
    """COMPAT: ValidateNamespace"""
    if request.subresource:
        return
    policy, errors = policy_of(_labels(namespace))
    if request.operation == CREATE or request.old_object is None:
        if errors:
            raise Invalid(request.kind.group_kind, request.name, errors)
        return
    before, old_errors = policy_of(_labels(request.old_object))
    if errors and list(map(str, errors)) != list(map(str, old_errors)):
        raise Invalid(request.kind.group_kind, request.name, errors)
    new, old = policy.enforce, before.enforce
    relaxed = new.version == old.version and not stricter(new.level, old.level)
    if new != old and new.level != PRIVILEGED and not relaxed:
        for warning in _pod_warnings(request, new):
            request.warn(warning)


def _labels(obj: Object) -> Mapping[str, str]:
    return (obj.get("metadata") or {}).get("labels") or {}


def _pod_warnings(request: AdmissionRequest, standard: Standard) -> Iterator[str]:
    """What the pods that are there would be refused for. COMPAT: EvaluatePodsInNamespace"""
    name = request.name
    pods = _one_of_each_first(request.server.lister(PODS).list(name))
    deadline, newest = time.monotonic() + LONGEST, _newest(request)
    bad: dict[str, list[str]] = {}
    looked_at = 0
    for pod in pods[:MOST_PODS]:
        looked_at += 1
        found = violations(standard, pod["metadata"], pod.get("spec") or {}, newest)
        if found:
            bad.setdefault(reasons(found), []).append(pod["metadata"]["name"])
        if time.monotonic() > deadline:
            break
    if looked_at < len(pods):
        yield f"new PodSecurity enforce level only checked against the first {looked_at} of {len(pods)} existing pods"
    if bad:
        yield f'existing pods in namespace {quote(name)} violate the new PodSecurity enforce level "{standard}"'
        yield from sorted(f"{_named(names)}: {why}" for why, names in bad.items())


def _named(names: Sequence[str]) -> str:
    """COMPAT: decoratePodWarnings"""
    others = len(names) - 1
    if not others:
        return names[0]
    return f"{min(names)} (and {others} other {'pod' if others == 1 else 'pods'})"


def _one_of_each_first(pods: Sequence[EncodedObject]) -> list[Object]:
    """The pods, but those that a controller has made beside another come last. COMPAT: prioritizePods"""
    first, rest, seen = list[Object](), list[Object](), set[str]()
    for pod in (found.decode() for found in pods):
        owners = pod["metadata"].get("ownerReferences") or ()
        owner = next((str(one.get("uid", "")) for one in owners if one.get("controller")), None)
        (rest if owner is not None and owner in seen else first).append(pod)
        if owner is not None:
            seen.add(owner)
    return [*first, *rest]
