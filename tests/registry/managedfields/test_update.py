from __future__ import annotations

import copy
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apiserver.registry.managedfields import Except, Only, default_manager, entries, fieldset, record_update, shapes
from apiserver.registry.managedfields.filters import ANY
from tests.registry.managedfields.kinds import RACK, Object, configmap, kind, owners, rack

CONFIGMAP = kind("", "v1", "ConfigMap")
DEPLOYMENT = kind("apps", "v1", "Deployment")
T0, T1, T2 = "2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z", "2026-01-01T00:00:02Z"


def write(live: Object | None, new: Object, manager: str = "m", now: str = T0, **more: Any) -> Object:
    """What would be stored: ``new`` with its owners; as JSON, so that nothing is shared by accident."""
    more = {"api_version": new["apiVersion"], "type": CONFIGMAP, **more}
    before = copy.deepcopy(live)
    new = copy.deepcopy(new)
    record_update(live, new, manager=manager, now=now, **more)
    assert live == before
    stored: Object = orjson.loads(orjson.dumps(new))
    if live is None:
        stored["metadata"].setdefault("uid", "u")
    return stored


def changed(live: Object, **data: Any) -> Object:
    new = copy.deepcopy(live)
    new["data"] = data
    return new


def test_a_created_object_belongs_to_its_creator():
    stored = write(
        None, configmap({"a": "1"}, namespace="n", labels={"x": "y"}, creationTimestamp=T0, resourceVersion="1")
    )
    assert stored["metadata"]["managedFields"] == [
        {
            "manager": "m",
            "operation": "Update",
            "apiVersion": "v1",
            "time": T0,
            "fieldsType": "FieldsV1",
            "fieldsV1": {"f:data": {".": {}, "f:a": {}}, "f:metadata": {"f:labels": {".": {}, "f:x": {}}}},
        }
    ]


def test_structs_that_go_always_has_are_not_owned_when_created():
    spec = {
        "replicas": 1,
        "selector": {"matchLabels": {"a": "b"}},
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%"}},
        "template": {
            "metadata": {"labels": {"a": "b"}},
            "spec": {
                "containers": [
                    {
                        "name": "c",
                        "image": "x",
                        "resources": {},
                        "ports": [{"containerPort": 80, "protocol": "TCP"}, {"containerPort": 81}],
                        "env": [{"name": "A", "value": "1"}],
                    }
                ],
                "securityContext": {},
            },
        },
    }
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": spec, "status": {}}
    container = {
        ".": {},
        "f:env": {".": {}, 'k:{"name":"A"}': {".": {}, "f:name": {}, "f:value": {}}},
        "f:image": {},
        "f:name": {},
        "f:ports": {
            ".": {},
            'k:{"containerPort":80,"protocol":"TCP"}': {".": {}, "f:containerPort": {}, "f:protocol": {}},
            'k:{"containerPort":81,"protocol":"TCP"}': {".": {}, "f:containerPort": {}},
        },
        "f:resources": {},
    }
    assert owners(write(None, deployment, type=DEPLOYMENT))["m"] == {
        "f:spec": {
            "f:replicas": {},
            "f:selector": {},
            "f:strategy": {"f:rollingUpdate": {".": {}, "f:maxSurge": {}}, "f:type": {}},
            "f:template": {
                "f:metadata": {"f:labels": {".": {}, "f:a": {}}},
                "f:spec": {"f:containers": {'k:{"name":"c"}': container}, "f:securityContext": {}},
            },
        }
    }


def test_every_struct_of_a_custom_resource_is_owned_when_created():
    spec = {
        "tags": ["b", "a"],
        "whole": ["x"],
        "slots": [{"id": 1, "side": "l", "load": "full"}],
        "fixed": {"k": "v"},
        "labels": {"k": "v"},
        "groups": {"g": {"id": 1}},
        "inner": {"a": "1"},
        "block": {"a": "1"},
        "free": {"x": {"y": [1]}},
        "number": 0,
    }
    assert owners(write(None, rack(spec), type=RACK))["m"] == {
        "f:spec": {
            ".": {},
            "f:block": {},
            "f:fixed": {},
            "f:free": {".": {}, "f:x": {".": {}, "f:y": {}}},
            "f:groups": {".": {}, "f:g": {".": {}, "f:id": {}}},
            "f:inner": {".": {}, "f:a": {}},
            "f:labels": {".": {}, "f:k": {}},
            "f:number": {},
            "f:slots": {".": {}, 'k:{"id":1,"side":"l"}': {".": {}, "f:id": {}, "f:load": {}, "f:side": {}}},
            "f:tags": {".": {}, 'v:"a"': {}, 'v:"b"': {}},
            "f:whole": {},
        }
    }


def test_a_changed_value_moves_to_who_changed_it():
    live = write(None, configmap({"a": "1", "b": "2"}), "one")
    stored = write(live, changed(live, a="changed", b="2", c="3"), "two", T1)
    assert owners(stored) == {
        "one": {"f:data": {".": {}, "f:b": {}}},
        "two": {"f:data": {"f:a": {}, "f:c": {}}},
    }
    assert [entry["time"] for entry in stored["metadata"]["managedFields"]] == [T0, T1]


def test_the_same_manager_keeps_what_it_owned_and_gets_a_new_time():
    live = write(None, configmap({"a": "1", "b": "2"}))
    stored = write(live, changed(live, a="1", b="changed"), now=T1)
    assert owners(stored) == {"m": {"f:data": {".": {}, "f:a": {}, "f:b": {}}}}
    assert stored["metadata"]["managedFields"][0]["time"] == T1


def test_a_write_that_changes_nothing_leaves_the_owners_as_they_are():
    live = write(None, configmap({"a": "1"}))
    assert write(live, changed(live, a="1"), "other", T1) == live


def test_nobody_owns_what_is_removed_and_owners_of_nothing_go():
    live = write(None, configmap({"a": "1"}), "one")
    live = write(live, changed(live, a="1", b="2"), "two", T1)
    stored = write(live, configmap(None), "three", T2)
    assert "managedFields" not in stored["metadata"]


def test_list_items_are_compared_by_their_keys_and_not_by_their_place():
    live = write(None, rack({"slots": [{"id": 1, "side": "l", "load": "a"}, {"id": 1, "side": "r"}]}), "one", type=RACK)
    new = copy.deepcopy(live)
    new["spec"]["slots"] = [{"id": 1, "side": "r", "load": "b"}, {"id": 1, "side": "l", "load": "a"}]
    stored = write(live, new, "two", T1, type=RACK)
    assert owners(stored)["two"] == {"f:spec": {"f:slots": {'k:{"id":1,"side":"r"}': {"f:load": {}}}}}


def test_duplicate_list_items_are_owned_as_one():
    item = {"id": 1, "side": "l"}
    stored = write(None, rack({"slots": [item, {**item, "load": "x"}], "tags": ["a", "a"]}), type=RACK)
    assert owners(stored)["m"]["f:spec"]["f:slots"] == {".": {}, 'k:{"id":1,"side":"l"}': {}}
    assert owners(stored)["m"]["f:spec"]["f:tags"] == {".": {}, 'v:"a"': {}}
    new = copy.deepcopy(stored)
    new["spec"]["slots"].pop()
    again = write(stored, new, "two", T1, type=RACK)
    assert owners(again)["two"]["f:spec"]["f:slots"] == {'k:{"id":1,"side":"l"}': {".": {}, "f:id": {}, "f:side": {}}}


def test_an_empty_map_is_owned_itself():
    live = write(None, rack({"labels": {}}), type=RACK)
    assert owners(live)["m"] == {"f:spec": {".": {}, "f:labels": {}}}
    stored = write(live, rack({"labels": {"a": "b"}}), "two", T1, type=RACK)
    assert owners(stored)["two"] == {"f:spec": {"f:labels": {"f:a": {}}}}


def test_a_subresource_has_an_entry_of_its_own_and_ignores_what_the_client_says_of_owners():
    live = write(None, rack({"text": "a"}), type=RACK, fields=Except("status"))
    new = {**copy.deepcopy(live), "status": {"ready": True}, "spec": {"text": "ignored"}}
    new["metadata"]["managedFields"] = []
    stored = write(live, new, now=T1, type=RACK, subresource="status", fields=Except("spec"))
    assert [(e.get("subresource"), e["fieldsV1"]) for e in stored["metadata"]["managedFields"]] == [
        (None, {"f:spec": {".": {}, "f:text": {}}}),
        ("status", {"f:status": {".": {}, "f:ready": {}}}),
    ]


def test_an_endpoint_owns_only_what_it_may():
    resources = Only(("spec", "slots", ANY, "load"))
    new = rack({"text": "a", "slots": [{"id": 1, "side": "l", "load": "x"}]})
    stored = write(None, new, type=RACK, fields=resources)
    assert owners(stored)["m"] == {
        "f:spec": {".": {}, "f:slots": {".": {}, 'k:{"id":1,"side":"l"}': {".": {}, "f:load": {}}}}
    }
    labels = Except("spec", "metadata.labels")
    stored = write(None, rack({"text": "a"}, status={"ready": True}), type=RACK, fields=labels)
    assert owners(stored)["m"] == {"f:status": {".": {}, "f:ready": {}}}
    marked = rack({}, status={"ready": True})
    marked["metadata"] |= {"labels": {"a": "b"}, "annotations": {"c": "d"}}
    assert owners(write(None, marked, type=RACK, fields=labels))["m"]["f:metadata"] == {
        "f:annotations": {".": {}, "f:c": {}}
    }


@pytest.mark.parametrize("reset", [[], [{}]])
def test_a_client_can_forget_all_owners_and_then_nobody_is_tracked(reset):
    live = write(None, configmap({"a": "1"}))
    new = changed(live, a="1", b="2")
    new["metadata"]["managedFields"] = reset
    stored = write(live, new, now=T1)
    assert "managedFields" not in stored["metadata"]
    assert "managedFields" not in write(stored, changed(stored, a="2"), now=T2)["metadata"]


@pytest.mark.parametrize(
    "broken",
    [
        {"operation": "Delete"},
        {"apiVersion": ""},
        {"fieldsType": ""},
        {"fieldsType": "FieldsV2"},
        {"fieldsV1": {"f": {}}},
        {"fieldsV1": {"k:nonsense": {}}},
        {"fieldsV1": {"f:a": "text"}},
    ],
)
def test_owners_that_cannot_be_read_are_replaced_by_the_stored_ones(broken):
    live = write(None, configmap({"a": "1"}), "one")
    new = changed(live, a="1")
    new["metadata"]["managedFields"] = [{**live["metadata"]["managedFields"][0], **broken}]
    assert entries.problem(new["metadata"]["managedFields"])
    assert write(live, new, "two", T1) == live


def test_leaving_out_the_owners_keeps_them():
    live = write(None, configmap({"a": "1"}), "one")
    assert (
        write(live, configmap({"a": "1"}), "two", T1)["metadata"]["managedFields"] == live["metadata"]["managedFields"]
    )


def test_a_client_may_rewrite_owners_and_their_fields_are_spelled_our_way():
    live = write(None, rack({"slots": [{"id": 1, "side": "l"}]}), "one", type=RACK)
    new = copy.deepcopy(live)
    entry = {**new["metadata"]["managedFields"][0], "manager": "other"}
    entry["fieldsV1"] = {"f:spec": {"f:slots": {'k:{"side":"l", "id":1}': {".": {}}}, "x:unknown": {}}}
    new["metadata"]["managedFields"] = [entry]
    assert owners(write(live, new, "two", T1, type=RACK)) == {
        "other": {"f:spec": {"f:slots": {'k:{"id":1,"side":"l"}': {}}}}
    }


def test_the_oldest_update_managers_beyond_ten_are_merged():
    live = write(None, configmap({"k": "0"}), "manager-00")
    for i in range(1, 12):
        live = write(
            live, changed(live, **live["data"], **{f"k{i}": "x"}), f"manager-{i:02}", f"2026-01-01T00:00:{i:02}Z"
        )
    found = owners(live)
    assert next(iter(found)) == "ancient-changes"
    assert len(found) == entries.MAX_UPDATE_MANAGERS
    assert found["ancient-changes"] == {"f:data": {".": {}, "f:k": {}, "f:k1": {}, "f:k2": {}}}
    assert live["metadata"]["managedFields"][0]["time"] == "2026-01-01T00:00:02Z"


def test_an_entry_of_a_version_that_is_gone_is_dropped():
    live = write(None, configmap({"a": "1"}), "one")
    live["metadata"]["managedFields"].append(
        {**live["metadata"]["managedFields"][0], "apiVersion": "v0", "manager": "old"}
    )
    stored = write(live, changed(live, a="1", b="2"), "two", T1, convert=lambda obj, version: None)
    assert list(owners(stored)) == ["one", "two"]


def test_entries_of_other_versions_lose_what_changed_in_their_terms():
    other = {"manager": "old", "operation": "Update", "apiVersion": "v0", "time": T0, "fieldsType": "FieldsV1"}
    other["fieldsV1"] = {"f:metadata": {"f:annotations": {"f:a": {}, "f:b": {}}}}
    live = configmap({"a": "1", "b": "2"}, managedFields=[other])

    def convert(obj: Object, version: str) -> tuple[Object, Any]:
        assert version == "v0"
        return {**obj, "data": {}, "metadata": {**obj["metadata"], "annotations": obj.get("data", {})}}, CONFIGMAP

    stored = write(live, changed(live, a="changed", b="2"), "two", T1, convert=convert)
    assert owners(stored) == {"old": {"f:metadata": {"f:annotations": {"f:b": {}}}}, "two": {"f:data": {"f:a": {}}}}


def test_without_a_manager_the_owner_is_unknown():
    assert list(owners(write(None, configmap({"a": "1"}), ""))) == ["unknown"]


@pytest.mark.parametrize(
    ("agent", "manager"),
    [
        ("kubectl/v1.36.0 (linux/amd64) kubernetes/abc", "kubectl"),
        ("curl", "curl"),
        ("", ""),
        ("a\x00b\x7fc/1", "abc"),
        ("x" * 200, "x" * 128),
        ("é" * 100, "é" * 64),
    ],
)
def test_the_default_manager_is_the_start_of_the_user_agent(agent, manager):
    assert default_manager(agent) == manager


WORDS = st.sampled_from(["a", "b", "c"])
SLOT = st.fixed_dictionaries(
    {"id": st.integers(1, 2), "side": WORDS}, optional={"load": WORDS, "tags": st.lists(WORDS, unique=True)}
)
SLOTS = st.lists(SLOT, max_size=3, unique_by=lambda slot: (slot["id"], slot["side"]))
SPECS = st.fixed_dictionaries(
    {},
    optional={
        "text": WORDS,
        "number": st.integers(0, 2),
        "tags": st.lists(WORDS, unique=True),
        "whole": st.lists(WORDS, max_size=2),
        "slots": SLOTS,
        "fixed": st.dictionaries(WORDS, WORDS, max_size=2),
        "labels": st.dictionaries(WORDS, WORDS, max_size=2),
        "groups": st.dictionaries(WORDS, SLOT, max_size=2),
        "inner": st.fixed_dictionaries({}, optional={"a": WORDS, "b": WORDS}),
        "free": st.dictionaries(WORDS, WORDS | st.dictionaries(WORDS, WORDS, max_size=1), max_size=2),
    },
)
WRITES = st.lists(st.tuples(st.sampled_from(["one", "two", "three"]), SPECS), min_size=1, max_size=5)


def all_fields(obj: Object) -> fieldset.Fields:
    """Every place of an object that can be owned, without the struct of the kind itself."""
    shape = shapes.of(RACK)
    assert shape is not None
    body = {key: value for key, value in obj.items() if key not in ("apiVersion", "kind", "metadata")}
    return {element: node for element, node in shape.added(body).items() if element != "."}


@settings(max_examples=300, deadline=None)
@given(WRITES)
def test_after_any_updates_every_field_has_exactly_one_owner(writes):
    live: Object | None = None
    for i, (manager, spec) in enumerate(writes):
        before = live
        live = write(live, rack(spec), manager, f"2026-01-01T00:00:0{i}Z", type=RACK)
        if before is None and live is not None and "managedFields" not in live["metadata"]:
            return
    assert live is not None
    sets = [entry["fieldsV1"] for entry in live["metadata"].get("managedFields", [])]
    union: fieldset.Fields = {}
    for fields in sets:
        assert not fieldset.intersection(union, fields)
        union = fieldset.union(union, fields)
    assert union == all_fields(live)


@settings(max_examples=200, deadline=None)
@given(WRITES)
def test_repeating_a_write_changes_nothing(writes):
    live: Object | None = None
    for manager, spec in writes:
        live = write(live, rack(spec), manager, T0, type=RACK)
        assert write(live, rack(spec), manager, T2, type=RACK)["metadata"].get("managedFields") == live["metadata"].get(
            "managedFields"
        )
