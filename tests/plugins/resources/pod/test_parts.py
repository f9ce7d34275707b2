"""Changing one part of a pod: its resources, its ephemeral containers."""

from __future__ import annotations

from typing import Any

import pytest

from tests.plugins.resources.pod.cluster import Cluster, Object

RESOURCES = "spec.containers[0].resources"
BURSTABLE = {"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"cpu": "200m"}}


def container(name: str = "c", **fields: Any) -> Object:
    return {"name": name, "image": "x", **fields}


def resize(cluster: Cluster, *containers: Object, kind: str = "strategic", **spec: Any) -> Any:
    body = {"spec": {"containers": list(containers), **spec}}
    return cluster.server.patch(f"{cluster.path}/pods/p/resize", body, kind)


def causes(answer: Any) -> list[str]:
    assert answer.status == 422, answer.text
    return [f"{cause['field']}: {cause['message']}" for cause in answer.json["details"]["causes"]]


def test_a_resize_changes_the_resources_and_nothing_else(cluster: Cluster) -> None:
    cluster.pod(labels={"a": "b"}, containers=[container(resources=BURSTABLE)])
    wanted = container(image="other", resources={"requests": {"cpu": "150m"}})
    body = {"metadata": {"labels": {"a": "c"}}, "spec": {"containers": [wanted]}, "status": {"phase": "Failed"}}
    answer = cluster.server.patch(f"{cluster.path}/pods/p/resize", body, "strategic")
    assert answer.status == 200, answer.text
    pod = answer.json
    assert pod["spec"]["containers"][0]["image"] == "x"
    assert pod["spec"]["containers"][0]["resources"] == {**BURSTABLE, "requests": {"cpu": "150m", "memory": "64Mi"}}
    assert (pod["metadata"]["labels"], pod["status"]["phase"]) == ({"a": "b"}, "Pending")
    assert pod["metadata"]["generation"] == 2
    owners = [entry for entry in pod["metadata"]["managedFields"] if entry.get("subresource") == "resize"]
    assert [entry["fieldsV1"] for entry in owners] == [
        {"f:spec": {"f:containers": {'k:{"name":"c"}': {"f:resources": {"f:requests": {"f:cpu": {}}}}}}}
    ]


def test_a_resize_to_what_is_there_changes_nothing(cluster: Cluster) -> None:
    made = cluster.pod(containers=[container(resources=BURSTABLE)])
    answer = resize(cluster, container(resources=BURSTABLE))
    assert answer.json["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]


@pytest.mark.parametrize(
    ("resources", "problem"),
    [
        ({"requests": {"memory": None}}, f"{RESOURCES}.requests: Forbidden: resource requests cannot be removed"),
        ({"limits": {"cpu": None}}, f"{RESOURCES}.limits: Forbidden: resource limits cannot be removed"),
        ({"requests": {"ephemeral-storage": "1Gi"}}, "spec: Forbidden: only cpu and memory resources are mutable"),
        (
            {"requests": {"cpu": "200m"}, "limits": {"memory": "64Mi"}},
            'spec: Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing',
        ),
    ],
)  # fmt: skip
def test_a_resize_cannot_do_more(cluster: Cluster, resources: Object, problem: str) -> None:
    cluster.pod(containers=[container(resources=BURSTABLE)])
    assert causes(resize(cluster, container(resources=resources))) == [problem]


def test_containers_keep_their_names_and_their_number(cluster: Cluster) -> None:
    cluster.pod(containers=[container("a"), container("b")])
    answer = resize(cluster, container("b"), container("a"), kind="merge")
    assert causes(answer) == [
        f"spec.containers[{i}].name: Forbidden: containers may not be renamed or reordered on resize" for i in (0, 1)
    ]
    assert causes(resize(cluster, container("a"), kind="merge")) == [
        "spec.containers: Forbidden: containers may not be added or removed on resize"
    ]


def test_only_sidecars_may_need_a_restart_for_a_resize(cluster: Cluster) -> None:
    policy = [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]
    init = [container(n, resources=BURSTABLE, resizePolicy=policy) for n in ("i", "s")]
    init[1]["restartPolicy"] = "Always"
    cluster.pod(initContainers=init)
    changed = {"requests": {"cpu": "110m"}}
    answer = resize(cluster, initContainers=[container("i", resources=changed), container("s", resources=changed)])
    assert causes(answer) == [
        "spec.initContainers[0]: Forbidden: non-sidecar init containers with a resize policy of RestartContainer "
        "cannot be resized"
    ]
    assert resize(cluster, initContainers=[container("s", resources=changed)]).status == 200


def test_a_node_that_does_not_show_resources_cannot_resize(cluster: Cluster) -> None:
    cluster.pod(containers=[container(resources=BURSTABLE)])
    shown = {"name": "c", "image": "x", "imageID": "", "ready": True, "restartCount": 0, "state": {"running": {}}}
    cluster.status("p", containerStatuses=[shown])
    wanted = container(resources={"requests": {"cpu": "150m"}})
    assert causes(resize(cluster, wanted)) == ["spec: Forbidden: Pod running on node without support for resize"]
    cluster.status("p", containerStatuses=[{**shown, "resources": BURSTABLE}])
    assert resize(cluster, wanted).status == 200


@pytest.mark.parametrize(
    ("subresource", "message"),
    [
        ("resize", "static pods cannot be resized"),
        ("ephemeralcontainers", "static pods do not support ephemeral containers"),
    ],
)
def test_a_pod_that_a_kubelet_runs_by_itself_stays_as_it_is(cluster: Cluster, subresource: str, message: str) -> None:
    body = {"metadata": {"name": "p", "annotations": {"kubernetes.io/config.mirror": "x"}}}
    cluster.made(f"{cluster.path}/pods", {**body, "spec": {"containers": [container()]}})
    answer = cluster.server.patch(f"{cluster.path}/pods/p/{subresource}", {"metadata": {"labels": {"a": "b"}}})
    assert causes(answer) == [f"<nil>: Forbidden: {message}"]


# -- ephemeral containers -------------------------------------------------------------------------------------------


def join(cluster: Cluster, *containers: Object, kind: str = "strategic") -> Any:
    body = {"spec": {"ephemeralContainers": list(containers)}}
    return cluster.server.patch(f"{cluster.path}/pods/p/ephemeralcontainers", body, kind)


def test_an_ephemeral_container_joins_and_stays(cluster: Cluster) -> None:
    cluster.pod()
    answer = join(cluster, container("debug", targetContainerName="c", command=["sh"]))
    assert answer.status == 200, answer.text
    pod = answer.json
    assert [c["name"] for c in pod["spec"]["ephemeralContainers"]] == ["debug"]
    assert pod["spec"]["ephemeralContainers"][0]["terminationMessagePolicy"] == "File"
    assert pod["metadata"]["generation"] == 2
    assert join(cluster, container("second")).status == 200
    assert causes(join(cluster, container("second"), kind="merge")) == [
        'spec.ephemeralContainers: Forbidden: existing ephemeral containers "debug" may not be removed\n'
    ]
    assert causes(join(cluster, container("debug", image="other"))) == [
        'spec.ephemeralContainers: Forbidden: existing ephemeral containers "debug" may not be changed\n'
    ]


def test_nothing_else_changes_with_an_ephemeral_container(cluster: Cluster) -> None:
    cluster.pod(labels={"a": "b"})
    body = {
        "metadata": {"labels": {"a": "c"}},
        "spec": {"activeDeadlineSeconds": 1, "ephemeralContainers": [container("debug")]},
        "status": {"phase": "Failed"},
    }
    pod = cluster.server.patch(f"{cluster.path}/pods/p/ephemeralcontainers", body, "strategic").json
    assert (pod["metadata"]["labels"], pod["status"]["phase"]) == ({"a": "b"}, "Pending")
    assert "activeDeadlineSeconds" not in pod["spec"]


def test_ephemeral_containers_are_checked_like_others(cluster: Cluster) -> None:
    cluster.pod()
    assert causes(join(cluster, {"name": "c", "image": "x"}, {"name": "d"})) == [
        'spec.ephemeralContainers[0].name: Duplicate value: "c"',
        "spec.ephemeralContainers[1].image: Required value",
    ]


def test_pods_do_not_begin_with_ephemeral_containers_by_the_main_endpoint(cluster: Cluster) -> None:
    cluster.pod()
    answer = cluster.server.patch(
        f"{cluster.path}/pods/p", {"spec": {"ephemeralContainers": [container("debug")]}}, "strategic"
    )
    assert answer.status == 422
