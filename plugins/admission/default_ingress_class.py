"""DefaultIngressClass: an ingress that names no class gets the default one.

COMPAT: plugin/pkg/admission/network/defaultingressclass
"""

from __future__ import annotations

from apiserver import hookimpl
from apiserver.api.admission import CREATE, AdmissionRequest
from apiserver.api.names import GroupResource
from apiserver.api.server import Server

INGRESSES = GroupResource("networking.k8s.io", "ingresses")
CLASSES = GroupResource("networking.k8s.io", "ingressclasses")
OLD_CLASS = "kubernetes.io/ingress.class"
IS_DEFAULT = "ingressclass.kubernetes.io/is-default-class"


@hookimpl(priority=2900)
def apiserver_admit(request: AdmissionRequest) -> None:
    ingress = request.object
    if ingress is None or request.subresource or request.operation != CREATE:
        return
    if request.resource.group_resource != INGRESSES:
        return
    spec = ingress.setdefault("spec", {})
    if spec.get("ingressClassName") is not None or OLD_CLASS in (ingress["metadata"].get("annotations") or {}):
        return
    name = _default(request.server)
    if name:
        spec["ingressClassName"] = name


def _default(server: Server) -> str:
    """The newest class that is marked as the default; of several made at the same time the first by name."""
    try:
        classes = [found.decode()["metadata"] for found in server.lister(CLASSES).list()]
    except KeyError:
        # Ingress classes are not served: none exists.
        return ""
    marked = [metadata for metadata in classes if (metadata.get("annotations") or {}).get(IS_DEFAULT) == "true"]
    marked.sort(key=lambda metadata: str(metadata["name"]))
    newest = max(marked, key=lambda metadata: str(metadata.get("creationTimestamp", "")), default={"name": ""})
    return str(newest["name"])
