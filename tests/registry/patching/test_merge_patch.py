from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apiserver.api.errors import BadRequest
from apiserver.registry.patching import merge_patch


def merged(document: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    return merge_patch.apply(copy.deepcopy(document), merge_patch.decode(json.dumps(patch).encode()))


def test_maps_are_merged_and_null_removes():
    document = {"metadata": {"labels": {"x": "y", "z": "w"}}, "spec": {"replicas": 1}}
    assert merged(document, {"metadata": {"labels": {"x": None, "n": "m"}}}) == {
        "metadata": {"labels": {"z": "w", "n": "m"}},
        "spec": {"replicas": 1},
    }


def test_lists_are_replaced():
    assert merged({"l": [{"name": "a"}, {"name": "b"}]}, {"l": [{"name": "c"}]}) == {"l": [{"name": "c"}]}


def test_nulls_in_what_is_new_are_dropped_also_inside_lists():
    assert merged({"l": [1]}, {"new": {"a": None, "b": 1}, "l": [{"c": None, "d": 2}, None]}) == {
        "new": {"b": 1},
        "l": [{"d": 2}, None],
    }


def test_a_list_that_replaces_an_object_keeps_its_nulls():
    assert merged({"o": {"a": 1}}, {"o": [{"c": None}]}) == {"o": [{"c": None}]}


def test_removing_what_is_not_there_changes_nothing():
    assert merged({"a": 1}, {"b": None, "c": {"d": None}}) == {"a": 1, "c": {}}


@pytest.mark.parametrize(
    ("body", "kind"), [(b"[1]", "array"), (b'"text"', "string"), (b"5", "number"), (b"true", "bool")]
)
def test_a_patch_that_is_no_object_is_a_bad_request(body, kind):
    with pytest.raises(BadRequest) as caught:
        merge_patch.decode(body)
    text = f"error decoding patch: json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}"
    assert caught.value.message == text


def test_a_null_patch_is_a_bad_request():
    with pytest.raises(BadRequest, match="Invalid JSON Patch"):
        merge_patch.decode(b"null")


LEAVES = st.none() | st.integers(0, 2) | st.sampled_from(["x", "y"])
OBJECTS = st.recursive(
    st.dictionaries(st.sampled_from("abcd"), LEAVES, max_size=4),
    lambda inner: st.dictionaries(
        st.sampled_from("abcd"), inner | LEAVES | st.lists(st.integers(0, 3), max_size=2), max_size=4
    ),
    max_leaves=10,
)


def rfc7386(target: Any, patch: Any) -> Any:
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = rfc7386(result.get(key), value)
    return result


@settings(max_examples=300, deadline=None)
@given(OBJECTS, OBJECTS)
def test_merging_follows_rfc_7386(document, patch):
    assert merged(document, patch) == rfc7386(document, patch)


@settings(max_examples=100, deadline=None)
@given(OBJECTS, OBJECTS)
def test_merging_twice_is_merging_once(document, patch):
    once = merged(document, patch)
    assert merged(once, patch) == once
