"""DefaultStorageClass: a claim that names no storage class gets the default one.

COMPAT: plugin/pkg/admission/storage/storageclass/setdefault; pkg/volume/util GetDefaultClass
"""

from __future__ import annotations

from typing import Any

from apiserver import hookimpl
from apiserver.api.admission import CREATE, AdmissionRequest
from apiserver.api.names import GroupResource
from apiserver.api.server import Server

CLAIMS = GroupResource("", "persistentvolumeclaims")
CLASSES = GroupResource("storage.k8s.io", "storageclasses")
OLD_CLASS = "volume.beta.kubernetes.io/storage-class"
IS_DEFAULT = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")


@hookimpl(priority=1900)
def apiserver_admit(request: AdmissionRequest) -> None:
    claim = request.object
    if claim is None or request.subresource or request.operation != CREATE:
        return
    if request.resource.group_resource != CLAIMS:
        return
    spec = claim.setdefault("spec", {})
    if spec.get("storageClassName") is not None or OLD_CLASS in (claim["metadata"].get("annotations") or {}):
        return
    name = _default(request.server)
    if name:
        spec["storageClassName"] = name


def _default(server: Server) -> str:
    """The newest class that is marked as the default; of several made at the same time the first by name."""
    try:
        classes = [found.decode()["metadata"] for found in server.lister(CLASSES).list()]
    except KeyError:
        # Storage classes are not served: none exists.
        return ""
    marked = sorted(filter(_is_default, classes), key=lambda metadata: str(metadata["name"]))
    newest = max(marked, key=lambda metadata: str(metadata.get("creationTimestamp", "")), default={"name": ""})
    return str(newest["name"])


def _is_default(metadata: dict[str, Any]) -> bool:
    annotations = metadata.get("annotations") or {}
    return any(annotations.get(key) == "true" for key in IS_DEFAULT)
