"""What pods and other objects use, and which of them a quota is about."""

from __future__ import annotations

from typing import Any

import pytest

from apiserver.api.names import GroupResource
from apiserver_plugins.quota.names import CLAIMS, PODS, SERVICES, user_of
from apiserver_plugins.quota.scopes import matches, requirements, used
from apiserver_plugins.quota.usage import measure

Object = dict[str, Any]


def container(name: str = "c", *, limits: Object | None = None, restart: str = "", **requests: str) -> Object:
    made: Object = {"name": name, "resources": {"requests": requests, "limits": limits or {}}}
    return {**made, "restartPolicy": restart} if restart else made


def pod(*containers: Object, status: Object | None = None, metadata: Object | None = None, **spec: Any) -> Object:
    return {"metadata": metadata or {}, "spec": {"containers": list(containers), **spec}, "status": status or {}}


def told(obj: Object, resource: GroupResource = PODS) -> dict[str, str]:
    """What the object uses, as texts; counts left out."""
    found = {name: str(part) for name, part in measure(resource, obj).now().items()}
    return {name: text for name, text in found.items() if not name.startswith("count/") and name != "pods"}


def test_containers_are_added_up() -> None:
    obj = pod(container(cpu="250m", memory="64Mi"), container(cpu="1", limits={"cpu": "2"}))
    assert told(obj) == {
        "cpu": "1250m", "requests.cpu": "1250m", "memory": "64Mi", "requests.memory": "64Mi", "limits.cpu": "2",
    }  # fmt: skip


def test_the_greatest_init_container_counts_if_it_needs_more() -> None:
    obj = pod(container(cpu="1"), container(cpu="1"), initContainers=[container(cpu="3"), container(cpu="500m")])
    assert told(obj)["cpu"] == "3"


def test_init_containers_that_stay_count_beside_all_that_come_after() -> None:
    init = [container(cpu="1", restart="Always"), container(cpu="4"), container(cpu="1", restart="Always")]
    assert told(pod(container(cpu="2"), initContainers=init))["cpu"] == "5"
    assert told(pod(container(cpu="4"), initContainers=init))["cpu"] == "6"


def test_overhead_is_added_to_limits_only_where_there_are_any() -> None:
    obj = pod(container(cpu="1", limits={"cpu": "2"}), overhead={"cpu": "100m", "memory": "16Mi"})
    assert told(obj) == {
        "cpu": "1100m", "requests.cpu": "1100m", "memory": "16Mi", "requests.memory": "16Mi", "limits.cpu": "2100m",
    }  # fmt: skip


def test_what_is_said_for_the_pod_stands_for_its_containers() -> None:
    obj = pod(container(cpu="1"), resources={"requests": {"cpu": "4"}})
    assert told(obj)["cpu"] == "4"


def test_a_pod_that_is_being_resized_counts_with_the_greater_of_both() -> None:
    status = {"containerStatuses": [{"name": "c", "allocatedResources": {"cpu": "2"}}]}
    assert told(pod(container(cpu="1"), status=status))["cpu"] == "2"
    assert told(pod(container(cpu="3"), status=status))["cpu"] == "3"


def test_huge_pages_and_resources_of_others_have_names_of_their_own() -> None:
    asked: Object = {"hugepages-2Mi": "4Mi", "example.com/gpu": "2"}
    obj = pod(container(**asked))
    assert told(obj) == {"hugepages-2Mi": "4Mi", "requests.hugepages-2Mi": "4Mi", "requests.example.com/gpu": "2"}


@pytest.mark.parametrize(
    ("status", "metadata", "charged"),
    [
        ({"phase": "Running"}, {}, True),
        ({"phase": "Failed"}, {}, False),
        ({}, {"deletionTimestamp": "2020-01-01T00:00:00Z", "deletionGracePeriodSeconds": 30}, False),
        ({}, {"deletionTimestamp": "2999-01-01T00:00:00Z", "deletionGracePeriodSeconds": 30}, True),
    ],
)
def test_pods_that_are_over_are_counted_but_not_charged(status: Object, metadata: Object, charged: bool) -> None:
    found = measure(PODS, pod(container(cpu="1"), status=status, metadata=metadata)).now()
    assert str(found["count/pods"]) == "1"
    assert ("cpu" in found, "pods" in found) == (charged, charged)


@pytest.mark.parametrize(
    ("spec", "ports", "balancers"),
    [
        ({"type": "ClusterIP", "ports": [{}]}, "0", "0"),
        ({"type": "NodePort", "ports": [{}, {}]}, "2", "0"),
        ({"type": "LoadBalancer", "ports": [{}, {}]}, "2", "1"),
        (
            {"type": "LoadBalancer", "allocateLoadBalancerNodePorts": False, "ports": [{"nodePort": 30000}, {}]},
            "1",
            "1",
        ),
    ],
)
def test_ports_of_services(spec: Object, ports: str, balancers: str) -> None:
    found = told({"metadata": {}, "spec": spec}, SERVICES)
    assert (found["services.nodeports"], found["services.loadbalancers"]) == (ports, balancers)


def test_a_claim_that_is_growing_counts_with_what_it_has_been_given() -> None:
    claim = {
        "metadata": {"annotations": {"volume.beta.kubernetes.io/storage-class": "old"}},
        "spec": {"resources": {"requests": {"storage": "1Gi"}}, "storageClassName": "new"},
        "status": {"allocatedResources": {"storage": "2Gi"}},
    }
    assert told(claim, CLAIMS) == {
        "persistentvolumeclaims": "1",
        "requests.storage": "2Gi",
        "old.storageclass.storage.k8s.io/persistentvolumeclaims": "1",
        "old.storageclass.storage.k8s.io/requests.storage": "2Gi",
    }


@pytest.mark.parametrize(
    ("name", "resource"),
    [
        ("count/deployments.apps", GroupResource("apps", "deployments")),
        ("count/widgets.example.com", GroupResource("example.com", "widgets")),
        ("requests.cpu", PODS),
        ("hugepages-1Gi", PODS),
        ("requests.example.com/gpu", PODS),
        ("example.com/gpu", None),
        ("requests.storage", CLAIMS),
        ("gold.storageclass.storage.k8s.io/requests.storage", CLAIMS),
        ("services.nodeports", SERVICES),
        ("secrets", GroupResource("", "secrets")),
        ("apples", None),
    ],
)
def test_whose_objects_use_what(name: str, resource: GroupResource | None) -> None:
    assert user_of(name) == resource


def term(scope: str, operator: str, *values: str) -> Object:
    return {"scopeSelector": {"matchExpressions": [{"scopeName": scope, "operator": operator, "values": list(values)}]}}


CROSSING = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"namespaces": ["other"]}]}}


@pytest.mark.parametrize(
    ("spec", "asked", "expected"),
    [
        ({}, {"scopes": ["BestEffort"]}, True),
        ({}, {"scopes": ["BestEffort", "Terminating"]}, False),
        ({"activeDeadlineSeconds": 5}, {"scopes": ["Terminating"]}, True),
        ({"priorityClassName": "high"}, term("PriorityClass", "In", "high", "low"), True),
        ({"priorityClassName": "other"}, term("PriorityClass", "In", "high", "low"), False),
        ({"priorityClassName": "other"}, term("PriorityClass", "NotIn", "high"), True),
        ({}, term("PriorityClass", "NotIn", "high"), True),
        ({}, term("PriorityClass", "Exists"), False),
        ({}, term("PriorityClass", "DoesNotExist"), True),
        ({"affinity": CROSSING}, term("CrossNamespacePodAffinity", "Exists"), True),
        ({}, {"scopes": ["CrossNamespacePodAffinity"]}, False),
    ],
)
def test_which_pods_a_quota_is_about(spec: Object, asked: Object, expected: bool) -> None:
    assert matches(measure(PODS, pod(container(), **spec)), requirements(asked)) is expected


def test_a_scope_is_said_of_pods_alone() -> None:
    secret = measure(GroupResource("", "secrets"), {"metadata": {}})
    found = used(["secrets"], {"scopes": ["BestEffort"]}, [secret])
    assert {name: str(part) for name, part in found.items()} == {"secrets": "0"}


def test_claims_are_chosen_by_all_the_classes_they_name() -> None:
    claim = {"metadata": {}, "spec": {}, "status": {"currentVolumeAttributesClassName": "gold"}}
    asked = requirements(term("VolumeAttributesClass", "In", "gold"))
    assert matches(measure(CLAIMS, claim), asked)
    assert not matches(measure(CLAIMS, {"metadata": {}}), asked)
