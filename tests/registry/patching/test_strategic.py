from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apiserver.api.errors import ApiError, BadRequest, UnknownError, UnprocessableEntity
from apiserver.registry.patching import strategic
from apiserver.schema.types import Field, List, Map, String, Struct


def _struct(name: str, *fields: Field) -> Struct:
    made = {field.name: field for field in fields}
    return Struct(name, lambda: made, go_name=name)


TEXTS = List("[]string", String())
PORT = _struct("Port", Field("port", String()), Field("note", String()))
ITEM = _struct(
    "Item",
    Field("name", String()),
    Field("text", String()),
    Field("args", TEXTS),
    Field("ports", List("", PORT), patch_strategies=["merge"], patch_merge_key="port"),
    Field("source", _struct("Source", Field("a", String()), Field("b", String())), patch_strategies=["retainKeys"]),
)
ROOT = _struct(
    "Root",
    Field("items", List("", ITEM), patch_strategies=["merge", "retainKeys"], patch_merge_key="name"),
    Field("plain", List("", ITEM)),
    Field("names", TEXTS, patch_strategies=["merge"]),
    Field("keyless", List("", ITEM), patch_strategies=["merge"]),
    Field("labels", Map("", String())),
    Field("selector", ITEM, patch_strategies=["replace"]),
    Field("inner", ITEM),
    Field("open", Map("", ITEM)),
)


def patched(document: dict[str, Any], patch: Any) -> dict[str, Any]:
    return strategic.apply(copy.deepcopy(document), strategic.decode(json.dumps(patch).encode()), ROOT)


def refusal(document: dict[str, Any], patch: Any) -> ApiError:
    with pytest.raises(ApiError) as caught:
        patched(document, patch)
    return caught.value


def names(document: dict[str, Any], field: str = "items") -> list[str]:
    return [item["name"] for item in document[field]]


AB = {"items": [{"name": "a", "text": "1"}, {"name": "b", "text": "2"}]}


def test_items_are_matched_by_their_merge_key_and_merged():
    assert patched(AB, {"items": [{"name": "b", "args": ["x"]}]}) == {
        "items": [{"name": "a", "text": "1"}, {"name": "b", "text": "2", "args": ["x"]}]
    }


def test_new_items_come_first():
    assert names(patched(AB, {"items": [{"name": "new"}]})) == ["new", "a", "b"]
    assert names(patched(AB, {"items": [{"name": "b"}, {"name": "new"}]})) == ["a", "b", "new"]
    assert names(patched(AB, {"items": [{"name": "new"}, {"name": "a"}]})) == ["new", "a", "b"]


def test_a_list_without_merge_strategy_is_replaced():
    assert patched({"plain": [{"name": "a"}]}, {"plain": [{"name": "b"}]}) == {"plain": [{"name": "b"}]}
    document = {"items": [{"name": "a", "args": ["x", "y"]}]}
    assert patched(document, {"items": [{"name": "a", "args": ["z"]}]}) == {"items": [{"name": "a", "args": ["z"]}]}


def test_nested_lists_are_merged_too():
    document = {"items": [{"name": "a", "ports": [{"port": "1", "note": "x"}]}]}
    result = patched(document, {"items": [{"name": "a", "ports": [{"port": "1", "note": None}, {"port": "2"}]}]})
    assert result == {"items": [{"name": "a", "ports": [{"port": "1"}, {"port": "2"}]}]}


def test_scalars_are_united_with_the_new_ones_first():
    assert patched({"names": ["a", "b"]}, {"names": ["c", "b"]}) == {"names": ["c", "a", "b"]}


def test_maps_are_merged_and_null_removes():
    assert patched({"labels": {"a": "1", "b": "2"}}, {"labels": {"b": None, "c": "3", "d": None}}) == {
        "labels": {"a": "1", "c": "3"}
    }
    assert patched({"labels": {"a": "1"}}, {"labels": None}) == {}


def test_nulls_in_what_is_new_are_dropped():
    assert patched({}, {"inner": {"text": None, "name": "x"}, "names": None}) == {"inner": {"name": "x"}}


def test_patch_replace_puts_the_patch_in_the_place_of_a_map():
    assert patched({"labels": {"a": "1"}}, {"labels": {"$patch": "replace", "z": "z"}}) == {"labels": {"z": "z"}}


def test_patch_delete_empties_a_map_and_drops_a_new_one():
    assert patched({"labels": {"a": "1"}}, {"labels": {"$patch": "delete"}}) == {"labels": {}}
    assert patched({}, {"labels": {"$patch": "delete"}, "inner": {"name": "x", "source": {"$patch": "delete"}}}) == {
        "inner": {"name": "x"}
    }


def test_patch_delete_removes_list_items():
    assert names(patched(AB, {"items": [{"name": "a", "$patch": "delete"}, {"name": "none", "$patch": "delete"}]})) == [
        "b"
    ]


def test_patch_replace_in_a_list_puts_the_other_items_in_its_place():
    assert patched(AB, {"items": [{"$patch": "replace"}, {"name": "n"}]}) == {"items": [{"name": "n"}]}


def test_items_can_be_deleted_from_a_list_of_scalars():
    assert patched({"names": ["a", "b"]}, {"$deleteFromPrimitiveList/names": ["a", "z"]}) == {"names": ["b"]}
    assert patched({}, {"$deleteFromPrimitiveList/names": ["a"]}) == {}


def test_the_element_order_directive_orders_a_list_whether_the_patch_has_it_or_not():
    assert names(patched(AB, {"$setElementOrder/items": [{"name": "b"}, {"name": "a"}]})) == ["b", "a"]
    result = patched(
        AB, {"$setElementOrder/items": [{"name": "b"}, {"name": "a"}], "items": [{"name": "a", "text": "9"}]}
    )
    assert result == {"items": [{"name": "b", "text": "2"}, {"name": "a", "text": "9"}]}
    assert patched({"names": ["a", "b"]}, {"$setElementOrder/names": ["b", "a"]}) == {"names": ["b", "a"]}


def test_items_that_only_the_server_has_keep_their_place_in_the_order():
    document = {"names": ["s1", "a", "s2", "b", "s3"]}
    assert patched(document, {"$setElementOrder/names": ["a", "n", "b"], "names": ["n"]}) == {
        "names": ["s1", "a", "n", "s2", "b", "s3"]
    }


def test_the_element_order_of_a_list_that_is_not_there_does_nothing():
    assert patched({}, {"$setElementOrder/items": [{"name": "a"}]}) == {}
    assert patched({}, {"$setElementOrder/names": ["b", "a"], "names": ["b", "a"]}) == {"names": ["b", "a"]}


def test_retain_keys_clears_what_it_does_not_name():
    document = {"inner": {"source": {"a": "1"}}}
    patch = {"inner": {"source": {"$retainKeys": ["b"], "b": "2"}}}
    assert patched(document, patch) == {"inner": {"source": {"b": "2"}}}


def test_a_field_with_strategy_replace_is_replaced():
    assert patched({"selector": {"name": "a", "text": "x"}}, {"selector": {"name": "b"}}) == {"selector": {"name": "b"}}


def test_a_value_of_another_kind_replaces():
    assert patched({"labels": {"a": "1"}}, {"labels": ["x"]}) == {"labels": ["x"]}


def test_field_names_are_found_whatever_their_case():
    assert patched({"Items": [{"name": "a", "text": "1"}]}, {"Items": [{"name": "a", "args": []}]}) == {
        "Items": [{"name": "a", "text": "1", "args": []}]
    }


@pytest.mark.parametrize(
    ("patch", "text"),
    [
        ({"items": [{"text": "q"}]}, "map: map[text:q] does not contain declared merge key: name"),
        ({"items": [{"$patch": "delete"}]}, "map: map[$patch:delete] does not contain declared merge key: name"),
        (
            {"items": [{"name": "n", "$patch": "explode"}]},
            "unknown patch type: explode in map: map[$patch:explode name:n]",
        ),
        ({"items": [{"name": "n", "$patch": "merge"}]}, "merging lists cannot yet be specified in the patch"),
        ({"labels": {"$patch": "merge"}}, "unknown patch type: merge in map: map[$patch:merge]"),
        (
            {"$setElementOrder/names": ["c"], "names": ["q"]},
            "The order in patch list:\n[q]\n doesn't match $setElementOrder list:\n[c]\n",
        ),
        (
            {"$setElementOrder/items": [{"name": "a"}, {"name": "b"}], "items": [{"name": "b"}, {"name": "a"}]},
            "The order in patch list:\n[map[name:b] map[name:a]]\n doesn't match $setElementOrder list:\n"
            "[map[name:a] map[name:b]]\n",
        ),
        ({"$setElementOrder/items": "x"}, "expected a []interface {}, but received a string"),
        ({"$setElementOrder/none": []}, 'unable to find api field in struct Root for the json field "none"'),
        ({"$setElementOrder/inner": []}, "expected slice or array type, but got: struct"),
        (
            {"items": [{"name": "a"}, "text"]},
            "list element types are not identical: [[map[name:a text:1] map[name:b text:2]] [map[name:a] text]]",
        ),
        ({"keyless": [{"name": "a"}]}, "cannot merge lists without merge key for struct"),
        ({"unknown": {"a": 1}}, 'unable to find api field in struct Root for the json field "unknown"'),
        ({"open": {"a": {"name": "x"}}}, "merging an object in json but data type is not struct, instead is: map"),
    ],
)
def test_what_cannot_be_merged_is_an_error_of_the_server(patch, text):
    document = {**AB, "names": ["a"], "labels": {"a": "1"}, "keyless": [{"name": "a"}], "unknown": {}}
    document["open"] = {"a": {"name": "y"}}
    error = refusal(document, patch)
    assert isinstance(error, UnknownError)
    assert error.message == text
    assert "reason" not in error.status()


@pytest.mark.parametrize(
    ("patch", "text"),
    [
        ({"$deleteFromPrimitiveList": ["a"]}, "invalid patch format of primitive list"),
        ({"$setElementOrderX/names": ["a"]}, "invalid patch format of setElementOrder list"),
        ({"$retainKeys": "labels"}, "invalid patch format of retainKeys"),
        ({"$retainKeys": ["names"], "labels": {}}, "invalid patch format of retainKeys"),
    ],
)
def test_a_malformed_directive_is_a_bad_request(patch, text):
    error = refusal({"names": ["a"], "labels": {}}, patch)
    assert isinstance(error, BadRequest)
    assert error.message == text


def test_lists_of_lists_are_unprocessable():
    assert isinstance(refusal({"names": [["a"]]}, {"names": [["b"]]}), UnprocessableEntity)


def test_a_patch_that_is_no_object_is_a_bad_request():
    error = refusal({}, [1])
    assert isinstance(error, BadRequest)
    assert error.message == "json: cannot unmarshal array into Go value of type map[string]interface {}"


KEYS = st.sampled_from("abcde")
ITEMS = st.lists(
    st.fixed_dictionaries({"name": KEYS}, optional={"text": st.sampled_from("xy"), "args": st.lists(KEYS, max_size=2)}),
    max_size=4,
    unique_by=lambda item: item["name"],
)
DOCUMENTS = st.fixed_dictionaries(
    {},
    optional={
        "items": ITEMS,
        "plain": ITEMS,
        "names": st.lists(KEYS, unique=True, max_size=4),
        "labels": st.dictionaries(KEYS, KEYS),
    },
)
DELETED = st.lists(KEYS, unique=True, max_size=2)


def model(document: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    """Strategic merge by its rules, lists of things with an identity as sets."""
    result = dict(document)
    for key, value in patch.items():
        old = document.get(key)
        if key == "labels":
            result[key] = {**(old or {}), **value}
        elif key == "names":
            result[key] = sorted({*(old or []), *value})
        elif key == "items":
            gone = {item["name"] for item in value if "$patch" in item}
            merged = {item["name"]: item for item in old or [] if item["name"] not in gone}
            for item in value:
                if "$patch" not in item:
                    merged[item["name"]] = {**merged.get(item["name"], {}), **item}
            result[key] = list(merged.values())
        else:
            result[key] = value
    return result


def unordered(document: dict[str, Any]) -> dict[str, Any]:
    key = {"items": lambda item: item["name"], "names": str}
    return {name: sorted(value, key=key[name]) if name in key else value for name, value in document.items()}


@settings(max_examples=300, deadline=None)
@given(DOCUMENTS, DOCUMENTS, DELETED)
def test_merging_follows_the_rules(document, patch, deleted):
    given_names = {item["name"] for item in patch.get("items", [])}
    patch.setdefault("items", []).extend({"name": n, "$patch": "delete"} for n in deleted if n not in given_names)
    result = patched(document, patch)
    assert unordered(result) == unordered(model(document, patch))
    for field, identity in (("items", lambda item: item["name"]), ("names", str)):
        order = [identity(item) for item in result.get(field, [])]
        for source in (document, patch):
            kept = [
                identity(item) for item in source.get(field, []) if identity(item) in order and "$patch" not in item
            ]
            if source is document:
                kept = [k for k in kept if k not in {identity(item) for item in patch.get(field, [])}]
            assert [o for o in order if o in kept] == kept


@settings(max_examples=200, deadline=None)
@given(DOCUMENTS, DOCUMENTS)
def test_merging_twice_is_merging_once(document, patch):
    once = patched(document, patch)
    assert unordered(patched(once, patch)) == unordered(once)


@settings(max_examples=200, deadline=None)
@given(DOCUMENTS, st.permutations("abcde"))
def test_an_order_that_names_everything_is_the_order_of_the_result(document, order):
    if document.get("items") == []:
        document.pop("items")
    result = patched(document, {"$setElementOrder/items": [{"name": name} for name in order]})
    if "items" in document:
        assert names(result) == [name for name in order if name in names(document)]
