"""What pods, nodes and ingresses get from classes and conditions, over HTTP on both stores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.plugins.admission.test_limit_ranger import pod, until
from tests.server import ServerProcess

Object = dict[str, Any]
RUNTIMES = "/apis/node.k8s.io/v1/runtimeclasses"


@pytest.fixture
def runtime(server: ServerProcess, namespace: str) -> Iterator[str]:
    scheduling = {"nodeSelector": {"kind": "special"}, "tolerations": [{"key": "t", "operator": "Exists"}]}
    body = {"metadata": {"name": namespace}, "handler": "h", "overhead": {"podFixed": {"cpu": "10m"}}}
    server.post(RUNTIMES, {**body, "scheduling": scheduling}).raise_for_status()
    yield namespace
    server.delete(f"{RUNTIMES}/{namespace}").raise_for_status()


def test_a_pod_gets_what_its_runtime_class_has(server: ServerProcess, namespace: str, runtime: str) -> None:
    narrow = {"key": "t", "operator": "Equal", "value": "v", "effect": "NoSchedule"}
    body = pod(runtimeClassName=runtime, tolerations=[narrow], nodeSelector={"a": "b"}, overhead={"cpu": "0.01"})
    spec = server.post(f"/api/v1/namespaces/{namespace}/pods", body).json()["spec"]
    assert spec["overhead"] == {"cpu": "10m"}
    assert spec["nodeSelector"] == {"a": "b", "kind": "special"}
    assert [t["key"] for t in spec["tolerations"]] == [
        "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable", "t",
    ]  # fmt: skip
    assert spec["tolerations"][-1] == {"key": "t", "operator": "Exists"}


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ({"overhead": {"cpu": "1"}}, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"),
        (
            {"nodeSelector": {"kind": "other"}},
            "conflict: runtimeClass.scheduling.nodeSelector[kind] = special; pod.spec.nodeSelector[kind] = other",
        ),
        ({"runtimeClassName": "none"}, 'pod rejected: RuntimeClass "none" not found'),
        (
            {"runtimeClassName": None, "overhead": {"cpu": "1"}},
            "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead",
        ),
    ],
)
def test_what_contradicts_the_runtime_class_is_refused(
    server: ServerProcess, namespace: str, runtime: str, spec: Object, why: str
) -> None:
    answer = server.post(f"/api/v1/namespaces/{namespace}/pods", pod(**{"runtimeClassName": runtime, **spec}))
    assert (answer.status_code, answer.json()["message"]) == (403, f'pods "p" is forbidden: {why}')


def test_a_new_node_is_not_ready(server: ServerProcess, namespace: str) -> None:
    taint = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
    for name, taints in (
        (f"{namespace}-a", []),
        (f"{namespace}-b", [taint]),
        (f"{namespace}-c", [{**taint, "effect": "NoExecute"}]),
    ):
        made = server.post("/api/v1/nodes", {"metadata": {"name": name}, "spec": {"taints": taints}}).json()
        assert taint in made["spec"]["taints"]
        assert len(made["spec"]["taints"]) == (2 if name.endswith("c") else 1)
        server.delete(f"/api/v1/nodes/{name}")


def test_an_ingress_without_a_class_gets_the_default_one(server: ServerProcess, namespace: str) -> None:
    classes, path = (
        "/apis/networking.k8s.io/v1/ingressclasses",
        f"/apis/networking.k8s.io/v1/namespaces/{namespace}/ingresses",
    )
    backend = {"defaultBackend": {"service": {"name": "s", "port": {"number": 1}}}}
    ingress = {"metadata": {"name": "i"}, "spec": backend}
    assert "ingressClassName" not in server.post(f"{path}?dryRun=All", ingress).json()["spec"]
    marked = {"name": namespace, "annotations": {"ingressclass.kubernetes.io/is-default-class": "true"}}
    server.post(classes, {"metadata": marked, "spec": {"controller": "example.com/c"}}).raise_for_status()
    try:
        answer = until(lambda: server.post(f"{path}?dryRun=All", ingress), lambda a: "ingressClassName" in a.text)
        assert answer.json()["spec"]["ingressClassName"] == namespace
        old = {"metadata": {"name": "j", "annotations": {"kubernetes.io/ingress.class": "x"}}, "spec": backend}
        assert "ingressClassName" not in server.post(path, old).json()["spec"]
    finally:
        server.delete(f"{classes}/{namespace}").raise_for_status()


def test_only_one_priority_class_is_the_default(server: ServerProcess, namespace: str) -> None:
    path = "/apis/scheduling.k8s.io/v1/priorityclasses"
    first, second = ({"metadata": {"name": f"{namespace}-{i}"}, "value": 0, "globalDefault": True} for i in "ab")
    server.post(path, first).raise_for_status()
    try:
        answer = until(lambda: server.post(f"{path}?dryRun=All", second), lambda a: a.status_code == 403)
        assert answer.json()["message"] == (
            f'priorityclasses.scheduling.k8s.io "{namespace}-b" is forbidden: PriorityClass {namespace}-a is already '
            "marked as default. Only one default can exist"
        )
        assert server.patch(f"{path}/{namespace}-a", {"metadata": {"labels": {"a": "b"}}}).status_code == 200
    finally:
        server.delete(f"{path}/{namespace}-a").raise_for_status()
