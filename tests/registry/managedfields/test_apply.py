from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apiserver.api.errors import BadRequest, UnknownError
from apiserver.api.names import GroupVersionKind
from apiserver.registry.managedfields import ApplyConflict, Except, apply, fieldset, record_update, shapes, typed
from apiserver.registry.managedfields.last_applied import ANNOTATION
from tests.registry.managedfields.kinds import RACK, Object, configmap, kind, owners, rack

CONFIGMAP = kind("", "v1", "ConfigMap")
DEPLOYMENT = kind("apps", "v1", "Deployment")
RACK_GVK = GroupVersionKind("example.com", "v1", "Rack")
CONFIGMAP_GVK = GroupVersionKind("", "v1", "ConfigMap")
DEPLOYMENT_GVK = GroupVersionKind("apps", "v1", "Deployment")
T0, T1, T2 = "2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z", "2026-01-01T00:00:02Z"


def stored(obj: Object) -> Object:
    """As it comes back from the store: fields without a value are gone, nothing is shared."""

    def clean(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            # An entry of a map without a value is an empty one.
            empty = {name: {} for name, item in value.items() if item is None and key == "groups"}
            return {name: clean(item, name) for name, item in value.items() if item is not None} | empty
        return [clean(item) for item in value] if isinstance(value, list) else value

    result: Object = json.loads(json.dumps(clean(obj)))
    return result


def applied(
    live: Object | None, patch: Object, manager: str = "one", *, force: bool = False, now: str = T0, **more: Any
) -> Object:
    more = {"gvk": RACK_GVK, "type": RACK, **more}
    before, given_patch = copy.deepcopy(live), copy.deepcopy(patch)
    result = apply(live, patch, manager=manager, force=force, now=now, **more)
    assert live == before
    assert patch == given_patch
    return stored(result)


def applied_map(live: Object | None, data: Any, manager: str = "one", **more: Any) -> Object:
    patch = data if isinstance(data, dict) and "kind" in data else configmap(data)
    return applied(live, patch, manager, gvk=CONFIGMAP_GVK, type=CONFIGMAP, **more)


def conflict(live: Object, patch: Object, manager: str, **more: Any) -> ApplyConflict:
    with pytest.raises(ApplyConflict) as caught:
        applied(live, patch, manager, **more)
    return caught.value


FULL = {
    "tags": ["a", "b"],
    "whole": ["x"],
    "slots": [{"id": 1, "side": "l", "load": "full"}],
    "fixed": {"k": "v"},
    "labels": {"k": "v"},
    "groups": {"g": {"id": 1}},
    "inner": {"a": "1"},
    "block": {"a": "1"},
    "free": {"x": {"y": [1]}},
}


def test_apply_creates_the_object_and_owns_the_fields_it_names():
    result = applied(None, rack(FULL))
    assert result["spec"] == FULL
    assert result["metadata"]["managedFields"] == [
        {
            "manager": "one",
            "operation": "Apply",
            "apiVersion": "example.com/v1",
            "time": T0,
            "fieldsType": "FieldsV1",
            "fieldsV1": {
                "f:spec": {
                    "f:block": {},
                    "f:fixed": {},
                    "f:free": {"f:x": {".": {}, "f:y": {}}},
                    "f:groups": {"f:g": {".": {}, "f:id": {}}},
                    "f:inner": {"f:a": {}},
                    "f:labels": {"f:k": {}},
                    "f:slots": {'k:{"id":1,"side":"l"}': {".": {}, "f:id": {}, "f:load": {}, "f:side": {}}},
                    "f:tags": {'v:"a"': {}, 'v:"b"': {}},
                    "f:whole": {},
                }
            },
        }
    ]


def test_key_fields_that_are_left_out_have_their_defaults():
    container = {"name": "c", "ports": [{"containerPort": 80}]}
    patch = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}}
    patch["spec"] = {"template": {"spec": {"containers": [container, {"image": "x"}]}}}
    result = applied(None, patch, gvk=DEPLOYMENT_GVK, type=DEPLOYMENT)
    fields = owners(result)["one"]["f:spec"]["f:template"]["f:spec"]["f:containers"]
    assert fields == {
        'k:{"name":""}': {".": {}, "f:image": {}},
        'k:{"name":"c"}': {
            ".": {},
            "f:name": {},
            "f:ports": {'k:{"containerPort":80,"protocol":"TCP"}': {".": {}, "f:containerPort": {}}},
        },
    }


def test_applying_the_same_again_changes_nothing_and_keeps_the_time():
    live = applied(None, rack(FULL))
    assert applied(live, rack(FULL), now=T1) == live


def test_a_change_gets_a_new_time():
    live = applied_map(None, {"a": "1"})
    result = applied_map(live, {"a": "2", "b": "3"}, now=T1)
    assert result["data"] == {"a": "2", "b": "3"}
    assert result["metadata"]["managedFields"][0]["time"] == T1


def test_fields_that_are_no_longer_applied_are_removed():
    live = applied_map(None, {"a": "1", "b": "2"})
    live = applied_map(live, {"a": "1"}, now=T1)
    assert live["data"] == {"a": "1"}
    result = applied_map(live, None, now=T2)
    assert "data" not in result
    assert "managedFields" not in result["metadata"]


def test_a_manager_that_agrees_shares_a_field_and_has_no_time():
    live = applied_map(None, {"a": "1", "b": "2"})
    live = applied_map(live, {"b": "2"}, "two", now=T1)
    two = next(entry for entry in live["metadata"]["managedFields"] if entry["manager"] == "two")
    assert "time" not in two
    result = applied_map(live, {"a": "1"}, now=T2)
    assert result["data"] == {"a": "1", "b": "2"}
    assert owners(result) == {"one": {"f:data": {"f:a": {}}}, "two": {"f:data": {"f:b": {}}}}


def test_fields_that_updaters_own_too_stay():
    live = applied_map(None, {"a": "1", "b": "2"})
    new = copy.deepcopy(live)
    new["data"]["c"] = "3"
    record_update(live, new, manager="put", api_version="v1", now=T1, type=CONFIGMAP)
    result = applied_map(stored(new), {"a": "1"}, now=T2)
    assert result["data"] == {"a": "1", "c": "3"}


def test_list_items_are_merged_by_key_and_removed_by_their_owner():
    live = applied(None, rack({"slots": [{"id": 1, "side": "l", "load": "full"}], "tags": ["a", "b"]}))
    live = applied(live, rack({"slots": [{"id": 1, "side": "r", "load": "half"}], "tags": ["b", "c"]}), "two", now=T1)
    assert live["spec"] == {
        "slots": [{"id": 1, "side": "l", "load": "full"}, {"id": 1, "side": "r", "load": "half"}],
        "tags": ["a", "b", "c"],
    }
    result = applied(live, rack({"tags": ["a"]}), now=T2)
    assert result["spec"] == {"slots": [{"id": 1, "side": "r", "load": "half"}], "tags": ["a", "b", "c"]}
    assert owners(result)["one"] == {"f:spec": {"f:tags": {'v:"a"': {}}}}


def test_what_was_defaulted_inside_an_item_goes_with_the_item():
    live = applied(None, rack({"slots": [{"id": 1, "side": "l"}, {"id": 2, "side": "l"}]}))
    live["spec"]["slots"][0]["load"] = "default"
    result = applied(live, rack({"slots": [{"id": 2, "side": "l"}]}), now=T1)
    assert result["spec"] == {"slots": [{"id": 2, "side": "l"}]}


def test_an_item_stays_as_long_as_somebody_owns_something_in_it():
    live = applied(None, rack({"slots": [{"id": 1, "side": "l", "load": "x"}]}))
    live = applied(live, rack({"slots": [{"id": 1, "side": "l", "tags": ["t"]}]}), "two", now=T1)
    result = applied(live, rack({}), now=T2)
    assert result["spec"] == {"slots": [{"id": 1, "side": "l", "tags": ["t"]}]}


@pytest.mark.parametrize(
    ("live", "config", "order"),
    [
        (["a", "b"], ["c"], ["a", "b", "c"]),
        (["a", "b", "c"], ["c", "a"], ["b", "c", "a"]),
        (["a", "b", "c"], ["a", "x", "c"], ["a", "b", "x", "c"]),
        (["a", "b"], ["x", "a"], ["x", "a", "b"]),
    ],
)
def test_items_of_the_configuration_keep_their_order_among_the_others(live, config, order):
    first = applied(None, rack({"tags": live}), "other")
    assert applied(first, rack({"tags": config}))["spec"]["tags"] == order


def test_another_value_is_a_conflict_with_its_owner():
    live = applied(None, rack({"text": "a"}))
    error = conflict(live, rack({"text": "b"}), "two")
    assert error.message == 'Apply failed with 1 conflict: conflict with "one": .spec.text'
    assert error.status()["details"] == {
        "causes": [{"reason": "FieldManagerConflict", "message": 'conflict with "one"', "field": ".spec.text"}]
    }
    assert error.http_code == 409


def test_several_conflicts_are_listed_by_manager_with_the_fields_of_a_level_first():
    live = applied(None, rack(FULL))
    patch = {
        "whole": ["y"],
        "fixed": {"z": "w"},
        "slots": [{"id": 1, "side": "l", "load": "none"}],
        "block": {"b": "2"},
    }
    assert conflict(live, rack(patch), "two").message == (
        'Apply failed with 4 conflicts: conflicts with "one":\n'
        '- .spec.block\n- .spec.fixed\n- .spec.whole\n- .spec.slots[id=1,side="l"].load'
    )


def test_a_conflict_with_an_updater_tells_its_version_and_subresource():
    live = rack({"text": "a", "number": 1})
    record_update(None, live, manager="put", api_version="example.com/v1", now=T0, type=RACK)
    changed = copy.deepcopy(live)
    changed["spec"]["number"] = 2
    record_update(live, changed, manager="hpa", api_version="example.com/v1", now=T1, type=RACK, subresource="scale")
    error = conflict(stored(changed), rack({"text": "b", "number": 3}), "two")
    assert error.message == (
        'Apply failed with 2 conflicts: conflicts with "hpa" with subresource "scale" using example.com/v1:\n'
        '- .spec.number\nconflicts with "put" using example.com/v1:\n- .spec.text'
    )


def test_force_takes_the_fields():
    live = applied(None, rack({"text": "a", "number": 1}))
    result = applied(live, rack({"text": "b"}), "two", force=True, now=T1)
    assert result["spec"] == {"text": "b", "number": 1}
    assert owners(result) == {"one": {"f:spec": {"f:number": {}}}, "two": {"f:spec": {"f:text": {}}}}


def test_giving_up_a_field_is_no_conflict():
    live = applied(None, rack({"text": "a", "number": 1}))
    live = applied(live, rack({"text": "b"}), "two", force=True, now=T1)
    assert applied(live, rack({"number": 1}), now=T2)["spec"] == {"text": "b", "number": 1}


def test_fields_of_an_object_that_nobody_owned_belong_to_before_first_apply():
    live = rack({"text": "a", "number": 1}, status={"ready": True})
    result = applied(live, rack({"text": "a"}), now=T1, fields=Except("status"))
    assert result["metadata"]["managedFields"][1]["manager"] == "before-first-apply"
    assert result["metadata"]["managedFields"][1]["time"] == T1
    assert owners(result)["before-first-apply"] == {"f:spec": {".": {}, "f:number": {}, "f:text": {}}}
    assert conflict(live, rack({"text": "b"}), "two").message == (
        'Apply failed with 1 conflict: conflict with "before-first-apply" using example.com/v1: .spec.text'
    )


def test_an_endpoint_owns_only_what_it_may():
    result = applied(None, rack({"text": "a"}, status={"ready": True}), fields=Except("status"))
    assert owners(result) == {"one": {"f:spec": {"f:text": {}}}}
    result = applied(
        result, rack({"text": "z"}, status={"ready": True}), "ctl", subresource="status", fields=Except("spec")
    )
    assert owners(result)["ctl"] == {"f:status": {"f:ready": {}}}
    assert owners(result)["one"] == {"f:spec": {"f:text": {}}}


def test_null_and_empty_do_not_remove_what_has_parts():
    live = applied(None, rack({"labels": {"a": "b"}, "tags": ["t"], "slots": [{"id": 1, "side": "l"}]}), "other")
    result = applied(live, rack({"labels": {}, "tags": [], "slots": None}))
    assert result["spec"] == live["spec"]
    assert owners(result)["one"] == {"f:spec": {"f:labels": {}, "f:slots": {}}}


def test_an_entry_written_when_a_field_was_granular_owns_it_as_a_whole():
    live = applied(None, rack({"fixed": {"k": "v"}}))
    live["metadata"]["managedFields"][0]["fieldsV1"] = {"f:spec": {"f:fixed": {"f:k": {}}}}
    result = applied(live, rack({"fixed": {"k": "other"}}), now=T1)
    assert result["spec"] == {"fixed": {"k": "other"}}
    error = conflict(live, rack({"fixed": {"k": "other"}}), "two")
    assert error.message.endswith('conflict with "one": .spec.fixed')


def test_duplicate_items_of_the_live_object_survive():
    live = rack({"tags": ["a", "a", "b"], "slots": [{"id": 1, "side": "l"}, {"id": 1, "side": "l", "load": "x"}]})
    record_update(None, live, manager="put", api_version="example.com/v1", now=T0, type=RACK)
    result = applied(live, rack({"tags": ["c"], "slots": [{"id": 2, "side": "l"}]}))
    assert result["spec"]["tags"] == ["a", "a", "b", "c"]
    assert [slot["id"] for slot in result["spec"]["slots"]] == [1, 1, 2]


def test_the_first_apply_in_a_new_version_takes_the_old_entry_along():
    live = applied(None, rack({"text": "a", "number": 1}))
    live["metadata"]["managedFields"][0]["apiVersion"] = "example.com/v0"
    result = applied(live, rack({"text": "a"}), now=T1)
    assert result["spec"] == {"text": "a"}
    assert [entry["apiVersion"] for entry in result["metadata"]["managedFields"]] == ["example.com/v1"]


def test_entries_of_other_versions_are_seen_in_their_version():
    def convert(obj: Object, version: str) -> tuple[Object, Any] | None:
        if version not in ("example.com/v1", "example.com/v0"):
            return None
        spec = {
            ("title" if version.endswith("v0") else "text"): v
            for k, v in (obj.get("spec") or {}).items()
            if k in ("text", "title")
        }
        return {**obj, "apiVersion": version, "spec": spec}, RACK

    live = applied(None, rack({"text": "a"}))
    entry = live["metadata"]["managedFields"][0]
    entry |= {"apiVersion": "example.com/v0", "fieldsV1": {"f:spec": {"f:title": {}}}}
    live["metadata"]["managedFields"].append({**entry, "manager": "gone", "apiVersion": "example.com/v9"})
    error = conflict(live, rack({"text": "b"}), "two", convert=convert)
    assert error.message == 'Apply failed with 1 conflict: conflict with "one": .spec.title'
    result = applied(live, rack(), convert=convert, now=T1)
    assert result["spec"] == {}
    assert "managedFields" not in result["metadata"]


@pytest.mark.parametrize(
    ("patch", "text"),
    [
        ({"metadata": {"name": "r"}}, "invalid object type: /, Kind="),
        ({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "r"}}, "invalid object type: /v1, Kind=Secret"),
        ({"apiVersion": "a/b/c", "kind": "Rack"}, "invalid object type: /, Kind="),
        (rack({}) | {"metadata": {"name": "r", "managedFields": []}}, "metadata.managedFields must be nil"),
    ],
)
def test_a_configuration_of_another_kind_or_with_owners_is_a_bad_request(patch, text):
    with pytest.raises(BadRequest) as caught:
        applied(None, patch)
    assert caught.value.message == text


WHERE = "failed to create typed patch object (/r; example.com/v1, Kind=Rack): "


UNKEYED = (
    'associative list with keys has an element that omits all key fields ["id" "side"] '
    "(and doesn't have default values for any key fields)"
)
NESTED = 'map[string]interface {}{"a":[]interface {}{"b"}}'


def unlike_text(value: str) -> str:
    return f"expected string, got &value.valueUnstructured{{Value:{value}}}"


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ({"speed": "fast"}, ".spec.speed: field not declared in schema"),
        ({"tags": ["a", "a"]}, '.spec.tags: duplicate entries for key [="a"]'),
        ({"slots": [{"id": 1, "side": "l"}] * 2}, '.spec.slots: duplicate entries for key [id=1,side="l"]'),
        ({"slots": [{"load": "x"}]}, f".spec.slots: element 0: {UNKEYED}"),
        ({"slots": [None]}, ".spec.slots: element 0: associative list with keys may not have a null element"),
        ({"slots": ["x"]}, ".spec.slots: element 0: associative list with keys may not have non-map elements"),
        ({"tags": [{}]}, ".spec.tags: element 0: associative list without keys has an element that's a map type"),
        ({"tags": [[]]}, ".spec.tags: element 0: not supported: associative list with lists as elements"),
        (
            {"tags": [None]},
            ".spec.tags: element 0: associative list without keys has an element that's an explicit null",
        ),
        ({"labels": ["x"]}, ".spec.labels: expected map, got &{[x]}"),
        ({"whole": {"a": None}}, ".spec.whole: expected list, got &{map[a:<nil>]}"),
        ({"whole": [1]}, f".spec.whole[0]: {unlike_text('1')}"),
        ({"text": {"a": ["b"]}}, f".spec.text: {unlike_text(NESTED)}"),
        ({"number": "x"}, ".spec.number: expected numeric (int or float), got string"),
        ({"number": True}, ".spec.number: expected numeric (int or float), got bool"),
        ({"flag": "x"}, ".spec.flag: expected boolean, got &{x}"),
        ({"slots": [{"id": 1, "side": "l", "load": 2}]}, f'.spec.slots[id=1,side="l"].load: {unlike_text("2")}'),
        (
            {"flag": 1, "text": 1},
            f"errors:\n  .spec.flag: expected boolean, got &{{1}}\n  .spec.text: {unlike_text('1')}",
        ),
    ],
)
def test_a_configuration_that_does_not_fit_is_an_error_of_the_server(spec, text):
    with pytest.raises(UnknownError) as caught:
        applied(None, rack(spec))
    assert caught.value.message == WHERE + text


def test_an_unfit_name_is_not_shown():
    patch = {"apiVersion": "example.com/v1", "kind": "Rack", "metadata": {"name": True, "namespace": "n"}}
    with pytest.raises(UnknownError, match=r"\(n/; example.com/v1, Kind=Rack\): .metadata.name: expected string"):
        applied(None, patch)


def client_side(data: dict[str, str], **annotation: Any) -> Object:
    live = configmap(data)
    text = json.dumps(configmap(annotation.get("applied", data)))
    live["metadata"]["annotations"] = {ANNOTATION: text}
    record_update(None, live, manager="kubectl-client-side-apply", api_version="v1", now=T0, type=CONFIGMAP)
    return stored(live)


def test_kubectl_takes_over_from_client_side_apply_and_keeps_the_annotation_up_to_date():
    live = client_side({"a": "1", "b": "<2>"})
    result = applied_map(live, {"a": "changed", "b": "<2>"}, "kubectl", now=T1)
    assert result["data"] == {"a": "changed", "b": "<2>"}
    assert result["metadata"]["annotations"][ANNOTATION] == (
        '{"apiVersion":"v1","data":{"a":"changed","b":"\\u003c2\\u003e"},"kind":"ConfigMap","metadata":{"name":"c"}}\n'
    )
    assert owners(result)["kubectl-client-side-apply"]["f:data"] == {".": {}, "f:b": {}}


def test_kubectl_takes_over_only_what_client_side_apply_set():
    live = client_side({"a": "1", "b": "2"}, applied={"a": "1"})
    with pytest.raises(ApplyConflict) as caught:
        applied_map(live, {"a": "x", "b": "y"}, "kubectl")
    assert [cause["field"] for cause in caught.value.status()["details"]["causes"]] == [".data.b"]


@pytest.mark.parametrize(
    "annotation", ["", "no JSON", "[]", '{"apiVersion":"v2"}', '{"apiVersion":"v1","kind":"ConfigMap","x":1}']
)
def test_an_annotation_that_cannot_be_used_allows_nothing(annotation):
    live = client_side({"a": "1"})
    live["metadata"]["annotations"][ANNOTATION] = annotation
    with pytest.raises(ApplyConflict):
        applied_map(live, {"a": "x"}, "kubectl")


def test_other_managers_conflict_with_client_side_apply():
    with pytest.raises(ApplyConflict):
        applied_map(client_side({"a": "1"}), {"a": "x"}, "other")


def test_an_annotation_that_would_be_too_large_goes():
    live = client_side({"a": "1"})
    result = applied_map(live, {"a": "1", "z": "x" * 300_000}, "kubectl")
    assert ANNOTATION not in result["metadata"]["annotations"]


WORDS = st.sampled_from(["a", "b", "c"])
SLOT = st.fixed_dictionaries(
    {"id": st.integers(1, 2), "side": WORDS}, optional={"load": WORDS, "tags": st.lists(WORDS, unique=True, min_size=1)}
)
CONFIGS = st.fixed_dictionaries(
    {},
    optional={
        "text": WORDS,
        "number": st.integers(0, 2),
        "tags": st.lists(WORDS, unique=True, min_size=1),
        "whole": st.lists(WORDS, max_size=2),
        "slots": st.lists(SLOT, max_size=3, min_size=1, unique_by=lambda slot: (slot["id"], slot["side"])),
        "fixed": st.dictionaries(WORDS, WORDS, max_size=2),
        "labels": st.dictionaries(WORDS, WORDS, max_size=2, min_size=1),
        "groups": st.dictionaries(WORDS, SLOT, max_size=2, min_size=1),
        "inner": st.fixed_dictionaries({"a": WORDS}, optional={"b": WORDS}),
    },
)
OPERATIONS = st.lists(
    st.tuples(st.sampled_from(["one", "two", "three"]), st.sampled_from(["Apply", "Apply", "Update"]), CONFIGS),
    max_size=5,
)


def leaves(spec: Any) -> set[tuple[str, ...]]:
    return set(fieldset.paths(typed.applied(shapes.of(RACK), {"spec": spec}))) if spec else set()


def play(operations: list[tuple[str, str, Any]]) -> Object | None:
    live: Object | None = None
    for i, (manager, operation, config) in enumerate(operations):
        now = f"2026-01-01T00:00:0{i}Z"
        if operation == "Apply":
            live = applied(live, rack(config or None), manager, force=True, now=now)
        else:
            new = rack(config or None)
            record_update(live, new, manager=manager, api_version="example.com/v1", now=now, type=RACK)
            live = stored(new)
    return live


@settings(max_examples=100, deadline=None)
@given(OPERATIONS, CONFIGS)
def test_what_is_applied_is_there_and_belongs_to_the_manager(operations, config):
    result = applied(play(operations), rack(config or None), "one", force=True, now=T2)
    assert leaves(config) <= leaves(result.get("spec", {}))
    owned = next(
        (e for e in result["metadata"].get("managedFields", []) if (e["manager"], e["operation"]) == ("one", "Apply")),
        None,
    )
    assert set(fieldset.paths(owned["fieldsV1"] if owned else {})) == leaves(config)
    for path in leaves(config):
        for entry in result["metadata"]["managedFields"]:
            if entry is not owned and fieldset.contains(entry["fieldsV1"], path):
                assert fieldset.contains(owned["fieldsV1"] if owned else {}, path)


@settings(max_examples=100, deadline=None)
@given(OPERATIONS, CONFIGS)
def test_applying_twice_is_applying_once(operations, config):
    once = applied(play(operations), rack(config or None), "one", force=True, now=T1)
    assert applied(once, rack(config or None), "one", now=T2) == once


APPLIES = st.lists(st.tuples(st.sampled_from(["two", "three"]), st.just("Apply"), CONFIGS), max_size=3)


@settings(max_examples=100, deadline=None)
@given(APPLIES, CONFIGS, CONFIGS)
def test_a_field_that_is_no_longer_applied_goes_if_and_only_if_nobody_else_owns_it(operations, before, after):
    live = applied(play(operations), rack(before or None), "one", force=True, now=T1)
    result = applied(live, rack(after or None), "one", force=True, now=T2)
    owned = [entry["fieldsV1"] for entry in result["metadata"].get("managedFields", [])]
    found = typed.applied(shapes.of(RACK), {"spec": result.get("spec")})
    for path in leaves(before) | leaves(after):
        assert is_there(found, path) == any(is_there(fields, path) for fields in owned)


def is_there(fields: fieldset.Fields, path: tuple[str, ...]) -> bool:
    """Whether a set has a path, or anything below it."""
    node: Any = fields
    for element in path:
        node = node.get(element) if node else None
    return node is not None


@settings(max_examples=100, deadline=None)
@given(OPERATIONS, CONFIGS)
def test_without_force_an_apply_conflicts_exactly_when_it_changes_what_others_own(operations, config):
    live = play(operations)
    forced = applied(live, rack(config or None), "one", force=True, now=T2)
    try:
        free = applied(live, rack(config or None), "one", now=T2)
    except ApplyConflict as error:
        assert live is not None
        for owner, fields in error.conflicts.items():
            assert (owner.manager, owner.operation) != ("one", "Apply")
            assert fields
        return
    assert free == forced
