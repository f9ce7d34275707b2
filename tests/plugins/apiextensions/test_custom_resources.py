"""What custom resources do, over HTTP: declarations made of definitions, in a server without any definition."""

from __future__ import annotations

import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from apiserver import hookimpl
from apiserver.testing.server import Answer, LocalServer
from apiserver_plugins.apiextensions.definitions import resources_of

Object = dict[str, Any]
PRESERVE, EMBEDDED = "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"
STRING: Object = {"type": "string"}
GROUP = "lights.example.com"


def struct(**properties: Any) -> Object:
    return {"type": "object", "properties": properties}


def version(name: str, schema: Object, **more: Any) -> Object:
    return {"name": name, "served": True, "storage": False, "schema": {"openAPIV3Schema": schema}, **more}


def definition(plural: str, *versions: Object) -> Object:
    names = {"plural": plural, "kind": plural[:-1].capitalize(), "singular": plural[:-1]}
    return {"spec": {"group": GROUP, "scope": "Namespaced", "names": names, "versions": list(versions)}}


MAP_LIST = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name"],
    "items": {**struct(name=STRING, size={"type": "integer", "maximum": 5}), "required": ["name"]},
}
LAMP = struct(
    spec=struct(
        power={"type": "integer", "maximum": 100},
        replicas={"type": "integer"},
        bulbs=MAP_LIST,
        tags={"type": "array", "x-kubernetes-list-type": "set", "items": STRING},
        order={"type": "array", "items": STRING},
        free={"type": "object", PRESERVE: True},
        whole={**struct(a=STRING, b=STRING), "x-kubernetes-map-type": "atomic"},
        port={"x-kubernetes-int-or-string": True},
        pod={"type": "object", EMBEDDED: True, PRESERVE: True},
    ),
    status=struct(
        replicas={"type": "integer"},
        selector=STRING,
        conditions={"type": "array", "items": struct(type=STRING, status=STRING, at=STRING)},
    ),
)
SCALE = {
    "specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas",
    "labelSelectorPath": ".status.selector",
}  # fmt: skip
COLUMNS = [
    {"name": "Power", "type": "integer", "jsonPath": ".spec.power", "description": "Watts"},
    {"name": "Ready", "type": "string", "jsonPath": '.status.conditions[?(@.type=="Ready")].status', "priority": 1},
    {"name": "Since", "type": "date", "jsonPath": ".status.conditions[0].at"},
    {"name": "Tags", "type": "string", "jsonPath": ".spec.tags"},
    {"name": "Port", "type": "string", "jsonPath": ".spec.port"},
]
LAMPS = definition(
    "lamps",
    version("v1", LAMP, storage=True, subresources={"status": {}, "scale": SCALE}, additionalPrinterColumns=COLUMNS),
    version("v1beta1", LAMP, deprecated=True, subresources={"scale": {**SCALE, "specReplicasPath": ".spec.power"}}),
)
CANDLES = definition(
    "candles",
    version("v2", {**struct(spec={**struct(wax=STRING, scent={**STRING, "default": "rose"}), "required": ["wax"]})}),
    version("v1", struct(spec=struct(size={"type": "integer", "default": 1})), storage=True, served=False),
)


@hookimpl
def apiserver_resources() -> Any:
    return [resource for one in (LAMPS, CANDLES) for resource in resources_of(one)]


@pytest.fixture(scope="module")
def server() -> Iterator[LocalServer]:
    with LocalServer(lights=SimpleNamespace(apiserver_resources=apiserver_resources)) as started:
        yield started


def path(plural: str = "lamps", version: str = "v1") -> str:
    return f"/apis/{GROUP}/{version}/namespaces/default/{plural}"


def lamp(name: str, spec: Object | None = None, **more: Any) -> Object:
    made = {"apiVersion": f"{GROUP}/v1", "kind": "Lamp", "metadata": {"name": name, **more.pop("metadata", {})}}
    return {**made, "spec": spec or {}, **more}


def causes(answer: Answer) -> list[tuple[str, str]]:
    assert answer.status == 422, answer.text
    return [(cause["field"], cause["message"]) for cause in answer.json["details"]["causes"]]


def test_lists_that_are_sets_or_maps_hold_nothing_twice(server: LocalServer) -> None:
    spec = {"tags": ["a", "b", "a", "a"], "bulbs": [{"name": "x"}, {"name": "x", "size": 2}]}
    assert causes(server.post(path(), lamp("twice", spec))) == [
        ("spec.tags[2]", 'Duplicate value: "a"'),
        ("spec.bulbs[1]", 'Duplicate value: {"name":"x"}'),
    ]


def test_what_was_wrong_in_an_item_of_a_map_may_stay_wherever_the_item_goes(server: LocalServer) -> None:
    made = server.post(path(), lamp("ratchet", {"bulbs": [{"name": "a", "size": 1}, {"name": "b"}]}))
    # Only a schema that came later can make a stored object wrong: the store is told so directly.
    store = server.server.storage
    key = f"/registry/{GROUP}/lamps/default/ratchet"
    kv = store.get(key)
    assert kv is not None
    store.update(key, kv.value.replace(b'"size":1', b'"size":9'), kv.mod_revision)
    wrong = {"name": "a", "size": 9}
    assert made.status == 201
    answer = server.patch(f"{path()}/ratchet", {"spec": {"bulbs": [{"name": "b"}, {"name": "c"}, wrong]}})
    assert answer.status == 200, answer.text
    answer = server.patch(f"{path()}/ratchet", {"spec": {"bulbs": [{"name": "b"}, {"name": "a", "size": 8}]}})
    assert [field for field, _ in causes(answer)] == ["spec.bulbs[1].size"]


def test_an_object_inside_an_object_is_checked(server: LocalServer) -> None:
    assert causes(server.post(path(), lamp("bare", {"pod": {"spec": {}}}))) == [
        ("spec.pod.apiVersion", "Required value"),
        ("spec.pod.kind", "Required value"),
    ]
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a/b", "labels": {"-": "x"}}}
    fields = [field for field, _ in causes(server.post(path(), lamp("odd", {"pod": pod})))]
    assert fields == ["spec.pod.metadata.name", "spec.pod.metadata.labels"]
    answer = server.post(path(), lamp("typed", {"pod": {**pod, "kind": 5}}))
    assert answer.status == 400
    assert answer.json["message"].endswith("spec.pod.kind: Invalid value: 5: must be a string")


def test_finalizers_without_a_domain_are_warned_of(server: LocalServer) -> None:
    answer = server.post(path(), lamp("final", metadata={"finalizers": ["keep", "keep.example.com", "x.com/ok"]}))
    assert answer.status == 201
    prefer = "prefer a domain-qualified finalizer name{} to avoid accidental conflicts with other finalizer writers"
    for name, more in (("keep", ""), ("keep.example.com", " including a path (/)")):
        assert f'metadata.finalizers: \\"{name}\\": {prefer.format(more)}' in answer.headers["warning"]
    later = server.patch(f"{path()}/final", {"metadata": {"labels": {"a": "b"}}})
    assert "warning" not in later.headers
    server.patch(f"{path()}/final", {"metadata": {"finalizers": None}})


def test_the_status_is_written_alone(server: LocalServer) -> None:
    made = server.post(path(), lamp("status", {"power": 5}, status={"replicas": 1}))
    assert "status" not in made.json
    change = {"spec": {"power": 9}, "status": {"replicas": 3}, "metadata": {"labels": {"a": "b"}}}
    answer = server.patch(f"{path()}/status/status", change).json
    assert (answer["spec"], answer["status"], answer["metadata"].get("labels")) == ({"power": 5}, {"replicas": 3}, None)
    assert answer["metadata"]["generation"] == 1
    text = "5 is of the type int64, expected string"
    assert causes(server.patch(f"{path()}/status/status", {"status": {"replicas": -1, "selector": 5}})) == [
        ("status.selector", 'Invalid value: "integer": selector in body must be of type string: "integer"'),
        (".status.replicas", "Invalid value: -1: should be a non-negative integer"),
        (".status.selector", f'Invalid value: "": .status.selector accessor error: {text}'),
    ]


def test_a_scale_needs_replicas_to_show(server: LocalServer) -> None:
    server.post(path(), lamp("scaled"))
    answer = server.get(f"{path()}/scaled/scale")
    assert answer.status == 500
    text = 'the spec replicas field ".spec.replicas"'
    assert answer.json["message"] == f"Internal error occurred: {text} does not exist"
    answer = server.patch(f"{path()}/scaled/scale", {"metadata": {"labels": {"a": "b"}}})
    assert (answer.status, answer.json["message"]) == (400, f"{text} cannot be empty")
    assert server.patch(f"{path()}/scaled/scale", {"spec": {"replicas": 4}}).json["spec"] == {"replicas": 4}
    assert server.get(f"{path()}/scaled").json["spec"] == {"replicas": 4}


def test_owners_of_replicas_are_those_of_the_version_that_was_written(server: LocalServer) -> None:
    server.post(path(), lamp("owned", {"replicas": 1, "power": 7}))
    answer = server.patch(f"{path('lamps', 'v1beta1')}/owned/scale", {"spec": {"replicas": 8}})
    assert answer.json["spec"] == {"replicas": 8}
    stored = server.get(f"{path()}/owned").json
    assert stored["spec"] == {"replicas": 1, "power": 8}
    owned = {entry["apiVersion"]: entry["fieldsV1"] for entry in stored["metadata"]["managedFields"]}
    assert owned[f"{GROUP}/v1beta1"] == {"f:spec": {"f:power": {}}}


def test_an_object_has_the_rules_of_the_version_it_is_written_in(server: LocalServer) -> None:
    body = {"apiVersion": f"{GROUP}/v2", "kind": "Candle", "metadata": {"name": "c"}, "spec": {"wax": "soft"}}
    made = server.post(path("candles", "v2"), body)
    assert (made.status, made.json["spec"]) == (201, {})
    missing = server.post(path("candles", "v2"), {**body, "spec": {}})
    assert causes(missing) == [("spec.wax", "Required value")]
    listed = server.get(path("candles", "v2")).json
    assert [item["apiVersion"] for item in listed["items"]] == [f"{GROUP}/v2"]
    changed = server.patch(f"{path('candles', 'v2')}/c", {"spec": {"wax": "hard"}})
    assert (changed.status, changed.json["metadata"]["generation"]) == (200, 2)


def test_columns(server: LocalServer) -> None:
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 2730))
    server.post(path(), lamp("shown", {"power": 60, "tags": ["a", "b"], "port": 80}))
    conditions = [{"type": "Other", "at": at}, {"type": "Ready", "status": "True"}]
    server.patch(f"{path()}/shown/status", {"status": {"conditions": conditions}})
    accept = {"Accept": "application/json;as=Table;g=meta.k8s.io;v=v1"}
    table = server.get(f"{path()}/shown", headers=accept).json
    assert table["rows"][0]["cells"] == ["shown", 60, "True", "45m", '["a","b"]', "80"]
    told = [(c["name"], c["type"], c["priority"], c["description"]) for c in table["columnDefinitions"][1:4]]
    assert told == [
        ("Power", "integer", 0, "Watts"),
        ("Ready", "string", 1, f"Custom resource definition column (in JSONPath format): {COLUMNS[1]['jsonPath']}"),
        ("Since", "date", 0, "Custom resource definition column (in JSONPath format): .status.conditions[0].at"),
    ]
    server.post(path(), lamp("empty"))
    assert server.get(f"{path()}/empty", headers=accept).json["rows"][0]["cells"] == ["empty", *[None] * 5]
    listed = server.get(path("candles", "v2"), headers=accept).json
    assert [column["name"] for column in listed["columnDefinitions"]] == ["Name", "Age"]


def applied(server: LocalServer, manager: str, name: str, spec: Object, **query: str) -> Answer:
    more = "".join(f"&{key}={value}" for key, value in query.items())
    return server.patch(f"{path()}/{name}?fieldManager={manager}{more}", lamp(name, spec), "apply")


def test_apply_merges_as_the_schema_says(server: LocalServer) -> None:
    first = {"bulbs": [{"name": "a", "size": 1}], "tags": ["x"], "order": ["1"], "free": {"k": {"a": 1}}, "port": 80}
    second = {"bulbs": [{"name": "b"}], "tags": ["y"], "free": {"k": {"b": 2}, "l": [1]}}
    assert applied(server, "one", "merged", first).status == 201
    merged = applied(server, "two", "merged", second)
    assert merged.status == 200, merged.text
    assert merged.json["spec"] == {
        "bulbs": [{"name": "a", "size": 1}, {"name": "b"}],
        "tags": ["x", "y"],
        "order": ["1"],
        "free": {"k": {"a": 1, "b": 2}, "l": [1]},
        "port": 80,
    }
    for spec, field in (({"order": ["2"]}, ".spec.order"), ({"free": {"k": {"a": 5}}}, ".spec.free.k.a")):
        conflict = applied(server, "three", "merged", spec)
        assert conflict.status == 409
        assert [cause["field"] for cause in conflict.json["details"]["causes"]] == [field]
    assert applied(server, "one", "merged", {"bulbs": []}).json["spec"]["bulbs"] == [{"name": "b"}]


def test_atomic_maps_belong_to_one_manager(server: LocalServer) -> None:
    applied(server, "one", "atomic", {"whole": {"a": "1"}})
    assert applied(server, "two", "atomic", {"whole": {"b": "2"}}).status == 409
    forced = applied(server, "two", "atomic", {"whole": {"b": "2"}}, force="true").json
    assert forced["spec"]["whole"] == {"b": "2"}


def test_a_field_that_the_schema_does_not_have_cannot_be_applied(server: LocalServer) -> None:
    answer = applied(server, "one", "undeclared", {"odd": 1})
    assert answer.status == 500
    assert answer.json["message"].endswith(".spec.odd: field not declared in schema")


def test_strategic_merge_is_not_for_custom_resources(server: LocalServer) -> None:
    server.post(path(), lamp("strategic"))
    answer = server.patch(f"{path()}/strategic", {"spec": {}}, "strategic")
    assert answer.status == 415
    assert answer.json["reason"] == "UnsupportedMediaType"


def test_the_order_of_strict_problems_is_upstreams(server: LocalServer) -> None:
    raw = (
        f'{{"apiVersion":"{GROUP}/v1","kind":"Lamp","metadata":{{"name":"strict","zz":1}},'
        '"top":1,"spec":{"odd":1,"power":1,"power":2,"free":{"k":1,"k":2}}}'
    )
    answer = server.request("POST", f"{path()}?fieldValidation=Strict", raw.encode())
    assert answer.status == 400
    problems = answer.json["message"].partition("strict decoding error: ")[2]
    assert problems == (
        'duplicate field "spec.power", duplicate field "spec.free.k", '
        'unknown field "metadata.zz", unknown field "spec.odd", unknown field "top"'
    )


def test_many_definitions_cost_little() -> None:
    start = time.process_time()
    made = [resources_of(LAMPS) for _ in range(200)]
    assert time.process_time() - start < 1.0
    assert len(made) == 200
