"""Nodes, Endpoints, ResourceQuotas and LimitRanges."""

from __future__ import annotations

from typing import Any

import pytest

from apiserver.api.rest import Context
from apiserver_plugins.resources.core_v1 import endpoints, limitranges, nodes, resourcequotas
from tests.plugins.resources.cases import cells, having
from tests.plugins.resources.rules import changed, created, errors_of

NODE: dict[str, Any] = {"metadata": {"name": "n"}, "spec": {}}


def test_a_node_is_created_with_its_status(ctx: Context) -> None:
    status = {"capacity": {"cpu": "4"}}
    stored = created(nodes.STRATEGY, ctx, {**NODE, "spec": {"podCIDR": "10.0.0.0/24"}, "status": status})
    assert stored["status"] == {"capacity": {"cpu": "4"}, "allocatable": {"cpu": "4"}}
    assert stored["spec"]["podCIDRs"] == ["10.0.0.0/24"]
    new, _ = changed(nodes.STRATEGY, ctx, stored, having(stored, status={}))
    assert new["status"] == stored["status"]


def test_taints_are_unique_by_key_and_effect(ctx: Context) -> None:
    taints = [{"key": "a", "effect": "NoSchedule"}, {"key": "a", "effect": "NoSchedule"}, {"key": "b", "effect": "X"}]
    assert errors_of(nodes.STRATEGY, ctx, having(NODE, spec__taints=taints)) == [
        'spec.taints[1]: Duplicate value: {"key":"a","effect":"NoSchedule"}: taints must be unique by key and effect '
        "pair",
        'spec.taints[2].effect: Unsupported value: "X": supported values: "NoSchedule", "PreferNoSchedule", '
        '"NoExecute"',
    ]


def test_addresses_and_provider_of_a_node_are_set_once(ctx: Context) -> None:
    set_once = having(NODE, spec__podCIDRs=["10.0.0.0/24"], spec__providerID="p://1")
    old = created(nodes.STRATEGY, ctx, set_once)
    assert changed(nodes.STRATEGY, ctx, created(nodes.STRATEGY, ctx, NODE), old)[1] == []
    other = having(old, spec__podCIDRs=["10.0.1.0/24"], spec__providerID="p://2", spec__unschedulable=True)
    assert changed(nodes.STRATEGY, ctx, old, other)[1] == [
        'spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid',
        'spec.providerID: Forbidden: node updates may not change providerID except from "" to valid',
    ]


def test_a_node_in_a_table() -> None:
    labels = {"node-role.kubernetes.io/worker": "", "node-role.kubernetes.io/": "", "kubernetes.io/role": "edge"}
    status = {
        "conditions": [{"type": "Ready", "status": "True"}],
        "addresses": [{"type": "InternalIP", "address": "10.0.0.9"}],
        "nodeInfo": {"kubeletVersion": "v1", "osImage": "Linux"},
    }
    obj = {"metadata": {"name": "n", "labels": labels}, "spec": {"unschedulable": True}, "status": status}
    assert cells(nodes.COLUMNS, obj) == {
        "Status": "Ready,SchedulingDisabled", "Roles": "edge,worker", "Version": "v1", "Internal-IP": "10.0.0.9",
        "External-IP": "<none>", "OS-Image": "Linux", "Kernel-Version": "<unknown>", "Container-Runtime": "<unknown>",
    }  # fmt: skip
    assert nodes.STRATEGY.selectable_fields(obj) == {"spec.unschedulable": "true"}


@pytest.mark.parametrize(
    ("subsets", "expected"),
    [
        ([{"ports": [{"port": 80}]}], ["subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`"]),
        (
            [{"addresses": [{"ip": "10.0.0.1"}], "ports": [{"port": 1}, {"port": 2, "name": "a", "protocol": "X"}]}],
            [
                "subsets[0].ports[0].name: Required value",
                'subsets[0].ports[1].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"',
            ],
        ),
        (
            [{"notReadyAddresses": [{"ip": "169.254.1.1"}]}],
            [
                'subsets[0].notReadyAddresses[0].ip: Invalid value: "169.254.1.1": may not be in the link-local range '
                "(169.254.0.0/16, fe80::/10)"
            ],
        ),
    ],
)
def test_what_is_wrong_with_endpoints(ctx: Context, subsets: list[Any], expected: list[str]) -> None:
    obj = {"metadata": {"name": "e", "namespace": "ns"}, "subsets": subsets}
    assert errors_of(endpoints.STRATEGY, ctx, obj) == expected


def test_the_first_endpoints_are_shown() -> None:
    addresses = [{"ip": f"10.0.0.{i}"} for i in range(3)]
    obj = {"subsets": [{"addresses": addresses, "ports": [{"port": 80}, {"port": 81}]}, {"addresses": [{"ip": "::1"}]}]}
    assert cells(endpoints.COLUMNS, obj)["Endpoints"] == "10.0.0.0:80,10.0.0.1:80,10.0.0.2:80 + 4 more..."
    assert cells(endpoints.COLUMNS, {"subsets": []})["Endpoints"] == "<none>"
    assert cells(endpoints.COLUMNS, {"subsets": [{"addresses": [{"ip": "::1"}], "ports": [{"port": 1}]}]}) == {
        "Endpoints": "[::1]:1"
    }


def quota(**spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "q", "namespace": "ns"}, "spec": spec}


EXPRESSIONS = "spec.scopeSelector.matchExpressions"


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"hard": {"requests.hugepages-2Mi": "1", "example.com/gpu": "1", "count/pods": "9"}}, []),
        ({"hard": {"storage": "1"}},
         ['spec.hard[storage]: Invalid value: "storage": must be a standard resource for quota']),
        ({"hard": {"pods": "1"}, "scopes": ["Terminating", "NotTerminating"]},
         ['spec.scopes: Invalid value: ["Terminating","NotTerminating"]: conflicting scopes']),
        ({"hard": {"pods": "1"}, "scopeSelector": {"matchExpressions": [
            {"scopeName": "PriorityClass", "operator": "In", "values": []},
            {"scopeName": "PriorityClass", "operator": "Exists", "values": ["a"]},
            {"scopeName": "PriorityClass", "operator": "Near"}]}},
         [f'{EXPRESSIONS}.operator: Invalid value: "Near": not a valid selector operator',
          f'{EXPRESSIONS}.values: Invalid value: ["a"]: must be no value when `operator` is \'Exist\' or '
          "'DoesNotExist' for scope selector",
          f"{EXPRESSIONS}.values: Required value: must be at least one value when `operator` is 'In' or 'NotIn' for "
          "scope selector"]),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_quota(ctx: Context, spec: dict[str, Any], expected: list[str]) -> None:
    assert errors_of(resourcequotas.STRATEGY, ctx, quota(**spec)) == expected


def test_a_quota_shows_requests_and_limits_apart() -> None:
    status = {"hard": {"pods": "5", "limits.cpu": "2", "cpu": "1"}, "used": {"pods": "2", "limits.cpu": "1500m"}}
    obj = {"status": status}
    assert cells(resourcequotas.COLUMNS, obj) == {"Request": "cpu: 0/1, pods: 2/5", "Limit": "limits.cpu: 1500m/2"}


def limits(*items: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {"namespace": "ns"}, "spec": {"limits": list(items)}}


def test_a_limit_range_without_a_name_gets_one(ctx: Context) -> None:
    assert len(created(limitranges.STRATEGY, ctx, limits())["metadata"]["name"]) == 36


def test_the_maximum_is_the_default_of_containers(ctx: Context) -> None:
    item = {"type": "Container", "max": {"cpu": "2", "memory": "1Gi"}, "default": {"cpu": "1"}}
    stored = created(limitranges.STRATEGY, ctx, limits({**item, "min": {"memory": "1Mi"}}))
    stored_item = stored["spec"]["limits"][0]
    assert stored_item["default"] == stored_item["defaultRequest"] == {"cpu": "1", "memory": "1Gi"}


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ({"type": "PersistentVolumeClaim"},
         ["spec.limits[0].limits: Required value: either minimum or maximum storage value is required, but neither was "
          "provided"]),
        ({"type": "Sock"},
         ['spec.limits[0].type: Invalid value: "Sock": must be a standard limit type or fully qualified']),
        ({"type": "Pod", "max": {"cpu": "4"}, "min": {"cpu": "2"}, "maxLimitRequestRatio": {"cpu": "3"}},
         ['spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "3": ratio 3 is greater than max/min = 2.000000']),
        ({"type": "Pod", "maxLimitRequestRatio": {"cpu": "500m"}},
         ['spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "500m": ratio 500m is less than 1']),
        ({"type": "Container", "default": {"cpu": "1"}, "defaultRequest": {"cpu": "2"}},
         ['spec.limits[0].defaultRequest[cpu]: Invalid value: "2": default request value 2 is greater than default '
          "limit value 1"]),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_limit_range(ctx: Context, item: dict[str, Any], expected: list[str]) -> None:
    assert errors_of(limitranges.STRATEGY, ctx, limits(item)) == expected
