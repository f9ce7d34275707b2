"""Objects against the schema of their kind: what is accepted, and the words for what is not."""

from __future__ import annotations

from typing import Any

import pytest

from apiserver.schema.check import SchemaCheck

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
    assert told(**full, note=None, one={"b": 1}) == []


# COMPAT: texts as kube-apiserver answered them for custom resources; "@" stands for "<field> in body"
@pytest.mark.parametrize(
    ("spec", "reason", "field", "text"),
    [
        ({"power": 101}, "Invalid", "power", "Invalid value: 101: @ should be less than or equal to 100"),
        ({"power": 0}, "Invalid", "power", "Invalid value: 0: @ should be greater than or equal to 1"),
        ({"ratio": 0}, "Invalid", "ratio", "Invalid value: 0: @ should be greater than 0"),
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
        ({"choice": {}}, "Invalid", "choice", '<none>: "spec.choice" must validate at least one schema (anyOf)'),
        ({"choice": {"a": 1, "c": 1}}, "Invalid", "choice", '<none>: "spec.choice" must not validate the schema (not)'),
        ({"one": BOTH}, "Invalid", "one", '<none>: "spec.one" must validate one and only one schema (oneOf)'),
        ({"note": "c"}, "NotSupported", "note", 'Unsupported value: "c": supported values: "a", "b"'),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_told_in_upstreams_words(spec, reason, field, text):
    field = f"spec.{field}"
    text = text.replace("@", f"{field} in body").replace("<none>", 'Invalid value: ""')
    assert told(**spec) == [(f"FieldValue{reason}", f"{field}: {text}")]


def test_a_missing_field_is_told_once_however_many_are_missing():
    check = SchemaCheck({"type": "object", "required": ["a", "b"]})
    assert [str(error) for error in check.errors({})] == ["a: Required value", "b: Required value"]


def test_all_that_is_wrong_is_told_at_once():
    assert len(told(power=0, colour="blue", name="ABC")) == 3
