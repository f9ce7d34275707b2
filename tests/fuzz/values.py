"""Bodies and queries for requests at random: real objects with something changed, objects made from the schemas."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

from apiserver.schema import builtin
from apiserver.schema.protobuf.codec import codec
from tests.plugins.resources.anything import make

Object = dict[str, Any]
HERE = Path(__file__).parents[1] / "e2e"
NAMES = ("a", "b", "c", "web", "web-2", "x.y", "10.0.0.1", "v1.example.com", "things.example.org")
WRONG_NAMES = ("", "A", "a_b", "-a", "a" * 300, "a/b", "..", "é", "a b", "system:a")
ODD: tuple[Any, ...] = (
    None, "", "x", " ", "a" * 70, "\x00", "é\n", "$(A)", "-1", "1e400", "2026-01-02T03:04:05Z", "http://[", 0, -1, 1,
    65536, 2**31, 2**63 - 1, -(2**63), 2**64, 0.5, 1e300, True, False, [], {}, [None], [[]], {"": None},
    {"a": {"b": [1, None]}}, "10.0.0.1", "fe80::1%1", "0.0.0.0/33", "500m", "1Zi", "*", "/", "a=b", "tcp",
)  # fmt: skip
SELECTORS = (
    "a=b",
    "a!=b",
    "a in (b,c)",
    "!a",
    "a,b",
    "a=b=c",
    "in (",
    "a notin ()",
    "é=1",
    "app.kubernetes.io/name=web",
)
FIELDS = (
    "metadata.name=a",
    "metadata.namespace=fuzz-1",
    "status.phase!=Running",
    "nothing=1",
    "a",
    "metadata.name",
    "=",
    ",",
)
QUERIES: dict[str, tuple[str, ...]] = {
    "fieldValidation": ("Strict", "Warn", "Ignore", "x", ""),
    "dryRun": ("All", "x", ""),
    "fieldManager": ("me", "kubectl", "m" * 200, "\x01"),
    "force": ("true", "false", "x"),
    "pretty": ("true", "false", "x"),
    "labelSelector": SELECTORS,
    "fieldSelector": FIELDS,
    "limit": ("0", "1", "2", "-1", "x", "9" * 30),
    "continue": ("x", "e30", "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhIn0"),
    "resourceVersion": ("0", "1", "5", "999999999", "x", "-1"),
    "resourceVersionMatch": ("Exact", "NotOlderThan", "x"),
    "timeoutSeconds": ("1", "x", "-1"),
    "timeout": ("5s", "x", "-1s"),
    "sendInitialEvents": ("true", "x"),
    "gracePeriodSeconds": ("0", "1", "-1", "x"),
    "propagationPolicy": ("Orphan", "Background", "Foreground", "x"),
    "orphanDependents": ("true", "x"),
    "unknown": ("1",),
}
WRITES = ("fieldValidation", "dryRun", "fieldManager", "pretty", "timeout", "unknown")
READS = ("labelSelector", "fieldSelector", "limit", "continue", "resourceVersion", "resourceVersionMatch", "pretty",
         "sendInitialEvents", "timeoutSeconds")  # fmt: skip
DELETES = ("gracePeriodSeconds", "propagationPolicy", "orphanDependents", "dryRun", "labelSelector", "fieldSelector")


class _Loader(yaml.CSafeLoader):
    """Leaves times the texts that they are."""


_Loader.add_constructor("tag:yaml.org,2002:timestamp", yaml.SafeLoader.construct_yaml_str)


def real_objects() -> dict[tuple[str, str], list[Object]]:
    """By apiVersion and kind: what other tests send."""
    found: dict[tuple[str, str], list[Object]] = {}
    for file in ("minimal_objects.yaml", "minimal_requests.yaml", "guestbook.yaml", "workloads.yaml"):
        for obj in yaml.load_all((HERE / file).read_text(), _Loader):
            found.setdefault((obj["apiVersion"], obj["kind"]), []).append(obj)
    return found


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """(container, key or index) of everything in a value."""
    pairs = (
        list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    )
    for key, inner in pairs:
        yield value, key
        yield from places(inner)


def mutated(rng: random.Random, obj: Any, times: int) -> Any:
    """A copy in which ``times`` places are changed, removed, doubled or have a new neighbour."""
    obj = copy.deepcopy(obj)
    for _ in range(times):
        where = list(places(obj))
        if not where:
            break
        holder, key = rng.choice(where)
        what = rng.random()
        if what < 0.6:
            holder[key] = copy.deepcopy(rng.choice(ODD))
        elif what < 0.75:
            del holder[key]
        elif isinstance(holder, list):
            holder.append(copy.deepcopy(holder[key]))
        else:
            holder[rng.choice(("x", "name", "", "$patch", "a/b", "unknown" * 40))] = copy.deepcopy(rng.choice(ODD))
    return obj


def from_schema(rng: random.Random, api_version: str, kind: str) -> Object | None:
    """An object with random fields of the kind's type; None for a kind without a published type."""
    group, _, version = api_version.rpartition("/")
    node = builtin.types().kind(group, version, kind)
    if node is None:
        return None
    obj = make(node, rng)
    obj["metadata"] = {
        key: value for key, value in (obj.get("metadata") or {}).items() if key in ("labels", "annotations")
    }
    return {**obj, "apiVersion": api_version, "kind": kind}


def query(rng: random.Random, names: tuple[str, ...], chance: float = 0.25) -> dict[str, str]:
    """Some parameters, mostly with values that mean something."""
    return {name: rng.choice(QUERIES[name]) for name in names if rng.random() < chance / 2}


def json_patch(rng: random.Random, obj: Object) -> Any:
    """Operations on places that are there, and on some that are not."""

    def pointer() -> str:
        steps, value = [], obj
        while isinstance(value, dict | list) and value and (not steps or rng.random() < 0.75):
            key = rng.choice(list(value)) if isinstance(value, dict) else rng.randrange(len(value))
            steps.append(str(key).replace("~", "~0").replace("/", "~1"))
            value = value[key]
        return "/" + "/".join(steps) + rng.choice(("", "", "", "/-", "/9", "/x", "~2"))

    operations = []
    for _ in range(rng.choice((1, 1, 2, 4))):
        name = rng.choice(("add", "add", "replace", "remove", "move", "copy", "test", "x"))
        operations.append({"op": name, "path": pointer(), "from": pointer(), "value": rng.choice(ODD)})
    return operations if rng.random() < 0.97 else rng.choice(ODD)


def piece(rng: random.Random, obj: Object) -> Object:
    """A part of an object along one random way down, with other values: a merge patch."""
    keys = [key for key in obj if key not in ("apiVersion", "kind")]
    if not keys:
        return {"metadata": {"labels": {"a": "b"}}}
    picked = rng.sample(keys, min(len(keys), rng.choice((1, 1, 2))))
    return mutated(rng, {key: obj[key] for key in picked}, rng.choice((0, 1, 1, 2)))


def damaged(rng: random.Random, data: bytes) -> bytes:
    """Bytes with a few of them changed, cut off or repeated."""
    if not data:
        return data
    at = rng.randrange(len(data))
    return rng.choice(
        (
            data[:at],
            data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :],
            data[:at] + data[at : at + 20] * 3 + data[at:],
            data + b"{}",
        )
    )


def _protobuf(obj: Object) -> bytes:
    return codec().encode(obj)


ENCODERS: dict[str, Callable[[Any], bytes]] = {
    "application/json": lambda obj: json.dumps(obj).encode(),
    "application/yaml": lambda obj: yaml.safe_dump(obj).encode(),
    "application/vnd.kubernetes.protobuf": _protobuf,
}


def encoded(rng: random.Random, obj: Any) -> tuple[str, bytes]:
    """(content type, body) in one of the three formats; JSON where an object has no place in a message."""
    media = rng.choice(("application/json", "application/json", *ENCODERS))
    try:
        data = ENCODERS[media](obj)
    except Exception:  # whatever is wrong with it: a client could only send it as JSON
        media, data = "application/json", ENCODERS["application/json"](obj)
    return media, damaged(rng, data) if rng.random() < 0.03 else data
