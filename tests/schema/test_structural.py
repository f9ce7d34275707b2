"""Objects and structural schemas: what is taken away, what is set, what stays."""

from __future__ import annotations

import copy
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apiserver.schema import builtin, custom
from apiserver.schema.decode import DecodeError, decode
from apiserver.schema.structural import decoder

PRESERVE, EMBEDDED = "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"
STRING: dict[str, Any] = {"type": "string"}
META = custom.object_meta(builtin.types())


def struct(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def written(schema: dict[str, Any], spec: Any) -> tuple[Any, list[str]]:
    """The spec as it is after a write, and the unknown fields that are told."""
    node = custom.kind(struct(spec=schema), builtin.types(), version="v1", name="Lamp", loose=True)
    found = decode({"metadata": {"name": "a"}, "spec": spec}, node)
    return found.object.get("spec"), [text[len('unknown field "') : -1] for text in found.strict]


@pytest.mark.parametrize(
    ("schema", "spec", "expected", "unknown"),
    [
        # pruning
        (struct(a=STRING), {"a": "x", "b": 1, "c": {}}, {"a": "x"}, ["spec.b", "spec.c"]),
        (struct(a=STRING), {"a": {"b": 1}}, {"a": {}}, ["spec.a.b"]),
        (struct(a={"type": "array", "items": struct(b=STRING)}), {"a": [{"c": 1}]}, {"a": [{}]}, ["spec.a[0].c"]),
        ({"type": "object", PRESERVE: True}, {"a": {"b": None}}, {"a": {"b": None}}, []),
        ({PRESERVE: True, **struct(a=struct(b=STRING))}, {"a": {"c": 1}, "d": 1}, {"a": {}, "d": 1}, ["spec.a.c"]),
        ({PRESERVE: True, "properties": {"a": struct(b=STRING)}}, {"a": {"c": 1}}, {"a": {}}, ["spec.a.c"]),
        ({"type": "object", "additionalProperties": struct(a=STRING)}, {"k": {"b": 1}}, {"k": {}}, ["spec.k.b"]),
        (
            {"type": "object", "additionalProperties": True},
            {"k": {"b": 1}, "s": "x"},
            {"k": {}, "s": "x"},
            ["spec.k.b"],
        ),
        # null
        (struct(a=STRING), {"a": None}, {}, []),
        (struct(a={**STRING, "nullable": True, "default": "x"}), {"a": None}, {"a": None}, []),
        (struct(a={**STRING, "default": "x"}), {"a": None}, {"a": "x"}, []),
        ({"type": "object", "additionalProperties": STRING}, {"a": None, "b": "x"}, {"b": "x"}, []),
        ({"type": "array", "items": STRING}, [None, "a"], [None, "a"], []),
        ({"type": "array", "items": {**STRING, "default": "x"}}, [None, "a"], ["x", "a"], []),
        # defaults
        (struct(a={"default": {}, **struct(b={**STRING, "default": "x"})}), {}, {"a": {"b": "x"}}, []),
        (struct(a={"default": {"z": 1}, **struct(b=STRING)}), {}, {"a": {}}, []),
        ({"type": "array", "items": struct(a={"default": 1})}, [{}], [{"a": 1}], []),
        # wrong types and numbers stay for the check
        (struct(a={"type": "integer"}), {"a": "much"}, {"a": "much"}, []),
        (struct(a=struct()), {"a": [1]}, {"a": [1]}, []),
        (struct(a={"type": "integer"}, b={PRESERVE: True}), {"a": 2.0, "b": [3.0]}, {"a": 2, "b": [3]}, []),
        # objects inside objects
        (
            {EMBEDDED: True, **struct(spec=struct(a=STRING))},
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": "x", "odd": 1, "labels": {}},
                "spec": {"b": 1},
                "c": 1,
            },
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": {}},
            ["spec.c", "spec.spec.b", "spec.metadata.odd"],
        ),
        ({EMBEDDED: True, PRESERVE: True, "type": "object"}, {"a": 1}, {"a": 1}, []),
        ({EMBEDDED: True, **struct(kind={**STRING, "default": "Pod"})}, {}, {"kind": "Pod"}, []),
    ],
)
def test_what_is_written(schema: Any, spec: Any, expected: Any, unknown: list[str]) -> None:
    assert written(schema, spec) == (expected, unknown)


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ({"apiVersion": 1, "kind": "Pod"}, "spec.apiVersion: Invalid value: 1: must be a string"),
        (
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": 5}},
            'spec.metadata: Invalid value: {"name":5}: json: cannot unmarshal number into Go struct field '
            "ObjectMeta.name of type string",
        ),
    ],
)
def test_an_object_inside_an_object_has_a_type_and_metadata(spec: Any, text: str) -> None:
    with pytest.raises(DecodeError) as refused:
        written({"type": "object", EMBEDDED: True, PRESERVE: True}, spec)
    assert refused.value.message == text


def test_of_stored_metadata_what_can_be_read_is_read() -> None:
    obj = {"metadata": {"name": "a", "labels": {"a": 5}}, "spec": {"metadata": {"name": 5, "namespace": "x"}}}
    read = decoder(struct(spec={"type": "object", EMBEDDED: True}), META)
    assert read(obj, None, None) == {"metadata": {"name": "a"}, "spec": {"metadata": {"namespace": "x"}}}


def test_a_conversion_sets_no_defaults_and_keeps_null_where_one_would_stand() -> None:
    read = decoder(struct(a={**STRING, "default": "x"}, b={**STRING, "default": "x"}, c=STRING), META, defaults=False)
    assert read({"metadata": {}, "a": None, "c": None}, None, None) == {"metadata": {}, "a": None}


LEAVES = st.sampled_from(
    [STRING, {"type": "integer", "default": 3}, {"type": "string", "nullable": True}, {PRESERVE: True}]
)
SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(
            lambda properties, more: {"type": "object", "properties": properties, **more},
            st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
            st.sampled_from([{}, {}, {PRESERVE: True}, {"default": {}}, {EMBEDDED: True}, {"nullable": True}]),
        ),
        st.builds(lambda items: {"type": "array", "items": items}, inner),
        st.builds(lambda values: {"type": "object", "additionalProperties": values}, inner),
    ),
    max_leaves=8,
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-5, 5), st.sampled_from([0.5, 2.0, "x"])),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("abcd"), inner, max_size=4)),
    max_leaves=10,
)


@settings(max_examples=200, deadline=None)
@given(SCHEMAS, VALUES)
def test_what_has_been_brought_into_form_stays_as_it_is(schema: Any, spec: Any) -> None:
    read = decoder(struct(spec=schema), META)
    once = read({"metadata": {}, "spec": copy.deepcopy(spec)}, None, [])
    again: list[Any] = []
    assert read(orjson.loads(orjson.dumps(once)), None, again) == once
    assert again == []
