"""Volumes and claims: a default class, growth where it is allowed, and no end while they are in use."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from tests.server import ServerProcess

Object = dict[str, Any]
CLASSES = "/apis/storage.k8s.io/v1/storageclasses"
SECONDS = 15.0


def eventually(test: Callable[[], bool]) -> bool:
    ends = time.monotonic() + SECONDS
    while not test():
        if time.monotonic() > ends:
            return False
        time.sleep(0.05)
    return True


def claim(name: str, **spec: Any) -> Object:
    resources = {"requests": {"storage": "1Gi"}}
    return {"metadata": {"name": name}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": resources, **spec}}


def storage_class(name: str, **more: Any) -> Object:
    return {"metadata": {"name": name}, "provisioner": "example.com/none", **more}


def claims(namespace: str, name: str = "") -> str:
    return f"/api/v1/namespaces/{namespace}/persistentvolumeclaims" + (f"/{name}" if name else "")


def test_a_claim_in_use_stays_until_the_pod_is_gone(server: ServerProcess, namespace: str) -> None:
    made = server.post(claims(namespace), claim("data")).json()
    assert made["metadata"]["finalizers"] == ["kubernetes.io/pvc-protection"]
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    spec = {"nodeName": "n1", "volumes": volumes, "containers": [{"name": "c", "image": "i"}]}
    pods = f"/api/v1/namespaces/{namespace}/pods"
    assert server.post(pods, {"metadata": {"name": "p"}, "spec": spec}).status_code == 201
    server.delete(claims(namespace, "data"))
    time.sleep(1.5)
    assert server.get(claims(namespace, "data")).json()["metadata"]["deletionTimestamp"]
    server.delete(f"{pods}/p?gracePeriodSeconds=0")
    assert eventually(lambda: server.get(claims(namespace, "data")).status_code == 404)


def test_a_claim_that_nobody_uses_goes(server: ServerProcess, namespace: str) -> None:
    server.post(claims(namespace), claim("idle"))
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "idle"}}]
    spec = {"volumes": volumes, "containers": [{"name": "c", "image": "i"}]}  # scheduled nowhere
    server.post(f"/api/v1/namespaces/{namespace}/pods", {"metadata": {"name": "p"}, "spec": spec})
    server.delete(claims(namespace, "idle"))
    assert eventually(lambda: server.get(claims(namespace, "idle")).status_code == 404)


def test_a_bound_volume_stays_until_it_is_released(server: ServerProcess, namespace: str) -> None:
    path, name = "/api/v1/persistentvolumes", f"v-{namespace}"
    spec = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}}
    made = server.post(path, {"metadata": {"name": name}, "spec": spec}).json()
    assert made["metadata"]["finalizers"] == ["kubernetes.io/pv-protection"]
    server.patch(f"{path}/{name}/status", {"status": {"phase": "Bound"}}).raise_for_status()
    server.delete(f"{path}/{name}")
    time.sleep(1.5)
    assert server.get(f"{path}/{name}").status_code == 200
    server.patch(f"{path}/{name}/status", {"status": {"phase": "Released"}}).raise_for_status()
    assert eventually(lambda: server.get(f"{path}/{name}").status_code == 404)


def test_a_claim_without_a_class_gets_the_default_one(server: ServerProcess, namespace: str) -> None:
    annotations = {"storageclass.kubernetes.io/is-default-class": "true"}
    marked = storage_class(f"standard-{namespace}")
    marked["metadata"]["annotations"] = annotations
    server.post(CLASSES, marked).raise_for_status()
    try:
        assert eventually(
            lambda: (
                server.post(f"{claims(namespace)}?dryRun=All", claim("a")).json()["spec"].get("storageClassName")
                == f"standard-{namespace}"
            )
        )
        none = server.post(claims(namespace), claim("b", storageClassName="")).json()
        assert none["spec"]["storageClassName"] == ""
    finally:
        server.delete(f"{CLASSES}/standard-{namespace}")


def test_a_claim_grows_where_its_class_allows_it(server: ServerProcess, namespace: str) -> None:
    fixed, wide = f"fixed-{namespace}", f"wide-{namespace}"
    server.post(CLASSES, storage_class(fixed)).raise_for_status()
    server.post(CLASSES, storage_class(wide, allowVolumeExpansion=True)).raise_for_status()
    more = {"spec": {"resources": {"requests": {"storage": "2Gi"}}}}
    for name, class_, status in (("a", fixed, 403), ("b", wide, 200), ("c", "", 403)):
        server.post(claims(namespace), claim(name, storageClassName=class_)).raise_for_status()
        server.patch(f"{claims(namespace, name)}/status", {"status": {"phase": "Bound"}}).raise_for_status()
        answer = server.patch(claims(namespace, name), more)
        assert answer.status_code == status, answer.text
    for name in (fixed, wide):
        server.delete(f"{CLASSES}/{name}")
