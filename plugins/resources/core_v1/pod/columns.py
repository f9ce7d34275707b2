"""The cells of a Pod in tables: what its containers' states add up to.

COMPAT: pkg/printers/internalversion printPod
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from apiserver.api.durations import since
from apiserver.api.resource import Column
from apiserver_plugins.resources.common.columns import AGE, NONE, value_at

Object = dict[str, Any]
State = Mapping[str, Any]

_TERMINAL = ("Succeeded", "Failed")


@dataclass(slots=True)
class _Summary:
    """What the statuses of containers add up to."""

    reason: str
    ready: int = 0
    restarts: int = 0
    last_restart: str = ""

    def count_restarts(self, status: State) -> None:
        self.restarts += status.get("restartCount") or 0
        finished = value_at(dict(status), "lastState", "terminated", "finishedAt") or ""
        self.last_restart = max(self.last_restart, finished)


def _ended(terminated: State) -> str:
    """Why a container ended."""
    if terminated.get("reason"):
        return str(terminated["reason"])
    if terminated.get("signal"):
        return f"Signal:{terminated['signal']}"
    return f"ExitCode:{terminated.get('exitCode', 0)}"


def _true_condition(pod: Object, kind: str) -> bool:
    conditions = value_at(pod, "status", "conditions") or ()
    return any(c.get("type") == kind and c.get("status") == "True" for c in conditions)


def _sidecars(pod: Object) -> set[str]:
    containers = value_at(pod, "spec", "initContainers") or ()
    return {c.get("name", "") for c in containers if c.get("restartPolicy") == "Always"}


def _summarize(pod: Object) -> _Summary:
    status = pod.get("status") or {}
    summary = _Summary(status.get("reason") or status.get("phase") or "")
    for condition in status.get("conditions") or ():
        if condition.get("type") == "PodScheduled" and condition.get("reason") == "SchedulingGated":
            summary.reason = "SchedulingGated"
    sidecars = _Summary("")
    initializing = _init_containers(pod, summary, sidecars)
    if not initializing or _true_condition(pod, "Initialized"):
        summary.restarts, summary.last_restart = sidecars.restarts, sidecars.last_restart
        _containers(pod, summary)
    if pod["metadata"].get("deletionTimestamp"):
        if status.get("reason") == "NodeLost":
            summary.reason = "Unknown"
        elif status.get("phase") not in _TERMINAL:
            summary.reason = "Terminating"
    return summary


def _init_containers(pod: Object, summary: _Summary, sidecars: _Summary) -> bool:
    """Whether the pod still initializes."""
    names = _sidecars(pod)
    total = len(value_at(pod, "spec", "initContainers") or ())
    for i, status in enumerate(value_at(pod, "status", "initContainerStatuses") or ()):
        summary.count_restarts(status)
        sidecar = status.get("name") in names
        if sidecar:
            sidecars.count_restarts(status)
        state = status.get("state") or {}
        terminated, waiting = state.get("terminated"), (state.get("waiting") or {}).get("reason")
        if terminated is not None and not terminated.get("exitCode"):
            continue
        if sidecar and status.get("started"):
            summary.ready += 1 if status.get("ready") else 0
            continue
        if terminated is not None:
            summary.reason = f"Init:{_ended(terminated)}"
        elif waiting and waiting != "PodInitializing":
            summary.reason = f"Init:{waiting}"
        else:
            summary.reason = f"Init:{i}/{total}"
        return True
    return False


def _containers(pod: Object, summary: _Summary) -> None:
    running = False
    for status in reversed(value_at(pod, "status", "containerStatuses") or ()):
        summary.count_restarts(status)
        state = status.get("state") or {}
        waiting = (state.get("waiting") or {}).get("reason")
        if waiting:
            summary.reason = waiting
        elif state.get("terminated") is not None:
            summary.reason = _ended(state["terminated"])
        elif status.get("ready") and state.get("running") is not None:
            running = True
            summary.ready += 1
    if summary.reason == "Completed" and running:
        summary.reason = "Running" if _true_condition(pod, "Ready") else "NotReady"


def _ready(pod: Object) -> str:
    total = len(value_at(pod, "spec", "containers") or ()) + len(_sidecars(pod))
    return f"{_summarize(pod).ready}/{total}"


def _reason(pod: Object) -> str:
    return _summarize(pod).reason


def _restarts(pod: Object) -> str:
    summary = _summarize(pod)
    if summary.restarts and summary.last_restart:
        return f"{summary.restarts} ({since(summary.last_restart)} ago)"
    return str(summary.restarts)


def _ip(pod: Object) -> str:
    ips = value_at(pod, "status", "podIPs")
    return (ips[0].get("ip") if ips else "") or NONE


def _node(pod: Object) -> str:
    return value_at(pod, "spec", "nodeName") or NONE


def _nominated(pod: Object) -> str:
    return value_at(pod, "status", "nominatedNodeName") or NONE


def _gates(pod: Object) -> str:
    gates = value_at(pod, "spec", "readinessGates")
    if not gates:
        return NONE
    return f"{sum(_true_condition(pod, gate.get('conditionType', '')) for gate in gates)}/{len(gates)}"


COLUMNS = (
    Column("Ready", _ready, description="The aggregate readiness state of this pod for accepting traffic."),
    Column("Status", _reason, description="The aggregate status of the containers in this pod."),
    Column(
        "Restarts",
        _restarts,
        description="The number of times the containers in this pod have been restarted and when the last container in "
        "this pod has restarted.",
    ),
    AGE,
    Column("IP", _ip, priority=1, field="status.podIP"),
    Column("Node", _node, priority=1, field="spec.nodeName"),
    Column("Nominated Node", _nominated, priority=1, field="status.nominatedNodeName"),
    Column("Readiness Gates", _gates, priority=1, field="spec.readinessGates"),
)
