"""Volumes and claims that are being deleted go when nobody uses them any more.

They carry a finalizer from the admission plugin StorageObjectInUseProtection; here it is taken away. Each process looks
at all of them, and whoever is last finds the work done.

COMPAT: pkg/controller/volume/pvcprotection, pkg/controller/volume/pvprotection
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from apiserver import hookimpl
from apiserver.api.encoded import EncodedObject
from apiserver.api.errors import ApiError, NotFound
from apiserver.api.names import GroupResource
from apiserver.api.server import Server
from apiserver.api.storage import StorageError
from apiserver_plugins.controllers.changing import change
from apiserver_plugins.controllers.controllers import enabled

LOG = logging.getLogger(__name__)
Object = dict[str, Any]
VOLUMES = GroupResource("", "persistentvolumes")
CLAIMS = GroupResource("", "persistentvolumeclaims")
PODS = GroupResource("", "pods")
INTERVAL = 0.5
"""Seconds between two looks for something that has changed."""


def uses(pod: Object, claim: Object) -> bool:
    """Whether a pod uses a claim. COMPAT: podUsesPVC: only the kubelet of a scheduled pod can."""
    spec = pod.get("spec") or {}
    if not spec.get("nodeName"):
        return False
    name = claim["metadata"]["name"]
    for volume in spec.get("volumes") or ():
        if (volume.get("persistentVolumeClaim") or {}).get("claimName") == name:
            return True
        made_for_it = volume.get("ephemeral") is not None and f"{pod['metadata']['name']}-{volume['name']}" == name
        if made_for_it and _owned(claim, pod):
            return True
    return False


def _owned(claim: Object, pod: Object) -> bool:
    owners = claim["metadata"].get("ownerReferences") or ()
    return any(owner.get("controller") and owner.get("uid") == pod["metadata"].get("uid") for owner in owners)


def _claim_in_use(server: Server, claim: Object) -> bool:
    pods = server.lister(PODS).list(claim["metadata"]["namespace"])
    return any(uses(pod.decode(), claim) for pod in pods)


def _volume_in_use(_server: Server, volume: Object) -> bool:
    return bool((volume.get("status") or {}).get("phase") == "Bound")


@dataclass(frozen=True)
class Protection:
    """One controller.

    :param in_use: whether an object must stay.
    :param others: what that depends on beside the object.
    """

    name: str
    resource: GroupResource
    finalizer: str
    in_use: Callable[[Server, Object], bool]
    others: Sequence[GroupResource] = ()

    def run(self, server: Server, wait: Callable[[float], bool]) -> None:
        """The loop, until ``wait`` says it is time to end."""
        listers = [server.lister(resource) for resource in (self.resource, *self.others)]
        seen: list[int] = []
        while wait(INTERVAL):
            try:
                objects = listers[0].list()
                now = [lister.revision for lister in listers]
                if now == seen:
                    continue
                done = [self._visit(server, obj) for obj in objects]
            except (ApiError, StorageError) as ex:
                LOG.warning("%s: %s", self.name, ex)
                continue
            seen = now if all(done) else []

    def _visit(self, server: Server, encoded: EncodedObject) -> bool:
        """Let an object go if it may; whether there is nothing more to do for now."""
        if self.finalizer.encode() not in encoded.rest or b'"deletionTimestamp"' not in encoded.rest:
            return True
        obj = encoded.decode()
        metadata = obj["metadata"]
        if not metadata.get("deletionTimestamp") or self.finalizer not in (metadata.get("finalizers") or ()):
            return True
        if self.in_use(server, obj):
            return True
        try:
            change(server, self.resource, encoded.namespace, encoded.name, self._release)
        except NotFound:
            return True
        except ApiError as ex:
            LOG.warning("%s: %s of %s can't be released: %s", self.name, encoded.name, self.resource, ex)
            return False
        return True

    def _release(self, obj: Object) -> None:
        metadata = obj["metadata"]
        metadata["finalizers"] = [name for name in metadata.get("finalizers") or () if name != self.finalizer]


PROTECTIONS = (
    Protection(
        "persistentvolumeclaim-protection-controller", CLAIMS, "kubernetes.io/pvc-protection", _claim_in_use, (PODS,)
    ),
    Protection("persistentvolume-protection-controller", VOLUMES, "kubernetes.io/pv-protection", _volume_in_use),
)


@hookimpl
def apiserver_started(server: Server) -> None:
    for protection in PROTECTIONS:
        if enabled(server.config, protection.name):
            server.background(protection.name, functools.partial(protection.run, server))
