"""LimitRanger: defaults and bounds, over HTTP on both stores."""

from __future__ import annotations

import time
from typing import Any

import httpx
import pytest

from tests.server import ServerProcess

Object = dict[str, Any]


def until(ask: Any, test: Any) -> httpx.Response:
    """The answer, as soon as it passes: what was written is seen by admission a moment later."""
    ends = time.monotonic() + 10
    while not test(answer := ask()) and time.monotonic() < ends:
        time.sleep(0.02)
    return answer


@pytest.fixture
def limited(server: ServerProcess, namespace: str) -> str:
    limits = [
        {
            "type": "Container", "max": {"cpu": "1"}, "min": {"cpu": "50m"}, "default": {"cpu": "200m"},
            "defaultRequest": {"cpu": "100m", "memory": "1Mi"}, "maxLimitRequestRatio": {"cpu": "4"},
        },
        {"type": "Pod", "max": {"memory": "1Gi"}, "min": {"memory": "1Ki"}},
        {"type": "PersistentVolumeClaim", "max": {"storage": "2Gi"}, "min": {"storage": "1Gi"}},
    ]  # fmt: skip
    base = f"/api/v1/namespaces/{namespace}"
    server.post(f"{base}/limitranges", {"metadata": {"name": "l"}, "spec": {"limits": limits}}).raise_for_status()
    until(lambda: server.post(f"{base}/pods?dryRun=All", pod()), lambda answer: answer.status_code == 403)
    return base


def pod(requests: Object | None = None, limits: Object | None = None, **spec: Any) -> Object:
    resources = {"requests": requests or {}, "limits": limits or {}}
    container = {"name": "c", "image": "i", "resources": resources}
    return {"metadata": {"name": "p"}, "spec": {"containers": [container], **spec}}


def test_what_a_container_lacks_is_filled_in_and_noted(server: ServerProcess, limited: str) -> None:
    init = [{"name": "before", "image": "i", "resources": {"limits": {"memory": "2Mi"}}}]
    body = pod({"cpu": "150m"}, {"memory": "8Mi"}, initContainers=init)
    made = server.post(f"{limited}/pods", body).json()
    container, before = made["spec"]["containers"][0], made["spec"]["initContainers"][0]
    assert container["resources"] == {
        "requests": {"cpu": "150m", "memory": "8Mi"}, "limits": {"cpu": "200m", "memory": "8Mi"},
    }  # fmt: skip
    assert before["resources"]["limits"] == {"cpu": "200m", "memory": "2Mi"}
    assert made["metadata"]["annotations"]["kubernetes.io/limit-ranger"] == (
        "LimitRanger plugin set: cpu limit for container c; cpu request for init container before; "
        "cpu limit for init container before"
    )


@pytest.mark.parametrize(
    ("requests", "limits", "why"),
    [
        ({}, {"cpu": "2", "memory": "1Mi"}, "maximum cpu usage per Container is 1, but limit is 2"),
        (
            {"cpu": "10m"}, {"cpu": "10m", "memory": "1Mi"},
            "minimum cpu usage per Container is 50m, but request is 10m",
        ),
        (
            {"cpu": "100m"}, {"cpu": "900m", "memory": "1Mi"},
            "cpu max limit to request ratio per Container is 4, but provided ratio is 9.000000",
        ),
        ({}, {"memory": "2Gi"}, "maximum memory usage per Pod is 1Gi, but limit is 2Gi"),
        ({"memory": "5"}, {"memory": "6"}, "minimum memory usage per Pod is 1Ki, but request is 5"),
        ({}, {}, "maximum memory usage per Pod is 1Gi.  No limit is specified"),
        (
            {"cpu": "10m"}, {"cpu": "2", "memory": "1Mi"},
            "[minimum cpu usage per Container is 50m, but request is 10m, maximum cpu usage per Container is 1, but "
            "limit is 2, cpu max limit to request ratio per Container is 4, but provided ratio is 200.000000]",
        ),
    ],
)  # fmt: skip
def test_what_is_out_of_bounds_is_refused(
    server: ServerProcess, limited: str, requests: Object, limits: Object, why: str
) -> None:
    answer = server.post(f"{limited}/pods", pod(requests, limits))
    assert (answer.status_code, answer.json()["message"]) == (403, f'pods "p" is forbidden: {why}')


@pytest.mark.parametrize(
    ("size", "why"),
    [
        ("5Gi", "maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 5Gi"),
        ("5Mi", "minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 5Mi"),
        ("1Gi", ""),
    ],
)
def test_claims_have_bounds_too(server: ServerProcess, limited: str, size: str, why: str) -> None:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}
    answer = server.post(f"{limited}/persistentvolumeclaims", {"metadata": {"name": "c"}, "spec": spec})
    message = f'persistentvolumeclaims "c" is forbidden: {why}' if why else None
    assert (answer.status_code, answer.json().get("message")) == (403 if why else 201, message)


def test_updates_of_pods_are_not_looked_at(server: ServerProcess, limited: str) -> None:
    server.post(f"{limited}/pods", pod({}, {"memory": "8Mi"})).raise_for_status()
    narrow = {"spec": {"limits": [{"type": "Pod", "max": {"memory": "1Mi"}}]}}
    server.patch(f"{limited}/limitranges/l", narrow).raise_for_status()
    assert server.patch(f"{limited}/pods/p", {"metadata": {"labels": {"a": "b"}}}).status_code == 200
