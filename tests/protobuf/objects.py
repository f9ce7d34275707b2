"""Objects as Go clients send them, in field numbers of the published ``generated.proto`` files, and as JSON."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.protobuf.wire import Message, body, message

SECONDS = 1_767_323_045  # 2026-01-02T03:04:05Z
MOMENT = message({1: SECONDS, 2: 0})
MICRO = message({1: SECONDS, 2: 678_901_000})
WORD = "2026-01-02T03:04:05"


def metadata(name: str, namespace: str = "", labels: dict[str, str] | None = None, revision: str = "") -> Message:
    """ObjectMeta: eight of its fields are always there."""
    always = {1: name, 2: "", 3: namespace, 4: "", 5: "", 6: revision, 7: 0, 8: message({})}
    return message({**always, **({11: labels} if labels else {})})


@dataclass(frozen=True)
class Sent:
    """One object, both ways.

    :param fields: name, namespace and resourceVersion -> the message's fields.
    :param json: what of it must be there when it is read.
    """

    api_version: str
    kind: str
    plural: str
    fields: Callable[[str, str, str], dict[int, Any]]
    json: dict[str, Any]
    namespaced: bool = True

    def path(self, namespace: str) -> str:
        """Of the collection."""
        root = f"/apis/{self.api_version}" if "/" in self.api_version else f"/api/{self.api_version}"
        return f"{root}/namespaces/{namespace}/{self.plural}" if self.namespaced else f"{root}/{self.plural}"

    def body(self, name: str, namespace: str, revision: str = "") -> bytes:
        """The bytes."""
        return body(self.api_version, self.kind, self.fields(name, namespace if self.namespaced else "", revision))


LABELS = {"app": "web"}
SELECTOR = message({1: LABELS})
PORT = message({1: "http", 2: 0, 3: 80, 4: "TCP", 5: ""})
HTTP = message({1: 1, 2: 0, 3: "http"})
"""The port's name, as IntOrString."""
CONTAINER = message(
    {
        1: "main", 2: "nginx:1", 3: ["/bin/nginx"], 4: ["-g", "off"], 5: "", 6: [PORT],
        7: [message({1: "COLOUR", 2: "red"})],
        8: message({1: {"cpu": message({1: "500m"})}, 2: {"memory": message({1: "64Mi"})}}),
        11: message({1: message({2: message({1: "/ok", 2: HTTP, 3: "", 4: "HTTP"})}), 4: 7}),
        13: "", 14: "IfNotPresent", 16: False, 17: False, 18: False, 20: "",
    }
)  # fmt: skip
POD = message(
    {2: [CONTAINER], 3: "Always", 4: 20, 6: "ClusterFirst", 7: {"disk": "fast"}, 8: "", 9: "", 10: "", 11: False,
     12: False, 13: False, 14: message({}), 16: "", 17: "", 19: "", 24: ""}
)  # fmt: skip
POD_JSON = {
    "containers": [
        {
            "name": "main",
            "image": "nginx:1",
            "command": ["/bin/nginx"],
            "args": ["-g", "off"],
            "ports": [{"name": "http", "containerPort": 80, "protocol": "TCP"}],
            "env": [{"name": "COLOUR", "value": "red"}],
            "resources": {"limits": {"cpu": "500m"}, "requests": {"memory": "64Mi"}},
            "readinessProbe": {"httpGet": {"path": "/ok", "port": "http", "scheme": "HTTP"}, "periodSeconds": 7},
            "imagePullPolicy": "IfNotPresent",
        }
    ],
    "terminationGracePeriodSeconds": 20,
    "nodeSelector": {"disk": "fast"},
}
TEMPLATE = message({1: metadata("", labels=LABELS), 2: POD})
TEMPLATE_JSON = {"metadata": {"labels": LABELS}, "spec": POD_JSON}
ROLLING = message({1: message({1: 0, 2: 2, 3: ""}), 2: message({1: 1, 2: 0, 3: "25%"})})
NOT_READY = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
"""What admission adds to a new Node."""
REFERENCE = {"kind": "Pod", "name": "web"}


def reference(namespace: str) -> Message:
    """Of an event to a pod."""
    return message({1: "Pod", 2: namespace, 3: "web", 4: "", 5: "v1", 6: "", 7: ""})


OBJECTS = [
    Sent(
        "v1", "Pod", "pods",
        lambda name, ns, rv: {1: metadata(name, ns, LABELS, rv), 2: POD, 3: message({1: "", 3: "", 4: ""})},
        {"metadata": {"labels": LABELS}, "spec": POD_JSON},
    ),
    Sent(
        "v1", "Node", "nodes",
        lambda name, ns, rv: {
            1: metadata(name, "", LABELS, rv),
            2: message({1: "10.1.0.0/24", 2: "", 3: "", 4: True, 5: [message({1: "k", 2: "v", 3: "NoSchedule"})]}),
            3: message({1: {"cpu": message({1: "4"})}, 3: "", 4: [
                message({1: "Ready", 2: "True", 3: MOMENT, 4: MOMENT, 5: "Well", 6: "it is"})]}),
        },
        {
            "spec": {"podCIDR": "10.1.0.0/24", "unschedulable": True,
                     "taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}, NOT_READY]},
            "status": {"capacity": {"cpu": "4"}, "conditions": [
                {"type": "Ready", "status": "True", "lastHeartbeatTime": f"{WORD}Z", "reason": "Well"}]},
        },
        namespaced=False,
    ),
    Sent(
        "coordination.k8s.io/v1", "Lease", "leases",
        lambda name, ns, rv: {1: metadata(name, ns, None, rv), 2: message({1: "me", 2: 40, 3: MICRO, 4: MICRO, 5: 3})},
        {"spec": {"holderIdentity": "me", "leaseDurationSeconds": 40, "renewTime": f"{WORD}.678901Z",
                  "leaseTransitions": 3}},
    ),
    Sent(
        "v1", "Event", "events",
        lambda name, ns, rv: {
            1: metadata(name, ns, None, rv), 2: reference(ns), 3: "Pulled", 4: "an image",
            5: message({1: "kubelet", 2: "n"}),
            6: MOMENT, 7: MOMENT, 8: 5, 9: "Normal", 10: message({}), 12: "", 14: "kubelet", 15: "n",
        },
        {"involvedObject": REFERENCE, "reason": "Pulled", "message": "an image", "count": 5, "type": "Normal",
         "lastTimestamp": f"{WORD}Z", "source": {"component": "kubelet", "host": "n"}},
    ),
    Sent(
        "events.k8s.io/v1", "Event", "events",
        lambda name, ns, rv: {
            1: metadata(name, ns, None, rv), 2: MICRO, 4: "example.com/c", 5: "c-1", 6: "Bind", 7: "Bound",
            8: reference(ns), 10: "a note", 11: "Warning", 12: message({1: "", 2: ""}), 13: message({}),
            14: message({}), 15: 0,
        },
        {"eventTime": f"{WORD}.678901Z", "reportingController": "example.com/c", "action": "Bind", "reason": "Bound",
         "regarding": REFERENCE, "note": "a note", "type": "Warning"},
    ),
    Sent(
        "apps/v1", "Deployment", "deployments",
        lambda name, ns, rv: {
            1: metadata(name, ns, LABELS, rv),
            2: message({1: 2, 2: SELECTOR, 3: TEMPLATE, 4: message({1: "RollingUpdate", 2: ROLLING}), 5: 3, 7: True}),
            3: message({1: 0, 2: 0, 3: 0, 4: 0, 5: 0, 7: 0}),
        },
        {"spec": {"replicas": 2, "selector": {"matchLabels": LABELS}, "template": TEMPLATE_JSON, "minReadySeconds": 3,
                  "paused": True, "strategy": {"rollingUpdate": {"maxUnavailable": 2, "maxSurge": "25%"}}}},
    ),
    Sent(
        "apps/v1", "ReplicaSet", "replicasets",
        lambda name, ns, rv: {
            1: metadata(name, ns, LABELS, rv), 2: message({1: 0, 2: SELECTOR, 3: TEMPLATE, 4: 0}),
            3: message({1: 0, 2: 0, 3: 0, 4: 0, 5: 0}),
        },
        {"spec": {"replicas": 0, "selector": {"matchLabels": LABELS}, "template": TEMPLATE_JSON}},
    ),
    Sent(
        "v1", "Service", "services",
        lambda name, ns, rv: {
            1: metadata(name, ns, None, rv),
            2: message({1: [message({1: "http", 2: "TCP", 3: 80, 4: HTTP, 5: 0})], 2: LABELS,
                        3: "None", 4: "ClusterIP", 7: "None", 8: "", 10: "", 11: "", 12: 0, 13: True}),
            3: message({1: message({})}),
        },
        {"spec": {"ports": [{"name": "http", "protocol": "TCP", "port": 80, "targetPort": "http"}], "selector": LABELS,
                  "clusterIP": "None", "publishNotReadyAddresses": True}},
    ),
    Sent(
        "discovery.k8s.io/v1", "EndpointSlice", "endpointslices",
        lambda name, ns, rv: {
            1: metadata(name, ns, None, rv),
            2: [message({1: ["10.1.2.3"], 2: message({1: True, 3: False}), 6: "node-a", 7: "zone-a"})],
            3: [message({1: "http", 2: "TCP", 3: 8080})], 4: "IPv4",
        },
        {"addressType": "IPv4", "ports": [{"name": "http", "protocol": "TCP", "port": 8080}], "endpoints": [
            {"addresses": ["10.1.2.3"], "conditions": {"ready": True, "terminating": False}, "nodeName": "node-a",
             "zone": "zone-a"}]},
    ),
    Sent(
        "v1", "ConfigMap", "configmaps",
        lambda name, ns, rv: {1: metadata(name, ns, None, rv), 2: {"colour": "red", "x.y": ""}, 3: {"b": b"\x00\xff"}},
        {"data": {"colour": "red", "x.y": ""}, "binaryData": {"b": "AP8="}},
    ),
    Sent(
        "v1", "Secret", "secrets",
        lambda name, ns, rv: {1: metadata(name, ns, None, rv), 2: {"k": b"\x01\x02"}, 3: "Opaque", 4: {"word": "s"}},
        {"data": {"k": "AQI=", "word": "cw=="}, "type": "Opaque"},
    ),
    Sent(
        "v1", "Namespace", "namespaces",
        lambda name, ns, rv: {1: metadata(name, "", LABELS, rv), 2: message({}), 3: message({1: ""})},
        {"metadata": {"labels": {**LABELS}}, "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}},
        namespaced=False,
    ),
]  # fmt: skip
