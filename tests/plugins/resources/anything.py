"""Random objects of a kind, made from its type: most are wrong, and no rule may break on them."""

from __future__ import annotations

import base64
import random
from typing import Any

from apiserver.schema.types import (
    Boolean,
    Bytes,
    Duration,
    Integer,
    IntOrString,
    List,
    Map,
    Node,
    Number,
    Quantity,
    String,
    Struct,
    Time,
    Variant,
)

WORDS = (
    "", "a", "b", "app", "UPPER", "a b", "a/b", "example.com/x", "a.b.c", "*", "*/*", "pods/*", "10.0.0.1", "fe80::1",
    "10.0.0.0/8", "fd00::/64", "300.1.1.1", "80", "50%", "150%", "http", "1-3", "0,2-4", "x-", "@daily", "*/5 * * * *",
    "Europe/Berlin", "TZ=UTC 1 * * * *", "https://h/p", "http://u@h?q#f", "v1", "apps/v1", "In", "NotIn", "Exists",
    "DoesNotExist", "Always", "Never", "OnFailure", "RollingUpdate", "OnDelete", "Recreate", "Indexed", "NonIndexed",
    "FailJob", "FailIndex", "Resource", "Object", "Pods", "External", "ContainerResource", "Utilization",
    "AverageValue", "Value", "Max", "Percent", "IPv4", "IPv6", "FQDN", "TCP", "Prefix", "Exact", "Ingress", "Egress",
    "Namespace", "Cluster", "Queue", "Reject", "Limited", "Exempt", "User", "Group", "ServiceAccount", "Container",
    "Pod", "PersistentVolumeClaim", "ReadWriteOnce", "ReadWriteOncePod", "Block", "Delete", "Retain", "Bound",
    "BestEffort", "NotBestEffort", "Terminating", "Approved", "Denied", "Complete", "Failed", "True", "False",
    "JSONPatch", "ApplyConfiguration", "ExactCount", "All", "Role", "ClusterRole", "spec.nodeName", "é\n\"",
)  # fmt: skip
KEYS = ("a", "app", "example.com/x", "cpu", "memory", "pods", "storage", "requests.cpu", "limits.cpu", "hugepages-2Mi")
QUANTITIES = ("0", "1", "-1", "500m", "1Gi", "1.5", "100n", "2e3")
NUMBERS = (-1, 0, 1, 2, 80, 443, 1000, 70000, 2**31 - 1)
TIMES = ("2020-01-01T00:00:00Z", "2021-06-01T12:00:00Z")


def make(node: Node, rng: random.Random, depth: int = 9) -> Any:
    """A value of a type, without nulls: decoding has taken them out."""
    if isinstance(node, Struct):
        fields = node.fields
        chance = 0.9 if depth > 7 else 0.45 if depth > 2 else 0.15
        return {name: make(field.node, rng, depth - 1) for name, field in fields.items() if rng.random() < chance}
    if isinstance(node, List):
        count = rng.choice((0, 1, 1, 2, 3)) if depth > 0 else 0
        return [make(node.item, rng, depth - 1) for _ in range(count)]
    if isinstance(node, Map):
        keys = rng.sample(KEYS, rng.choice((0, 1, 2))) if depth > 0 else []
        return {key: make(node.value, rng, depth - 1) for key in keys}
    if isinstance(node, Variant):
        return make(rng.choice(list(node.shapes.values())), rng, depth)
    return _scalar(node, rng)


def _scalar(node: Node, rng: random.Random) -> Any:
    choices: dict[type[Node], Any] = {
        String: lambda: rng.choice(WORDS),
        Integer: lambda: rng.choice(NUMBERS),
        Number: lambda: rng.choice((0.5, 1, -2.0)),
        Boolean: lambda: rng.random() < 0.5,
        Bytes: lambda: base64.b64encode(rng.choice((b"", b"x", b"-----BEGIN CERTIFICATE-----\nAA==\n"))).decode(),
        Time: lambda: rng.choice(TIMES),
        Duration: lambda: rng.choice(("1s", "1m0s")),
        Quantity: lambda: rng.choice(QUANTITIES),
        IntOrString: lambda: rng.choice((0, 1, -1, "50%", "http", "")),
    }
    maker = choices.get(type(node))
    return maker() if maker else rng.choice((None, {}, {"a": [1, None]}, "x", 3))
