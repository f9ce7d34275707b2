from __future__ import annotations

import pytest

from apiserver.schema import builtin, custom
from apiserver.schema.decode import DecodeError, decode
from apiserver.schema.types import List, Map

SCHEMA = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "required": ["size"],
            "properties": {
                "size": {"type": "integer", "format": "int32"},
                "note": {"type": "string"},
                "gone": {"type": "string", "nullable": True},
                "port": {"x-kubernetes-int-or-string": True},
                "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                "names": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
                "by": {"type": "object", "additionalProperties": {"type": "integer"}},
                "open": {
                    "type": "object",
                    "x-kubernetes-preserve-unknown-fields": True,
                    "properties": {"a": {"type": "string"}},
                },
            },
        },
    },
}


@pytest.fixture(scope="module")
def node():
    return custom.kind(SCHEMA, builtin.types(), version="v1", name="Guest")


def test_such_objects_keep_what_they_say(node):
    spec = {
        "note": "",
        "gone": None,
        "port": "http",
        "any": {"x": {"y": None}},
        "names": [],
        "by": {},
        "open": {"a": "", "b": 1},
    }
    decoded = decode({"metadata": {"name": "g"}, "spec": dict(spec)}, node)
    assert decoded.object == {"metadata": {"name": "g"}, "spec": spec}
    assert decoded.strict == []


def test_unknown_fields_are_dropped_and_null_means_unset(node):
    decoded = decode({"metadata": {"name": "g", "odd": 1}, "spec": {"size": None, "bad": 1}, "top": 2}, node)
    assert decoded.object == {"metadata": {"name": "g"}, "spec": {}}
    assert decoded.strict == ['unknown field "metadata.odd"', 'unknown field "spec.bad"', 'unknown field "top"']


def test_defaults_of_the_schema_are_set_and_have_defaults_themselves():
    schema = {
        "properties": {
            "spec": {
                "type": "object",
                "default": {},
                "properties": {"size": {"type": "integer", "default": 3}, "tags": {"type": "array", "default": ["a"]}},
            }
        }
    }
    node = custom.kind(schema, builtin.types(), version="v1", name="Guest")
    one, other = decode({}, node).object, decode({"spec": {"size": 0}}, node).object
    assert one == {"metadata": {}, "spec": {"size": 3, "tags": ["a"]}}
    assert other == {"metadata": {}, "spec": {"size": 0, "tags": ["a"]}}
    one["spec"]["tags"].append("b")
    assert decode({}, node).object["spec"]["tags"] == ["a"]


def test_values_of_a_wrong_type_are_refused(node):
    with pytest.raises(DecodeError, match=r"cannot unmarshal string into Go struct field spec.spec.size of type int64"):
        decode({"spec": {"size": "big"}}, node)


def test_merge_rules_come_from_the_extensions(node):
    fields = node.fields["spec"].node.fields
    assert isinstance(fields["names"].node, List)
    assert fields["names"].node.list_type == "set"
    assert isinstance(fields["by"].node, Map)
    assert fields["size"].required
