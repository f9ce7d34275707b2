"""PersistentVolumeClaimResize: a claim grows only where its storage class allows that.

COMPAT: plugin/pkg/admission/storage/persistentvolume/resize
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from apiserver import hookimpl
from apiserver.api.admission import UPDATE, AdmissionRequest
from apiserver.api.names import GroupResource
from apiserver.api.quantity import parse
from apiserver.api.server import Server

CLAIMS = GroupResource("", "persistentvolumeclaims")
CLASSES = GroupResource("storage.k8s.io", "storageclasses")
OLD_CLASS = "volume.beta.kubernetes.io/storage-class"
_REFUSAL = (
    "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize"
)


@hookimpl(priority=2300)
def apiserver_validate(request: AdmissionRequest) -> None:
    new, old = request.object, request.old_object
    if new is None or old is None or request.subresource or request.operation != UPDATE:
        return
    if request.resource.group_resource != CLAIMS or _size(new) <= _size(old):
        return
    name = _class(new)
    if not name or name != _class(old) or not _expandable(request.server, name):
        raise request.forbidden(_REFUSAL)


def _size(claim: dict[str, Any]) -> Fraction:
    requests = ((claim.get("spec") or {}).get("resources") or {}).get("requests") or {}
    return parse(requests.get("storage", "0"))


def _class(claim: dict[str, Any]) -> str:
    """COMPAT: GetPersistentVolumeClaimClass"""
    annotations = claim["metadata"].get("annotations") or {}
    return str(annotations.get(OLD_CLASS) or (claim.get("spec") or {}).get("storageClassName") or "")


def _expandable(server: Server, name: str) -> bool:
    try:
        found = server.lister(CLASSES).get("", name)
    except KeyError:
        return False
    return found is not None and bool(found.decode().get("allowVolumeExpansion"))
