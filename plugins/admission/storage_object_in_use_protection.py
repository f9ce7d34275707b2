"""StorageObjectInUseProtection: volumes and claims stay, once deleted, until nobody uses them any more.

They get a finalizer when they are made; the controllers ``persistentvolume-protection-controller`` and
``persistentvolumeclaim-protection-controller`` take it away.

COMPAT: plugin/pkg/admission/storage/storageobjectinuseprotection
"""

from __future__ import annotations

from apiserver import hookimpl
from apiserver.api.admission import CREATE, AdmissionRequest
from apiserver.api.names import GroupResource

FINALIZERS = {
    GroupResource("", "persistentvolumes"): "kubernetes.io/pv-protection",
    GroupResource("", "persistentvolumeclaims"): "kubernetes.io/pvc-protection",
}


@hookimpl(priority=2000)
def apiserver_admit(request: AdmissionRequest) -> None:
    finalizer = FINALIZERS.get(request.resource.group_resource)
    if finalizer is None or request.subresource or request.operation != CREATE or request.object is None:
        return
    metadata = request.object["metadata"]
    finalizers = metadata.get("finalizers") or []
    if finalizer not in finalizers:
        metadata["finalizers"] = [*finalizers, finalizer]
