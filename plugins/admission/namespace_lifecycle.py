"""NamespaceLifecycle: nothing is created in a namespace that is missing or going, and some namespaces stay.

COMPAT: k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle
"""

from __future__ import annotations

import time
import weakref

from apiserver import hookimpl
from apiserver.api.admission import CREATE, DELETE, AdmissionRequest
from apiserver.api.errors import Forbidden, NotFound
from apiserver.api.names import GroupResource
from apiserver.api.rest import GetOptions
from apiserver.api.server import Server

NAMESPACES = GroupResource("", "namespaces")
IMMORTAL = frozenset(("default", "kube-system", "kube-public"))
CONTENT = "unable to create new content in namespace {} because it is being terminated"
TERMINATING = "Terminating"

_LIVE_SECONDS = 30.0
_deleted: weakref.WeakKeyDictionary[Server, dict[str, float]] = weakref.WeakKeyDictionary()
"""Namespaces whose deletion went through here lately: for a while the cache is not believed about them."""


@hookimpl(priority=300)
def apiserver_admit(request: AdmissionRequest) -> None:
    if request.resource.group_resource == NAMESPACES:
        _namespace(request)
        return
    if not request.namespace or request.operation == DELETE or _is_review(request):
        return
    phase = _phase(request.server, request.namespace)
    if request.operation == CREATE and phase == TERMINATING:
        cause = {
            "reason": "NamespaceTerminating",
            "message": f"namespace {request.namespace} is being terminated",
            "field": "metadata.namespace",
        }
        refusal = request.forbidden(CONTENT.format(request.namespace))
        raise Forbidden(refusal.message, details={**(refusal.details or {}), "causes": [cause]})


def _namespace(request: AdmissionRequest) -> None:
    if request.operation != DELETE:
        return
    if request.name in IMMORTAL:
        raise Forbidden.for_object(NAMESPACES, request.name, "this namespace may not be deleted")
    recent = _deleted.setdefault(request.server, {})
    now = time.monotonic()
    for name in [name for name, until in list(recent.items()) if until < now]:
        recent.pop(name, None)
    recent[request.name] = now + _LIVE_SECONDS


def _is_review(request: AdmissionRequest) -> bool:
    """A review says nothing about whether the namespace exists."""
    return request.resource.group == "authorization.k8s.io" and request.resource.resource == "localsubjectaccessreviews"


def _phase(server: Server, name: str) -> str:
    """The phase of a namespace: as the cache has it, or the store where the cache may be behind.

    :raises NotFound: there is no such namespace.
    """
    cached = server.lister(NAMESPACES).get("", name)
    phase = cached.extra_fields.get("status.phase", "") if cached is not None else ""
    recent = _deleted.get(server)
    if cached is not None and (phase == TERMINATING or not recent or recent.get(name, 0.0) < time.monotonic()):
        return phase
    try:
        found = server.store(NAMESPACES).get(server.system_context(), name, GetOptions())
    except KeyError:
        raise NotFound.for_object(NAMESPACES, name) from None
    return str(found.extra_fields.get("status.phase", ""))
