"""ServiceAccount: every pod runs as somebody, and finds that account's token where programs look for it.

COMPAT: plugin/pkg/admission/serviceaccount
"""

from __future__ import annotations

import secrets
import time
from typing import Any

from apiserver import hookimpl
from apiserver.api.admission import CREATE, AdmissionRequest
from apiserver.api.errors import NotFound
from apiserver.api.names import GroupResource
from apiserver.api.rest import GetOptions

PODS = GroupResource("", "pods")
ACCOUNTS = GroupResource("", "serviceaccounts")
DEFAULT = "default"
MIRROR = "kubernetes.io/config.mirror"
VOLUME = "kube-api-access-"
MOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
_TRIES, _PAUSE = 10, 0.1
"""A new namespace gets its default account a moment later: so often and so long (seconds) it is waited for."""


@hookimpl(priority=700)
def apiserver_admit(request: AdmissionRequest) -> None:
    pod = request.object
    if request.operation != CREATE or request.subresource or request.resource.group_resource != PODS or pod is None:
        return
    spec = pod.setdefault("spec", {})
    if MIRROR in (pod["metadata"].get("annotations") or {}):
        _mirror(request, spec)
        return
    if not spec.get("serviceAccountName"):
        spec["serviceAccountName"] = spec["serviceAccount"] = DEFAULT
    account = _account(request, spec["serviceAccountName"])
    if _automount(spec, account):
        _mount(spec)
    if not spec.get("imagePullSecrets") and account.get("imagePullSecrets"):
        spec["imagePullSecrets"] = [{"name": ref.get("name", "")} for ref in account["imagePullSecrets"]]


def _mirror(request: AdmissionRequest, spec: dict[str, Any]) -> None:
    """A mirror pod shows what a kubelet runs already; it can't be given anything."""
    if spec.get("serviceAccountName"):
        raise request.forbidden("a mirror pod may not reference service accounts")
    for volume in spec.get("volumes") or ():
        if volume.get("secret"):
            raise request.forbidden("a mirror pod may not reference secrets")
        if any(source.get("serviceAccountToken") for source in (volume.get("projected") or {}).get("sources") or ()):
            raise request.forbidden("a mirror pod may not use ServiceAccountToken volume projections")


def _account(request: AdmissionRequest, name: str) -> dict[str, Any]:
    server, namespace = request.server, request.namespace
    found = server.lister(ACCOUNTS).get(namespace, name)
    tries = _TRIES if name == DEFAULT else 1
    while found is None and tries > 0:
        try:
            found = server.store(ACCOUNTS).get(server.system_context(namespace), name, GetOptions())
        except NotFound:
            tries -= 1
            if tries:
                time.sleep(_PAUSE)
    if found is None:
        # COMPAT: the inner error calls the resource by its singular
        why = f'error looking up service account {namespace}/{name}: serviceaccount "{name}" not found'
        raise request.forbidden(why)
    return found.decode()


def _automount(spec: dict[str, Any], account: dict[str, Any]) -> bool:
    """The pod's word counts first, then the account's; both silent means yes."""
    for holder in (spec, account):
        if holder.get("automountServiceAccountToken") is not None:
            return bool(holder["automountServiceAccountToken"])
    return True


def _mount(spec: dict[str, Any]) -> None:
    volumes = spec.get("volumes") or []
    present = next((v["name"] for v in volumes if v.get("name", "").startswith(VOLUME)), None)
    name = present or VOLUME + "".join(secrets.choice(_ALPHABET) for _ in range(5))
    needed = False
    for container in (*(spec.get("initContainers") or ()), *(spec.get("containers") or ())):
        mounts = container.get("volumeMounts") or []
        # COMPAT: something else mounted there means that no token is wanted
        if not any(mount.get("mountPath") == MOUNT_PATH for mount in mounts):
            container["volumeMounts"] = [*mounts, {"name": name, "readOnly": True, "mountPath": MOUNT_PATH}]
            needed = True
    if needed and present is None:
        spec["volumes"] = [*volumes, {"name": name, "projected": _token_volume()}]


def _token_volume() -> dict[str, Any]:
    namespace = {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}
    return {
        "sources": [
            # COMPAT: seven seconds more than an hour, so that renewals by different programs don't coincide
            {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
            {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
            {"downwardAPI": {"items": [namespace]}},
        ],
        "defaultMode": 0o644,
    }
