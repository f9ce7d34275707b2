"""Eviction: what a disruption budget allows, and how a pod goes."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from apiserver_plugins.resources.core_v1.pod.budgets import taken
from tests.plugins.resources.pod.cluster import Cluster, Object

LABELS = {"app": "web"}
REFUSED = "Cannot evict pod as it would violate the pod's disruption budget."


def running(cluster: Cluster, name: str = "p", ready: str = "True", node: str = "n") -> Object:
    """A pod that has started."""
    cluster.pod(name, LABELS, nodeName=node)
    return cluster.status(name, phase="Running", conditions=[{"type": "Ready", "status": ready}])


def budget(cluster: Cluster, name: str = "b", selector: Any = None, status: Object | None = None, **spec: Any) -> None:
    path = f"/apis/policy/v1/namespaces/{cluster.namespace}/poddisruptionbudgets"
    spec = {"minAvailable": 1, "selector": selector or {"matchLabels": LABELS}, **spec}
    cluster.made(path, {"metadata": {"name": name}, "spec": spec})
    if status is not None:
        write_status(cluster, name, observedGeneration=1, **status)


def write_status(cluster: Cluster, name: str, **status: Any) -> None:
    counts = {"currentHealthy": 0, "desiredHealthy": 0, "expectedPods": 0, "disruptionsAllowed": 0}
    path = f"/apis/policy/v1/namespaces/{cluster.namespace}/poddisruptionbudgets/{name}/status"
    answer = cluster.server.patch(path, {"status": {**counts, **status}})
    assert answer.status == 200, answer.text


def budget_status(cluster: Cluster, name: str = "b") -> Object:
    path = f"/apis/policy/v1/namespaces/{cluster.namespace}/poddisruptionbudgets/{name}"
    return cluster.server.get(path).json["status"]


def evict(cluster: Cluster, name: str = "p", query: str = "", **options: Any) -> Any:
    body: Object = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
    if options:
        body["deleteOptions"] = options
    return cluster.post(f"pods/{name}/eviction{query}", body)


def conditions(pod: Object) -> dict[str, Object]:
    return {condition["type"]: condition for condition in pod["status"]["conditions"]}


def test_a_pod_without_a_budget_goes_with_its_grace_and_says_why(cluster: Cluster) -> None:
    running(cluster)
    answer = evict(cluster, gracePeriodSeconds=60)
    assert (answer.status, answer.json) == (
        201, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201},
    )  # fmt: skip
    pod = cluster.get("pods/p").json
    assert pod["metadata"]["deletionGracePeriodSeconds"] == 60
    condition = conditions(pod)["DisruptionTarget"]
    assert (condition["status"], condition["reason"], condition["message"]) == (
        "True", "EvictionByEvictionAPI", "Eviction API: evicting",
    )  # fmt: skip


def test_a_repeated_eviction_is_fine(cluster: Cluster) -> None:
    running(cluster)
    assert evict(cluster).status == 201
    before = cluster.get("pods/p").json
    assert evict(cluster).status == 201
    assert cluster.get("pods/p").json == before


def test_a_dry_run_changes_nothing(cluster: Cluster) -> None:
    before = running(cluster)
    budget(cluster, status={"disruptionsAllowed": 1})
    assert evict(cluster, query="?dryRun=All").status == 201
    assert evict(cluster, dryRun=["All"]).status == 201
    assert cluster.get("pods/p").json == before
    assert budget_status(cluster)["disruptionsAllowed"] == 1


def test_the_body_must_mean_the_pod_of_the_url(cluster: Cluster) -> None:
    running(cluster)
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "q"}}
    answer = cluster.post("pods/p/eviction", body)
    assert cluster.refused(answer, 400, "BadRequest") == "name in URL does not match name in Eviction object"
    assert cluster.refused(evict(cluster, "none"), 404, "NotFound") == 'pods "none" not found'


def test_a_budget_that_nobody_has_looked_at_makes_clients_wait(cluster: Cluster) -> None:
    running(cluster)
    budget(cluster)
    answer = evict(cluster)
    assert cluster.refused(answer, 429, "TooManyRequests") == REFUSED
    assert answer.headers["retry-after"] == "10"
    assert answer.json["details"] == {
        "retryAfterSeconds": 10,
        "causes": [
            {
                "reason": "DisruptionBudget",
                "message": "The disruption budget b is still being processed by the server.",
            }
        ],
    }


@pytest.mark.parametrize(
    ("status", "cause"),
    [
        (
            {"currentHealthy": 2, "desiredHealthy": 3},
            "The disruption budget b needs 3 healthy pods and has 2 currently",
        ),
        (
            {"currentHealthy": 3, "desiredHealthy": 2},
            "The disruption budget b does not allow evicting pods currently",
        ),
    ],
)
def test_a_budget_that_is_used_up_refuses(cluster: Cluster, status: Object, cause: str) -> None:
    running(cluster)
    budget(cluster, status=status)
    answer = evict(cluster)
    assert cluster.refused(answer, 429, "TooManyRequests") == REFUSED
    assert "retry-after" not in answer.headers
    assert [c["message"] for c in answer.json["details"]["causes"]] == [cause]
    assert "deletionTimestamp" not in cluster.get("pods/p").json["metadata"]


def test_an_eviction_is_counted(cluster: Cluster) -> None:
    running(cluster)
    running(cluster, "q")
    budget(cluster, status={"disruptionsAllowed": 2})
    assert evict(cluster).status == 201
    status = budget_status(cluster)
    assert (status["disruptionsAllowed"], list(status["disruptedPods"])) == (1, ["p"])
    assert not status.get("conditions")
    assert evict(cluster, "q").status == 201
    status = budget_status(cluster)
    assert (status["disruptionsAllowed"], sorted(status["disruptedPods"])) == (0, ["p", "q"])
    condition = conditions({"status": status})["DisruptionAllowed"]
    assert (condition["status"], condition["reason"], condition["observedGeneration"]) == (
        "False", "InsufficientPods", 1,
    )  # fmt: skip


def test_evictions_at_the_same_time_never_take_more_than_there_is(cluster: Cluster) -> None:
    names = [f"p{i}" for i in range(8)]
    for name in names:
        running(cluster, name)
    budget(cluster, status={"disruptionsAllowed": 3})
    found: list[int] = []
    threads = [threading.Thread(target=lambda n=name: found.append(evict(cluster, n).status)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(found) == [201] * 3 + [429] * 5
    assert budget_status(cluster)["disruptionsAllowed"] == 0


def test_two_budgets_for_a_pod_are_an_error(cluster: Cluster) -> None:
    running(cluster)
    budget(cluster, "a")
    budget(cluster, "b", selector={"matchExpressions": [{"key": "app", "operator": "Exists"}]})
    assert cluster.refused(evict(cluster), 500) == (
        "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
    )


@pytest.mark.parametrize("phase", ["Pending", "Succeeded", "Failed"])
def test_a_pod_that_serves_nobody_needs_no_budget(cluster: Cluster, phase: str) -> None:
    running(cluster)
    cluster.status("p", phase=phase)
    budget(cluster)
    assert evict(cluster).status == 201


def test_a_pod_that_is_not_ready_goes_when_the_others_suffice(cluster: Cluster) -> None:
    running(cluster, ready="False")
    budget(cluster, status={"currentHealthy": 1, "desiredHealthy": 1})
    assert evict(cluster).status == 201
    assert "disruptedPods" not in budget_status(cluster)


def test_a_pod_that_is_not_ready_counts_when_the_others_do_not_suffice(cluster: Cluster) -> None:
    running(cluster, ready="False")
    budget(cluster, status={"currentHealthy": 0, "desiredHealthy": 1})
    assert evict(cluster).status == 429


def test_a_budget_may_let_every_pod_go_that_is_not_ready(cluster: Cluster) -> None:
    running(cluster, ready="False")
    budget(cluster, unhealthyPodEvictionPolicy="AlwaysAllow", status={"desiredHealthy": 1})
    assert evict(cluster).status == 201


@pytest.mark.parametrize(
    ("preconditions", "text"),
    [
        (
            {"uid": "11111111-2222-3333-4444-555555555555"},
            "the UID in the precondition (11111111-2222-3333-4444-555555555555) does not match the UID in record (",
        ),
        ({"resourceVersion": "1"}, "the ResourceVersion in the precondition (1) does not match the ResourceVersion in"),
    ],
)
def test_preconditions_hold(cluster: Cluster, preconditions: Object, text: str) -> None:
    before = running(cluster)
    message = cluster.refused(evict(cluster, preconditions=preconditions), 409, "Conflict")
    assert message.startswith(f'Operation cannot be fulfilled on Pod "p": {text}')
    assert cluster.get("pods/p").json == before


def test_good_preconditions_survive_the_mark_in_the_status(cluster: Cluster) -> None:
    meta = running(cluster)["metadata"]
    wanted = {"uid": meta["uid"], "resourceVersion": meta["resourceVersion"]}
    assert evict(cluster, preconditions=wanted).status == 201


def status_of(**status: Any) -> Object:
    return {"metadata": {"name": "b", "generation": 1}, "status": {"observedGeneration": 1, **status}}


@pytest.mark.parametrize(
    ("status", "text"),
    [
        ({"disruptionsAllowed": -1}, "pdb disruptions allowed is negative"),
        ({"disruptionsAllowed": 1, "disruptedPods": dict.fromkeys(map(str, range(2001)), "t")}, "map too big"),
        ({"conditions": [{"type": "DisruptionAllowed", "status": "False", "reason": "SyncFailed", "message": "m"}]},
         "because it failed sync: m"),
    ],
)  # fmt: skip
def test_a_budget_whose_status_makes_no_sense_refuses(status: Object, text: str) -> None:
    with pytest.raises(Exception) as caught:
        taken(status_of(**status), "p")
    error: Any = caught.value
    assert text in str(error.status())
