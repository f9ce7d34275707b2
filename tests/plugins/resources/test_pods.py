"""Pods: defaults, validation, changes, grace, binding."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from apiserver.api.encoded import EncodedObject
from apiserver.api.errors import ApiError
from apiserver.api.rest import Context, DeleteOptions
from apiserver_plugins.resources.common.pod_defaults import pull_policy
from apiserver_plugins.resources.core_v1.pod.binding import binding_errors, bound
from apiserver_plugins.resources.core_v1.pod.status import PodStatusStrategy
from apiserver_plugins.resources.core_v1.pods import PodStrategy
from tests.plugins.resources.rules import changed, created, errors_of

STRATEGY = PodStrategy()
CHANGEABLE = (
    "spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing "
    "tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)
LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)


def pod(container: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    """A pod of one container, changed by ``container``; a value of None takes a field away."""
    first = {"name": "c", "image": "example.com/app:1", **(container or {})}
    first = {k: v for k, v in first.items() if v is not None}
    return {"metadata": {"name": "p", "namespace": "ns"}, "spec": {"containers": [first], **spec}}


def test_a_minimal_pod_gets_defaults(ctx: Context) -> None:
    stored = created(STRATEGY, ctx, pod())
    assert stored["metadata"]["generation"] == 1
    assert stored["status"] == {"phase": "Pending", "qosClass": "BestEffort"}
    assert stored["spec"] == {
        "containers": [
            {
                "name": "c", "image": "example.com/app:1", "imagePullPolicy": "IfNotPresent", "resources": {},
                "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
            }
        ],
        "dnsPolicy": "ClusterFirst", "enableServiceLinks": True, "restartPolicy": "Always",
        "schedulerName": "default-scheduler", "securityContext": {}, "terminationGracePeriodSeconds": 30,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("app", "Always"), ("app:latest", "Always"), ("app:1", "IfNotPresent"), ("host:5000/a/b", "Always"),
        ("host:5000/a/b:2", "IfNotPresent"), (f"app@sha256:{'0' * 64}", "IfNotPresent"),
        (f"app:latest@sha256:{'0' * 64}", "Always"), ("", "IfNotPresent"), ("Not An Image", "IfNotPresent"),
    ],
)  # fmt: skip
def test_the_pull_policy_follows_from_the_tag(image: str, policy: str) -> None:
    assert pull_policy(image) == policy


def test_probes_ports_and_environment_get_defaults(ctx: Context) -> None:
    container = created(
        STRATEGY,
        ctx,
        pod(
            {
                "ports": [{"containerPort": 80}],
                "livenessProbe": {"httpGet": {"port": 80}},
                "lifecycle": {"preStop": {"httpGet": {"port": 80}}},
                "env": [
                    {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                    {"name": "B", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
                ],
            }
        ),
    )["spec"]["containers"][0]
    get = {"path": "/", "port": 80, "scheme": "HTTP"}
    assert container["ports"] == [{"containerPort": 80, "protocol": "TCP"}]
    assert container["livenessProbe"] == {
        "failureThreshold": 3, "httpGet": get, "periodSeconds": 10, "successThreshold": 1, "timeoutSeconds": 1,
    }  # fmt: skip
    assert container["lifecycle"]["preStop"]["httpGet"] == get
    assert container["env"][0]["valueFrom"]["fieldRef"]["apiVersion"] == "v1"
    assert container["env"][1]["valueFrom"]["resourceFieldRef"]["divisor"] == "0"


def test_volumes_get_defaults(ctx: Context) -> None:
    volumes = created(
        STRATEGY,
        ctx,
        pod(
            volumes=[
                {"name": "n"},
                {"name": "s", "secret": {"secretName": "x"}},
                {"name": "h", "hostPath": {"path": "/x"}},
                {"name": "p", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}},
            ]
        ),
    )["spec"]["volumes"]
    assert volumes == [
        {"name": "n", "emptyDir": {}},
        {"name": "s", "secret": {"secretName": "x", "defaultMode": 420}},
        {"name": "h", "hostPath": {"path": "/x", "type": ""}},
        {
            "name": "p",
            "projected": {
                "sources": [{"serviceAccountToken": {"path": "t", "expirationSeconds": 3600}}], "defaultMode": 420,
            },
        },
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("resources", "requests", "qos"),
    [
        ({}, None, "BestEffort"),
        ({"requests": {"cpu": "1m"}}, {"cpu": "1m"}, "Burstable"),
        ({"limits": {"cpu": "1", "memory": "1Gi"}}, {"cpu": "1", "memory": "1Gi"}, "Guaranteed"),
        ({"limits": {"cpu": "1"}}, {"cpu": "1"}, "Burstable"),
        ({"limits": {"example.com/gpu": "2"}}, {"example.com/gpu": "2"}, "BestEffort"),
        (
            {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "1000m", "memory": "1024Mi"}},
            {"cpu": "1000m", "memory": "1024Mi"},
            "Guaranteed",
        ),
    ],
)
def test_limits_stand_in_for_requests_and_make_the_class(
    ctx: Context, resources: dict[str, Any], requests: dict[str, str] | None, qos: str
) -> None:
    stored = created(STRATEGY, ctx, pod({"resources": resources}))
    assert stored["spec"]["containers"][0]["resources"].get("requests") == requests
    assert stored["status"]["qosClass"] == qos


C = "spec.containers[0]"


@pytest.mark.parametrize(
    ("obj", "expected"),
    [
        (pod(containers=[]), ["spec.containers: Required value"]),
        (pod({"image": None}), [f"{C}.image: Required value"]),
        (pod({"name": "Bad_Name"}), [f'{C}.name: Invalid value: "Bad_Name": {LABEL}']),
        (
            pod(containers=[{"name": "c", "image": "x"}, {"name": "c", "image": "x"}]),
            ['spec.containers[1].name: Duplicate value: "c"'],
        ),
        (
            pod(restartPolicy="Sometimes"),
            ['spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"'],
        ),
        (pod(dnsPolicy="None"), ["spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None"]),
        (
            pod({"ports": [{"containerPort": 70000}]}),
            [f"{C}.ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive"],
        ),
        (
            pod({"ports": [{"containerPort": 80, "hostPort": 81}]}, hostNetwork=True),
            [f"{C}.ports[0].hostPort: Invalid value: 81: must match `containerPort` when `hostNetwork` is true"],
        ),
        (
            pod({"env": [{"name": "A=B", "value": "x"}]}),
            [
                f'{C}.env[0].name: Invalid value: "A=B": a valid environment variable name must consist only of '
                "printable ASCII characters other than '='"
            ],
        ),
        (
            pod({"env": [{"name": "A", "value": "x", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]}),
            [f'{C}.env[0].valueFrom: Invalid value: "": may not be specified when `value` is not empty'],
        ),
        (
            pod({"env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.nothing"}}}]}),
            [
                f'{C}.env[0].valueFrom.fieldRef.fieldPath: Invalid value: "metadata.nothing": error converting '
                "fieldPath: field label not supported: metadata.nothing"
            ],
        ),
        (
            pod({"volumeMounts": [{"name": "v", "mountPath": "/x"}]}),
            [f'{C}.volumeMounts[0].name: Not found: "v"'],
        ),
        (
            pod(volumes=[{"name": "v", "emptyDir": {}, "hostPath": {"path": "/x"}}]),
            ["spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type"],
        ),
        (
            pod({"livenessProbe": {"exec": {"command": ["a"]}, "tcpSocket": {"port": 1}}}),
            [f"{C}.livenessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type"],
        ),
        (
            pod({"livenessProbe": {"exec": {"command": ["a"]}, "successThreshold": 2}}),
            [f"{C}.livenessProbe.successThreshold: Invalid value: 2: must be 1"],
        ),
        (
            pod(tolerations=[{"key": "a", "operator": "Exists", "value": "b"}]),
            ["spec.tolerations[0].operator: Invalid value: \"b\": value must be empty when `operator` is 'Exists'"],
        ),
        (
            pod(activeDeadlineSeconds=0),
            ["spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive"],
        ),
        (
            pod(hostname="a.b", subdomain="-x"),
            [
                'spec.hostname: Invalid value: "a.b": must not contain dots',
                f'spec.subdomain: Invalid value: "-x": {LABEL}',
            ],
        ),
        (
            pod({"resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}}),
            [f'{C}.resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1'],
        ),
        (
            pod({"resources": {"requests": {"cpu": "-1"}}}),
            [f'{C}.resources.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0'],
        ),
        (
            pod({"resources": {"limits": {"example.com/gpu": "500m"}}}),
            [
                f'{C}.resources.limits[example.com/gpu]: Invalid value: "500m": must be an integer',
                f'{C}.resources.requests[example.com/gpu]: Invalid value: "500m": must be an integer',
            ],
        ),
        (
            pod({"resources": {"requests": {"nonsense": "1"}}}),
            [
                f'{C}.resources.requests[nonsense]: Invalid value: "nonsense": must be a standard resource for '
                "containers",
                f'{C}.resources.requests[nonsense]: Invalid value: "nonsense": must be a standard resource type or '
                "fully qualified",
            ],
        ),
        (
            pod(initContainers=[{"name": "i", "image": "x", "readinessProbe": {"tcpSocket": {"port": 1}}}]),
            [
                "spec.initContainers[0].readinessProbe: Forbidden: may not be set for init containers without "
                "restartPolicy=Always"
            ],
        ),
        (
            pod({"securityContext": {"runAsUser": -1}}),
            [f"{C}.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive"],
        ),
        (
            pod(topologySpreadConstraints=[{"maxSkew": 0, "topologyKey": "", "whenUnsatisfiable": "DoNotSchedule"}]),
            [
                "spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero",
                "spec.topologySpreadConstraints[0].topologyKey: Required value: can not be empty",
            ],
        ),
        (
            pod(affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {}}}),
            [
                "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Required "
                "value: must have at least one node selector term"
            ],
        ),
    ],
)
def test_validation(ctx: Context, obj: dict[str, Any], expected: list[str]) -> None:
    assert errors_of(STRATEGY, ctx, obj) == expected


# -- changes ----------------------------------------------------------------------------------------------------------


def edited(ctx: Context, change: Any) -> tuple[dict[str, Any], list[str]]:
    toleration = {"key": "k", "operator": "Exists"}
    old = created(STRATEGY, ctx, pod(activeDeadlineSeconds=100, tolerations=[toleration]))
    obj = copy.deepcopy(old)
    change(obj)
    return changed(STRATEGY, ctx, old, obj)


def test_an_image_may_change(ctx: Context) -> None:
    obj, errors = edited(ctx, lambda o: o["spec"]["containers"][0].update(image="example.com/app:2"))
    assert (errors, obj["metadata"]["generation"]) == ([], 2)


def test_labels_are_no_new_generation(ctx: Context) -> None:
    obj, errors = edited(ctx, lambda o: o["metadata"].update(labels={"x": "y"}))
    assert (errors, obj["metadata"]["generation"]) == ([], 1)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"activeDeadlineSeconds": 50}, []),
        (
            {"activeDeadlineSeconds": 200},
            ["spec.activeDeadlineSeconds: Invalid value: 200: must be less than or equal to previous value"],
        ),
        ({"tolerations": [{"key": "k", "operator": "Exists"}, {"key": "x", "operator": "Exists"}]}, []),
        (
            {"tolerations": []},
            ["spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds"],
        ),
        ({"nodeName": "n1"}, [CHANGEABLE]),
        ({"containers": []}, ["spec.containers: Forbidden: pod updates may not add or remove containers"]),
    ],
)
def test_what_may_change(ctx: Context, change: dict[str, Any], expected: list[str]) -> None:
    _, errors = edited(ctx, lambda o: o["spec"].update(change))
    assert [error for error in errors if "Required" not in error] == expected


def test_the_status_endpoint_keeps_owners_and_class(ctx: Context) -> None:
    old = created(STRATEGY, ctx, pod())
    obj = copy.deepcopy(old)
    obj["metadata"]["ownerReferences"] = [{"uid": "u"}]
    obj["status"] = {"phase": "Running", "qosClass": "Guaranteed", "podIP": "10.1.2.3"}
    after, errors = changed(PodStatusStrategy(STRATEGY), ctx, old, obj)
    assert errors == []
    assert "ownerReferences" not in after["metadata"]
    assert after["status"] == {
        "phase": "Running", "qosClass": "BestEffort", "podIP": "10.1.2.3", "podIPs": [{"ip": "10.1.2.3"}],
    }  # fmt: skip


# -- the end, and the node --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("node", "phase", "asked", "expected"),
    [
        ("n", "Running", None, 30), ("n", "Running", 60, 60), ("n", "Running", -1, 1), ("n", "Succeeded", None, 0),
        ("", "Pending", None, 0), ("", "Pending", 60, 0),
    ],
)  # fmt: skip
def test_grace(ctx: Context, node: str, phase: str, asked: int | None, expected: int) -> None:
    obj = created(STRATEGY, ctx, pod(nodeName=node) if node else pod())
    obj["status"]["phase"] = phase
    assert STRATEGY.grace_period(ctx, obj, DeleteOptions(grace_period_seconds=asked)) == expected


def binding(**fields: Any) -> dict[str, Any]:
    return {"metadata": {"name": "p", **fields}, "target": {"kind": "Node", "name": "n"}}


def test_binding_sets_node_and_metadata(ctx: Context) -> None:
    old = EncodedObject.of(created(STRATEGY, ctx, pod()))
    obj = bound(old, binding(labels={"extra": "label"}, annotations={"from": "binding"}))
    assert obj["spec"]["nodeName"] == "n"
    assert obj["metadata"]["labels"] == {"extra": "label"}
    assert obj["metadata"]["annotations"] == {"from": "binding"}
    assert obj["status"]["conditions"][0]["type"] == "PodScheduled"
    assert "nodeName" not in old.decode()["spec"]


def test_a_pod_is_bound_once(ctx: Context) -> None:
    old = EncodedObject.of(created(STRATEGY, ctx, pod(nodeName="n")))
    with pytest.raises(ApiError) as caught:
        bound(old, binding())
    assert caught.value.http_code == 409
    assert caught.value.message == (
        'Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "n"'
    )


def test_a_binding_needs_a_target() -> None:
    assert [str(error) for error in binding_errors({"target": {}})] == ["target.name: Required value"]


def test_pods_are_selected_by_node_and_phase(ctx: Context) -> None:
    fields = STRATEGY.selectable_fields(created(STRATEGY, ctx, pod(nodeName="n")))
    assert (fields["spec.nodeName"], fields["status.phase"], fields["spec.hostNetwork"]) == ("n", "Pending", "false")
