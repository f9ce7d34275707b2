"""Rules of custom resources, as kube-apiserver answers them."""

from __future__ import annotations

import copy
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from apiserver.cel.rules import Rules
from tests.cel.golden import answered, scenario, schema_of

DOORS = schema_of("rules")
TRANSITIONS = schema_of("transitions")
STORED = {
    "apiVersion": "x/v1",
    "kind": "Door",
    "metadata": {"name": "d"},
    "spec": {"fixed": "a", "grow": 5, "once": "start", "list": [{"k": "x", "v": 5}]},
}


def causes(schema: dict[str, Any], obj: dict[str, Any], old: dict[str, Any] | None = None) -> list[dict[str, str]]:
    return [error.cause() for error in Rules(schema).errors(obj, old)]


def in_any_order(found: list[dict[str, str]]) -> list[dict[str, str]]:
    return sorted(found, key=lambda cause: (cause["field"], cause["message"]))


@pytest.mark.parametrize(
    "case",
    [c for c in scenario("rules", "create")["cases"] if "schema-error" not in c["name"]],
    ids=lambda c: c["name"],
)
def test_a_new_object_is_answered_as_kube_apiserver_answers(case):
    obj = {
        "metadata": {"name": case["set"]["/metadata/name"]},
        "spec": case["set"].get("/spec", {}),
    }
    expected = answered("rules", f"create-{case['name']}")["body"]["details"]["causes"]
    assert in_any_order(causes(DOORS, obj)) == in_any_order(expected)


def test_an_object_that_keeps_all_rules_has_no_errors():
    assert causes(DOORS, {"metadata": {"name": "d"}, "spec": {}}) == []


def merged(obj: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    result = copy.deepcopy(obj)
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name, {}), value) if isinstance(value, dict) else value
    return result


def test_transitions_are_answered_as_kube_apiserver_answers():
    current = STORED
    for case in scenario("transitions", "patch")["cases"]:
        wanted = answered("transitions", f"patch-{case['name']}")
        new = merged(current, case["body"])
        found = causes(TRANSITIONS, new, current)
        assert found == wanted["body"].get("/details/causes", []), case["name"]
        if wanted["status"] == 200:
            assert new["spec"] == wanted["body"]["/spec"]
            current = new


def spec(rule: str, properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    rules = [{"rule": rule} | more]
    return {
        "type": "object",
        "properties": {"spec": {"type": "object", "x-kubernetes-validations": rules, "properties": properties}},
    }


def messages(schema: dict[str, Any], new: Any, old: Any = None) -> list[str]:
    before = None if old is None else {"spec": old}
    return [error.body for error in Rules(schema).errors({"spec": new}, before)]


STRING = {"type": "string", "maxLength": 10}


def test_names_that_are_no_identifiers_are_escaped():
    names = {
        "foo-bar": STRING,
        "a.b": STRING,
        "x__y": STRING,
        "namespace": STRING,
        "k8s.io/z": STRING,
        "foo_bar": STRING,
        "fooBar": STRING,
    }
    rule = (
        "self.foo__dash__bar == 'a' && self.a__dot__b == 'b' && self.x__underscores__y == 'c'"
        " && self.__namespace__ == 'd' && self.k8s__dot__io__slash__z == 'e' && self.foo_bar == 'f'"
        " && self.fooBar == 'g'"
    )
    values = {"foo-bar": "a", "a.b": "b", "x__y": "c", "namespace": "d", "k8s.io/z": "e", "foo_bar": "f", "fooBar": "g"}
    assert messages(spec(rule, names), values) == []


def test_formats_are_times_durations_and_bytes():
    properties = {
        "day": {"type": "string", "format": "date"},
        "time": {"type": "string", "format": "date-time"},
        "span": {"type": "string", "format": "duration"},
        "data": {"type": "string", "format": "byte"},
        "ratio": {"type": "number"},
        "port": {"x-kubernetes-int-or-string": True},
    }
    rule = (
        "self.day < self.time && self.span == duration('90m') && self.data == b'a\\x00b' && self.ratio > 0.5"
        " && self.ratio < 2 && (type(self.port) == int ? self.port == 80 : self.port == 'http')"
    )
    values = {
        "day": "2020-01-01",
        "time": "2020-01-01T00:00:00.000000001Z",
        "span": "1h30m",
        "data": "YQBi",
        "ratio": 1,
    }
    assert messages(spec(rule, properties), values | {"port": 80}) == []
    assert messages(spec(rule, properties), values | {"port": "http"}) == []


def test_null_is_a_value_of_what_is_nullable():
    properties = {"n": {"type": "object", "nullable": True, "properties": {"a": STRING}}}
    assert messages(spec("!has(self.n) || self.n == null || self.n.a == 'x'", properties), {"n": None}) == []


def test_an_embedded_resource_shows_its_kind_and_name_and_no_labels():
    properties = {
        "pod": {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}
    }
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "labels": {"a": "b"}}}
    rule = "self.pod.kind == 'Pod' && self.pod.apiVersion == 'v1' && self.pod.metadata.name == 'p'"
    assert messages(spec(rule, properties), {"pod": pod}) == []
    hidden = messages(spec("has(self.pod.metadata.labels)", properties), {"pod": pod})
    assert hidden == [
        'Invalid value: "object": rule compile error: compilation failed: ERROR: <input>:1:4: undefined field'
        " 'labels'\n | has(self.pod.metadata.labels)\n | ...^"
    ]


def test_what_an_update_leaves_alone_does_not_fail_for_a_new_rule():
    schema = spec("self.a != 'old'", {"a": STRING, "b": STRING})
    unchanged = Rules(schema).check({"spec": {"a": "old"}}, {"spec": {"a": "old"}})
    assert unchanged.errors == []
    assert unchanged.warnings == ["spec: Invalid value: failed rule: self.a != 'old'"]
    changed = Rules(schema).check({"spec": {"a": "old", "b": "x"}}, {"spec": {"a": "old"}})
    assert [str(error) for error in changed.errors] == ["spec: Invalid value: failed rule: self.a != 'old'"]


def test_items_of_a_map_list_are_known_by_their_keys_when_nothing_of_them_has_changed():
    item = {
        "type": "object",
        "properties": {"k": STRING, "v": STRING},
        "x-kubernetes-validations": [{"rule": "self.v != 'bad'"}],
    }
    listed = {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items": item}
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"l": listed}}}}
    old = {"l": [{"k": "a", "v": "bad"}, {"k": "b", "v": "good"}]}
    moved = {"l": [{"k": "b", "v": "good"}, {"k": "a", "v": "bad"}]}
    assert messages(schema, moved, old) == []
    assert messages(schema, {"l": [{"k": "c", "v": "bad"}]}, old) == ["Invalid value: failed rule: self.v != 'bad'"]
    atomic = copy.deepcopy(schema)
    del atomic["properties"]["spec"]["properties"]["l"]["x-kubernetes-list-type"]
    assert messages(atomic, moved, old) == ["Invalid value: failed rule: self.v != 'bad'"]
    assert messages(atomic, old, old) == []


def test_a_rule_about_the_old_value_is_not_forgiven():
    schema = spec("oldSelf.a != 'old'", {"a": STRING})
    assert messages(schema, {"a": "old"}, {"a": "old"}) == ["Invalid value: failed rule: oldSelf.a != 'old'"]


def test_rules_in_all_of_are_evaluated_too():
    part = {"x-kubernetes-validations": [{"rule": "self.a == 'x'", "message": "must be x"}]}
    schema = {
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": {"a": STRING}, "allOf": [part]}},
    }
    schema["x-kubernetes-validations"] = [{"rule": "true"}]
    assert messages(schema, {"a": "y"}) == ["Invalid value: must be x"]


def test_a_message_that_cannot_be_used_gives_way_to_the_other():
    properties = {"a": STRING, "b": STRING}
    for expression in ("self.b", "'two\\nlines'", "''", "'x'.substring(5)"):
        schema = spec("self.a == 'x'", properties, messageExpression=expression, message="the other")
        assert messages(schema, {"a": "y"}) == ["Invalid value: the other"]
    schema = spec("self.a == 'x'", properties, messageExpression="' is ' + self.a + ' '")
    assert messages(schema, {"a": "y"}) == ["Invalid value: is y"]


def test_dynamic_values_of_the_wrong_type_are_no_such_overload():
    schema = spec("self.p < 5", {"p": {"x-kubernetes-int-or-string": True}})
    assert messages(schema, {"p": "x"}) == [
        "Invalid value: \"object\": 'no such overload': call arguments did not match a supported operator, function or"
        " macro signature for rule: self.p < 5"
    ]


def test_a_rule_that_costs_too_much_stops_the_rest():
    properties = {"l": {"type": "array", "items": {"type": "string"}}}
    schema = spec("self.l.all(x, self.l.all(y, self.l.all(z, x + y + z != '')))", properties)
    schema["properties"]["spec"]["x-kubernetes-validations"].append({"rule": "false"})
    long = {"l": [f"item {i}" for i in range(200)]}
    assert messages(schema, long) == [
        "Invalid value: \"object\": 'operation cancelled: actual cost limit exceeded': no further validation rules will"
        " be run due to call cost exceeds limit for rule: self.l.all(x, self.l.all(y, self.l.all(z, x + y + z != '')))"
    ]
    short = {"l": ["a", "b"]}
    assert messages(schema, short) == ["Invalid value: failed rule: false"]


def test_all_rules_together_have_a_budget():
    item = {
        "type": "string",
        "x-kubernetes-validations": [{"rule": "self.matches('^[a-z ]*(a|b|c|d|e|f|g|h|i|j|k)*$')"}],
    }
    schema = {
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": {"l": {"type": "array", "items": item}}}},
    }
    found = messages(schema, {"l": ["a" * 20000] * 1000})
    assert found == [
        'Invalid value: "string": validation failed due to running out of cost budget, no further validation rules will'
        " be run"
    ]


def test_rules_are_evaluated_by_many_threads():
    rules = Rules(DOORS)
    good = {"metadata": {"name": "d"}, "spec": {"min": 1, "max": 2, "url": "https://x", "cpu": "1"}}
    bad = {"metadata": {"name": "d"}, "spec": {"min": 3, "max": 2, "item": [{"a": "x", "b": "x"}]}}
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda i: len(rules.errors(bad if i % 2 else good, None)), range(400)))
    assert found == [0, 2] * 200


def test_a_value_is_not_changed_by_its_rules():
    new = {"spec": {"day": "2020-01-01", "extra": 1}}
    before = copy.deepcopy(new)
    Rules(spec("self.day > timestamp('2019-01-01T00:00:00Z')", {"day": {"type": "string", "format": "date"}})).errors(
        new, None
    )
    assert new == before


def listed(list_type: str, items: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "array", "maxItems": 5, "x-kubernetes-list-type": list_type, "items": items} | more


def test_sets_and_map_lists_are_equal_in_any_order():
    entry = {"type": "object", "properties": {"k": STRING, "v": STRING, "tags": listed("set", STRING)}}
    properties = {
        "tags": listed("set", STRING),
        "entries": listed("map", entry, **{"x-kubernetes-list-map-keys": ["k"]}),
        "plain": listed("atomic", STRING),
    }
    old = {
        "tags": ["a", "b"],
        "entries": [{"k": "x", "v": "1", "tags": ["p", "q"]}, {"k": "y", "v": "2"}],
        "plain": ["a", "b"],
    }
    new = {
        "tags": ["b", "a"],
        "entries": [{"k": "y", "v": "2"}, {"k": "x", "v": "1", "tags": ["q", "p"]}],
        "plain": ["a", "b"],
    }
    for rule in ("self.tags == oldSelf.tags", "self.entries == oldSelf.entries", "self == oldSelf"):
        assert messages(spec(rule, properties), new, old) == [], rule
        assert messages(spec(f"!({rule})", properties), new, old) != [], rule
    for changed in ({"tags": ["b", "c"]}, {"entries": [{"k": "x", "v": "1"}]}, {"plain": ["b", "a"]}):
        assert messages(spec("self == oldSelf", properties), new | changed, old) != [], changed
    assert messages(spec("self.tags != ['b', 'a']", properties), new) != []
    assert messages(spec("self.entries.all(e, !has(e.tags) || e.tags == ['p', 'q'])", properties), new) == []


def test_sets_and_map_lists_are_added_without_duplicates():
    entry = {"type": "object", "properties": {"k": STRING, "v": STRING}}
    properties = {
        "tags": listed("set", STRING),
        "entries": listed("map", entry, **{"x-kubernetes-list-map-keys": ["k"]}),
    }
    values = {"tags": ["a", "b"], "entries": [{"k": "x", "v": "1"}, {"k": "y", "v": "2"}]}
    rule = "(self.tags + ['b', 'c']).size() == 3 && (self.entries + self.entries).map(e, e.v) == ['1', '2']"
    assert messages(spec(rule, properties), values) == []
