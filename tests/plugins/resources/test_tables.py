"""Cells of tables."""

from __future__ import annotations

import time
from typing import Any

import pytest

from apiserver.api.durations import human_duration, since
from apiserver.api.resource import Column
from apiserver_plugins.resources.common.selectors import format_selector
from apiserver_plugins.resources.core_v1.events import _columns
from apiserver_plugins.resources.core_v1.pod.columns import COLUMNS as POD
from apiserver_plugins.resources.core_v1.service.columns import COLUMNS as SERVICE


def cells(columns: tuple[Column, ...], obj: dict[str, Any], *names: str) -> list[Any]:
    found = {column.name: column.cell for column in columns}
    return [found[name](obj) for name in names]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "<invalid>"), (-1, "0s"), (0, "0s"), (59.9, "59s"), (119, "119s"), (120, "2m"), (200, "3m20s"),
        (600, "10m"), (10799, "179m"), (10800, "3h"), (11000, "3h3m"), (28800, "8h"), (172799, "47h"), (172800, "2d"),
        (180000, "2d2h"), (691200, "8d"), (63072000, "2y"), (63072000 + 86400 * 3, "2y3d"), (252288000, "8y"),
    ],
)  # fmt: skip
def test_durations_are_short(seconds: float, text: str) -> None:
    assert human_duration(seconds) == text


def test_ages_of_times_with_and_without_fractions() -> None:
    hour_ago = time.gmtime(time.time() - 3 * 3600 - 30)
    assert since(time.strftime("%Y-%m-%dT%H:%M:%SZ", hour_ago)) == "3h"
    assert since(time.strftime("%Y-%m-%dT%H:%M:%S.123456Z", hour_ago)) == "3h"
    assert since(None) == "<unknown>"


RUNNING = {"running": {"startedAt": "2020-01-01T00:00:00Z"}}


def pod(status: dict[str, Any], *, deleted: bool = False, **spec: Any) -> dict[str, Any]:
    metadata = {"name": "one", **({"deletionTimestamp": "2020-01-01T00:00:00Z"} if deleted else {})}
    containers = [{"name": "main"}, {"name": "side"}]
    return {"metadata": metadata, "spec": {"containers": containers, **spec}, "status": status}


def container(name: str, state: dict[str, Any], ready: bool = False, restarts: int = 0, **more: Any) -> dict[str, Any]:
    return {"name": name, "ready": ready, "restartCount": restarts, "state": state, **more}


@pytest.mark.parametrize(
    ("obj", "expected"),
    [
        (pod({"phase": "Pending"}), ["0/2", "Pending", "0"]),
        (
            pod(
                {
                    "phase": "Running",
                    "containerStatuses": [container("main", RUNNING, True, 2), container("side", RUNNING, True, 1)],
                }
            ),
            ["2/2", "Running", "3"],
        ),
        (
            pod(
                {
                    "phase": "Running",
                    "containerStatuses": [
                        container("main", {"waiting": {"reason": "CrashLoopBackOff"}}, restarts=5),
                        container("side", RUNNING, True),
                    ],
                }
            ),
            ["1/2", "CrashLoopBackOff", "5"],
        ),
        (
            pod({"phase": "Running", "containerStatuses": [container("main", RUNNING, True)]}, deleted=True),
            ["1/2", "Terminating", "0"],
        ),
        (pod({"phase": "Succeeded"}, deleted=True), ["0/2", "Succeeded", "0"]),
        (
            pod({"phase": "Running", "reason": "NodeLost"}, deleted=True),
            ["0/2", "Unknown", "0"],
        ),
        (
            pod({"phase": "Failed", "containerStatuses": [container("main", {"terminated": {"exitCode": 3}})]}),
            ["0/2", "ExitCode:3", "0"],
        ),
        (
            pod(
                {
                    "phase": "Pending",
                    "initContainerStatuses": [container("i", {"waiting": {"reason": "PodInitializing"}})],
                },
                initContainers=[{"name": "i"}, {"name": "j"}],
            ),
            ["0/2", "Init:0/2", "0"],
        ),
        (
            pod(
                {
                    "phase": "Running",
                    "initContainerStatuses": [container("s", RUNNING, True, 1, started=True)],
                    "containerStatuses": [container("main", RUNNING, True)],
                },
                initContainers=[{"name": "s", "restartPolicy": "Always"}],
            ),
            ["2/3", "Running", "1"],
        ),
        (
            pod(
                {"phase": "Pending", "conditions": [{"type": "PodScheduled", "reason": "SchedulingGated"}]},
            ),
            ["0/2", "SchedulingGated", "0"],
        ),
    ],
)
def test_the_state_of_a_pod_is_one_word(obj: dict[str, Any], expected: list[str]) -> None:
    assert cells(POD, obj, "Ready", "Status", "Restarts") == expected


def test_the_last_restart_is_told() -> None:
    ended = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 4 * 3600 - 30))
    last = {"terminated": {"exitCode": 1, "finishedAt": ended}}
    obj = pod({"phase": "Running", "containerStatuses": [container("main", RUNNING, True, 2, lastState=last)]})
    assert cells(POD, obj, "Restarts") == ["2 (4h ago)"]


def test_wide_cells_of_a_pod() -> None:
    assert cells(POD, pod({"phase": "Pending"}), "IP", "Node", "Nominated Node", "Readiness Gates") == ["<none>"] * 4
    status = {"podIPs": [{"ip": "10.1.2.3"}], "conditions": [{"type": "a", "status": "True"}]}
    obj = pod(status, nodeName="n", readinessGates=[{"conditionType": "a"}, {"conditionType": "b"}])
    assert cells(POD, obj, "IP", "Node", "Readiness Gates") == ["10.1.2.3", "n", "1/2"]


TCP = {"port": 80, "protocol": "TCP"}


@pytest.mark.parametrize(
    ("spec", "status", "expected"),
    [
        (
            {"type": "ClusterIP", "clusterIPs": ["None"], "ports": [TCP, {"port": 53, "protocol": "UDP"}]},
            {},
            ["ClusterIP", "None", "<none>", "80/TCP,53/UDP"],
        ),
        (
            {"type": "ExternalName", "externalName": "example.com"},
            {},
            ["ExternalName", "<none>", "example.com", "<none>"],
        ),
        (
            {"type": "LoadBalancer", "clusterIPs": ["10.0.0.1"], "ports": [{**TCP, "nodePort": 30001}]},
            {},
            ["LoadBalancer", "10.0.0.1", "<pending>", "80:30001/TCP"],
        ),
        (
            {"type": "LoadBalancer", "clusterIPs": ["10.0.0.1"], "externalIPs": ["9.9.9.9"]},
            {"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}, {"hostname": "x"}]}},
            ["LoadBalancer", "10.0.0.1", "1.2.3.4,x,9.9.9.9", "<none>"],
        ),
    ],
)  # fmt: skip
def test_cells_of_a_service(spec: dict[str, Any], status: dict[str, Any], expected: list[str]) -> None:
    obj = {"metadata": {"name": "s"}, "spec": spec, "status": status}
    assert cells(SERVICE, obj, "Type", "Cluster-IP", "External-IP", "Port(s)") == expected


def test_both_forms_of_an_event_look_alike() -> None:
    core = {
        "metadata": {"name": "e"}, "involvedObject": {"kind": "Pod", "name": "p"}, "message": " hello ", "count": 3,
        "source": {"component": "kubelet", "host": "n"}, "type": "Normal",
    }  # fmt: skip
    new = {
        "metadata": {"name": "e"}, "regarding": {"kind": "Pod", "name": "p"}, "note": " hello ", "deprecatedCount": 3,
        "deprecatedSource": {"component": "kubelet", "host": "n"}, "type": "Normal",
    }  # fmt: skip
    names = ("Object", "Message", "Source", "Count", "Last Seen")
    expected = ["pod/p", "hello", "kubelet, n", 3, "<unknown>"]
    assert cells(_columns({}), core, *names) == cells(_columns({}), new, *names) == expected


@pytest.mark.parametrize(
    ("selector", "text"),
    [
        (None, "<none>"),
        ({}, "<none>"),
        ({"matchLabels": {"b": "2", "a": "1"}}, "a=1,b=2"),
        (
            {
                "matchLabels": {"m": "1"},
                "matchExpressions": [
                    {"key": "z", "operator": "In", "values": ["y", "x"]},
                    {"key": "a", "operator": "Exists"},
                    {"key": "b", "operator": "DoesNotExist"},
                    {"key": "c", "operator": "NotIn", "values": ["d"]},
                ],
            },
            "a,!b,c notin (d),m=1,z in (x,y)",
        ),
    ],
)
def test_selectors_are_shown_as_one_types_them(selector: dict[str, Any] | None, text: str) -> None:
    assert format_selector(selector) == text
