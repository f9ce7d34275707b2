from __future__ import annotations

import copy
import json
from typing import Any

import jsonpatch
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apiserver.api.errors import ApiError, BadRequest, RequestEntityTooLarge, UnprocessableEntity
from apiserver.registry.patching import json_patch

REFUSED = "the server rejected our request due to an error in our request"


def patched(document: dict[str, Any], *operations: dict[str, Any]) -> Any:
    return json_patch.apply(copy.deepcopy(document), json_patch.decode(json.dumps(operations).encode()))


def refusal(body: bytes | list[Any], document: dict[str, Any] | None = None) -> ApiError:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    with pytest.raises(ApiError) as caught:
        json_patch.apply(document if document is not None else {}, json_patch.decode(raw))
    return caught.value


def test_values_are_added_replaced_removed_moved_and_copied():
    document = {"data": {"a": "1", "b": "2"}}
    assert patched(
        document,
        {"op": "add", "path": "/data/c", "value": "3"},
        {"op": "replace", "path": "/data/a", "value": "one"},
        {"op": "remove", "path": "/data/b"},
        {"op": "move", "from": "/data/a", "path": "/data/moved"},
        {"op": "copy", "from": "/data/moved", "path": "/data/copied"},
        {"op": "test", "path": "/data/copied", "value": "one"},
    ) == {"data": {"c": "3", "moved": "one", "copied": "one"}}


def test_a_copy_is_independent_of_its_source():
    result = patched(
        {"a": {"x": 1}}, {"op": "copy", "from": "/a", "path": "/b"}, {"op": "add", "path": "/b/x", "value": 2}
    )
    assert result == {"a": {"x": 1}, "b": {"x": 2}}


def test_list_items_are_inserted_before_an_index_and_appended_at_the_dash():
    document = {"args": ["one", "two"]}
    assert patched(document, {"op": "add", "path": "/args/-", "value": "three"}) == {"args": ["one", "two", "three"]}
    assert patched(document, {"op": "add", "path": "/args/0", "value": "zero"}) == {"args": ["zero", "one", "two"]}


@pytest.mark.parametrize(
    ("pointer", "left"),
    [("/l/-1", ["a", "b"]), ("/l/00", ["b", "c"]), ("/l/+1", ["a", "c"]), ("/l/-3", ["b", "c"])],
)
def test_indexes_are_read_as_go_reads_numbers(pointer, left):
    assert patched({"l": ["a", "b", "c"]}, {"op": "remove", "path": pointer}) == {"l": left}


def test_adding_at_minus_one_appends():
    assert patched({"l": ["a"]}, {"op": "add", "path": "/l/-1", "value": "b"}) == {"l": ["a", "b"]}


def test_escapes_in_pointers_are_decoded():
    assert patched({"a": {}}, {"op": "add", "path": "/a/example.com~1k~0y", "value": 1}) == {
        "a": {"example.com/k~y": 1}
    }


def test_text_before_the_first_slash_of_a_pointer_is_ignored():
    assert patched({}, {"op": "add", "path": "data/x", "value": 1}) == {"x": 1}


def test_replacing_a_missing_key_adds_it():
    assert patched({"data": {}}, {"op": "replace", "path": "/data/z", "value": "x"}) == {"data": {"z": "x"}}


def test_a_missing_value_is_null():
    assert patched({}, {"op": "add", "path": "/x"}) == {"x": None}


def test_copying_a_missing_key_adds_null():
    assert patched({}, {"op": "copy", "from": "/x", "path": "/y"}) == {"y": None}


def test_a_missing_key_equals_null():
    assert patched({"a": 1}, {"op": "test", "path": "/b", "value": None}) == {"a": 1}


def test_the_whole_document_can_be_tested_and_replaced():
    document = {"a": 1}
    assert patched(
        document, {"op": "test", "path": "", "value": document}, {"op": "replace", "path": "", "value": {"b": 2}}
    ) == {"b": 2}
    assert patched(document, {"op": "replace", "path": "", "value": [1]}) == [1]
    assert patched(document, {"op": "replace", "path": "", "value": "text"}) == document


@pytest.mark.parametrize("value", [1.0, True, "1", None, [1]])
def test_values_are_equal_only_when_written_alike(value):
    assert refusal([{"op": "test", "path": "/a", "value": value}], {"a": 1}).http_code == 422


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "test", "path": "/data/a", "value": "other"},
        {"op": "test", "path": "/none/a", "value": None},
        {"op": "remove", "path": "/data/zzz"},
        {"op": "remove", "path": ""},
        {"op": "add", "path": "", "value": {}},
        {"op": "add", "path": "/metadata/annotations/x", "value": "y"},
        {"op": "add", "path": "/data/a/deeper", "value": "y"},
        {"op": "add", "path": "/list/5", "value": "y"},
        {"op": "add", "path": "/list/x", "value": "y"},
        {"op": "replace", "path": "/list/-", "value": "y"},
        {"op": "replace", "path": "/list/2", "value": "y"},
        {"op": "remove", "path": "/list/-3"},
        {"op": "move", "from": "/data/zzz", "path": "/data/b"},
        {"op": "move", "path": "/data/b"},
        {"op": "copy", "from": "/data/a"},
        {"op": "increment", "path": "/data/a"},
        {"op": None, "path": "/data/a"},
        {"path": "/data/a"},
        {"op": "add", "value": "x"},
        {"op": "add", "path": "nowhere", "value": "x"},
        None,
    ],
)
def test_an_operation_that_does_not_apply_is_refused_with_one_sentence(operation):
    error = refusal([operation], {"data": {"a": "1"}, "list": [1, 2]})
    assert isinstance(error, UnprocessableEntity)
    assert error.status()["message"] == REFUSED
    assert error.status()["details"] == {}
    assert error.status()["reason"] == "Invalid"


def test_copies_may_not_blow_up_the_document():
    document = {"a": "x" * 100_000}
    operations = [{"op": "copy", "from": "/a", "path": f"/b{i}"} for i in range(40)]
    assert refusal(operations, document).message == REFUSED


def test_a_patch_that_is_no_list_of_operations_is_a_bad_request():
    goal = "Go value of type []handlers.jsonPatchOp"
    assert refusal(b'{"op": "add"}').message == f"error decoding patch: json: cannot unmarshal object into {goal}"
    assert (
        refusal(b"[1]").message
        == "error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp"
    )
    error = refusal(b'[{"op": 1}]')
    assert isinstance(error, BadRequest)
    assert (
        error.message
        == "error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string"
    )


def test_an_empty_patch_and_null_change_nothing():
    assert json_patch.apply({"a": 1}, json_patch.decode(b"[]")) == {"a": 1}
    assert json_patch.apply({"a": 1}, json_patch.decode(b"null")) == {"a": 1}


def test_the_number_of_operations_is_limited():
    operations = [{"op": "test", "path": "/kind", "value": "x"}] * (json_patch.MAX_OPERATIONS + 2)
    error = refusal(operations)
    assert isinstance(error, RequestEntityTooLarge)
    assert (
        error.message == "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10002"
    )


def test_unknown_members_are_named_with_their_place():
    operations = json_patch.decode(b'[{"op": "replace", "path": "/a", "value": 4, "why": "because"}]')
    assert json_patch.unknown_members(operations) == ['json patch unknown field "[0].why"']


KEYS = st.sampled_from(["a", "b", "c/d", "e~f"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["x", "y"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
TOKENS = st.sampled_from(["a", "b", "c~1d", "e~0f", "0", "1", "2", "-"])
POINTERS = st.lists(TOKENS, min_size=1, max_size=3).map(lambda parts: "/" + "/".join(parts))
OPERATIONS = st.one_of(
    st.fixed_dictionaries({"op": st.sampled_from(["add", "replace", "test"]), "path": POINTERS, "value": VALUES}),
    st.fixed_dictionaries({"op": st.just("remove"), "path": POINTERS}),
    st.fixed_dictionaries({"op": st.sampled_from(["move", "copy"]), "from": POINTERS, "path": POINTERS}),
)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(KEYS, VALUES, max_size=3), st.lists(OPERATIONS, max_size=4))
def test_a_patch_that_a_strict_library_carries_out_has_the_same_result_here(document, operations):
    try:
        expected = jsonpatch.apply_patch(document, operations)
    except (jsonpatch.JsonPatchException, jsonpatch.JsonPointerException, TypeError, KeyError, IndexError):
        return
    moves_into_itself = any(op["op"] == "move" and f"{op['path']}/".startswith(f"{op['from']}/") for op in operations)
    tests_loosely = any(op["op"] == "test" for op in operations)
    if moves_into_itself or tests_loosely:
        return
    assert patched(document, *operations) == expected


@settings(max_examples=200, deadline=None)
@given(
    st.dictionaries(KEYS, VALUES, max_size=3),
    st.lists(st.dictionaries(st.sampled_from(["op", "path", "from", "value"]), VALUES), max_size=3),
)
def test_any_patch_is_either_applied_or_refused_with_a_status(document, operations):
    try:
        patched(document, *operations)
    except (BadRequest, UnprocessableEntity):
        pass
