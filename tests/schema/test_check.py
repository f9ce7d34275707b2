"""Objects against the schema of their kind: what is accepted, and the words for what is not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apiserver.schema.check import SchemaCheck
from apiserver.schema.explain import explain

SPEC: dict[str, Any] = {
    "type": "object",
    "required": ["power"],
    "properties": {
        "power": {"type": "integer", "minimum": 1, "maximum": 100},
        "ratio": {"type": "number", "minimum": 0, "exclusiveMinimum": True, "multipleOf": 0.5},
        "colour": {"type": "string", "enum": ["red", "green"]},
        "name": {"type": "string", "minLength": 2, "maxLength": 5, "pattern": "^[a-z]+$"},
        "tags": {"type": "array", "minItems": 1, "maxItems": 2, "uniqueItems": True, "items": {"type": "string"}},
        "labels": {"type": "object", "maxProperties": 2, "additionalProperties": {"type": "string"}},
        "note": {"type": "string", "nullable": True, "enum": ["a", "b"]},
        "choice": {"anyOf": [{"required": ["a"]}, {"required": ["b"]}], "not": {"required": ["c"]}},
        "one": {"oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
    },
}
INT = 'Invalid value: "integer": @ must be of type string: "integer"'
BOTH = {"a": 1, "b": 1}
CHECK = SchemaCheck({"type": "object", "required": ["spec"], "properties": {"spec": SPEC}})


def told(**spec: Any) -> list[tuple[str, str]]:
    return [(error.reason, str(error)) for error in CHECK.errors({"spec": {"power": 5, **spec}})]


def test_an_object_that_fits_has_no_errors():
    full = {"ratio": 1.5, "colour": "red", "name": "abc", "tags": ["a"], "labels": {"a": "b"}, "choice": {"a": 1}}
    assert told(**full, note="a", one={"b": 1}) == []


# COMPAT: texts as kube-apiserver answered them for custom resources; "@" stands for "<field> in body"
@pytest.mark.parametrize(
    ("spec", "reason", "field", "text"),
    [
        ({"power": 101}, "Invalid", "power", "Invalid value: 101: @ should be less than or equal to 100"),
        ({"power": 0}, "Invalid", "power", "Invalid value: 0: @ should be greater than or equal to 1"),
        ({"ratio": -0.5}, "Invalid", "ratio", "Invalid value: -0.5: @ should be greater than 0"),
        ({"ratio": 0.7}, "Invalid", "ratio", "Invalid value: 0.7: @ should be a multiple of 0.5"),
        ({"colour": "blue"}, "NotSupported", "colour", 'Unsupported value: "blue": supported values: "red", "green"'),
        ({"name": "x"}, "Invalid", "name", 'Invalid value: "x": @ should be at least 2 chars long'),
        ({"name": "toolong"}, "TooLong", "name", "Too long: may not be more than 5 bytes"),
        ({"name": "ABC"}, "Invalid", "name", "Invalid value: \"ABC\": @ should match '^[a-z]+$'"),
        ({"tags": []}, "Invalid", "tags", "Invalid value: 0: @ should have at least 1 items"),
        ({"tags": ["a", "b", "c"]}, "TooMany", "tags", "Too many: 3: must have at most 2 items"),
        ({"labels": {"a": "", "b": "", "c": ""}}, "TooMany", "labels", "Too many: 3: must have at most 2 items"),
        ({"tags": ["a", 1]}, "TypeInvalid", "tags[1]", INT),
        ({"labels": {"a": 1}}, "TypeInvalid", "labels.a", INT),
        ({"note": "c"}, "NotSupported", "note", 'Unsupported value: "c": supported values: "a", "b"'),
    ],
)
def test_what_does_not_fit_is_told_in_upstreams_words(spec, reason, field, text):
    field = f"spec.{field}"
    text = text.replace("@", f"{field} in body")
    assert told(**spec) == [(f"FieldValue{reason}", f"{field}: {text}")]


def test_a_missing_field_is_told_once_however_many_are_missing():
    check = SchemaCheck({"type": "object", "required": ["a", "b"]})
    assert [str(error) for error in check.errors({})] == ["a: Required value", "b: Required value"]


def test_all_that_is_wrong_is_told_at_once():
    assert len(told(power=0, colour="blue", name="ABC")) == 3


def spoken(schema: dict[str, Any], value: Any) -> list[str]:
    return [str(error) for error in SchemaCheck(schema).errors(value)]


FAILED = '<nil>: Invalid value: "": '


# COMPAT: kube-openapi's validator, whose errors of composition are none of a field
@pytest.mark.parametrize(
    ("spec", "texts"),
    [
        (
            {"choice": {}},
            [f'{FAILED}"spec.choice" must validate at least one schema (anyOf)', "spec.choice.a: Required value"],
        ),
        ({"choice": {"a": 1, "c": 1}}, [f'{FAILED}"spec.choice" must not validate the schema (not)']),
        (
            {"one": BOTH},
            [f'{FAILED}"spec.one" must validate one and only one schema (oneOf). Found 2 valid alternatives'],
        ),
        (
            {"one": {}},
            [
                f'{FAILED}"spec.one" must validate one and only one schema (oneOf). Found none valid',
                "spec.one.a: Required value",
            ],
        ),
    ],
)
def test_of_several_branches_the_one_with_the_most_matches_is_told(spec, texts):
    assert [text for _, text in told(**spec)] == texts


@pytest.mark.parametrize(
    ("schema", "value", "texts"),
    [
        ({"multipleOf": 0.5}, 0, ["a: Invalid value: 0: factor MultipleOf declared for a must be positive: 0"]),
        ({"multipleOf": 2.5}, 4, []),
        ({"multipleOf": 2.5}, 5.5, ["a: Invalid value: 5.5: a in body should be a multiple of 2.5"]),
        ({"minimum": 0.5}, 0, []),
        ({"maximum": 0.5, "exclusiveMaximum": True}, 0, ["a: Invalid value: 0: a in body should be less than 0"]),
        (
            {"type": "number", "maximum": 1e6},
            2e6 + 0.5,
            ["a: Invalid value: 2.0000005e+06: a in body should be less than or equal to 1e+06"],
        ),
        (
            {"type": "integer", "format": "int32"},
            1 << 31,
            ['<nil>: Invalid value: "": Checked value must be of type integer with format int32 in a'],
        ),
        (
            {"type": "integer", "format": "int64"},
            1.5,
            [
                'a: Invalid value: "float64": a in body must be of type int64: "float64"',
                '<nil>: Invalid value: "": Checked value must be of type integer with format int64 in a',
            ],
        ),
        ({"type": "integer", "format": "int64"}, True, ['a: Invalid value: "": a in body must be of type int64: ""']),
        (
            {"type": "string", "nullable": True, "enum": ["b"]},
            None,
            ['a: Unsupported value: null: supported values: "b"'],
        ),
        ({"type": "number", "enum": [1]}, 1.5, []),
        ({"type": "integer", "minimum": 1, "exclusiveMinimum": False}, 1, []),
        ({"exclusiveMinimum": True}, 1, []),
        (
            {"allOf": [{"minimum": 2}]},
            1,
            [
                "a: Invalid value: 1: a in body should be greater than or equal to 2",
                '<nil>: Invalid value: "": "a" must validate all the schemas (allOf). None validated',
            ],
        ),
        ({"type": "string", "pattern": r"^(?i)\pL+\z"}, "äB", []),
        ({"type": "string", "pattern": r"^\pL$"}, "1", ["a: Invalid value: \"1\": a in body should match '^\\pL$'"]),
    ],
)
def test_values_are_compared_as_upstream_compares_them(schema, value, texts):
    assert spoken({"type": "object", "properties": {"a": schema}}, {"a": value}) == texts


LISTED = {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}, "n": {"maximum": 5}}}}
MAP = {**LISTED, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}
A, B, B_MORE = ({"name": "a", "n": 9}, {"name": "b", "n": 1}, {"name": "b", "n": 8})


@pytest.mark.parametrize(
    ("schema", "old", "new", "wrong"),
    [
        (MAP, [A, B], [B, A], []),
        (MAP, [A, B], [A, B_MORE], ["l[1].n"]),
        (LISTED, [A], [A], []),
        (LISTED, [A], [A, B], ["l[0].n"]),
        (
            {"type": "object", "anyOf": [{"properties": {"n": {"maximum": 5}}}], "properties": {"n": {}, "m": {}}},
            A,
            A,
            [],
        ),
        ({"additionalProperties": {"maximum": 1}}, {"x": 5, "y": 1}, {"x": 5, "y": 2}, ["l.y"]),
    ],
)
def test_what_was_wrong_before_and_is_as_it_was_does_not_count(schema, old, new, wrong):
    check = SchemaCheck({"type": "object", "properties": {"l": schema, "other": {}}})
    errors = check.errors({"l": new, "other": 1}, {"l": old, "other": 2})
    assert [error.field for error in errors] == wrong


NUMBERS = st.one_of(st.integers(-4, 4), st.sampled_from([-1.5, 0.5, 2.5]))
KEYWORDS = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["integer", "number", "string", "object", "array"]),
        "nullable": st.booleans(),
        "minimum": NUMBERS,
        "maximum": NUMBERS,
        "exclusiveMinimum": st.booleans(),
        "exclusiveMaximum": st.booleans(),
        "multipleOf": NUMBERS,
        "enum": st.lists(st.one_of(NUMBERS, st.sampled_from(["a", "b"]), st.none()), min_size=1, max_size=2),
        "minLength": st.integers(0, 2),
        "maxItems": st.integers(0, 2),
        "format": st.sampled_from(["int32", "float", "date", "uuid"]),
        "pattern": st.sampled_from(["^a", r"\pL", r"^\d$"]),
        "required": st.lists(st.sampled_from(["a", "b"]), max_size=1),
    },
)
SCHEMAS = st.recursive(
    KEYWORDS,
    lambda inner: st.builds(
        lambda one, more: {**one, **more},
        KEYWORDS,
        st.fixed_dictionaries(
            {},
            optional={
                "properties": st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
                "items": inner,
                "additionalProperties": inner,
                "allOf": st.lists(inner, min_size=1, max_size=2),
                "anyOf": st.lists(inner, min_size=1, max_size=2),
                "oneOf": st.lists(inner, min_size=1, max_size=2),
                "not": inner,
            },
        ),
    ),
    max_leaves=6,
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, st.sampled_from(["", "a", "1", "2024-01-01"]), st.just(1 << 40)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("abc"), inner, max_size=3)),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None)
@given(SCHEMAS, VALUES)
def test_what_decides_never_lets_pass_what_the_explanation_refuses(schema, value):
    if explain(schema, value):
        assert spoken(schema, value)
