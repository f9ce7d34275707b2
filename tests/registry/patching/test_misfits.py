from __future__ import annotations

import pytest

from apiserver.registry.patching import misfits, reading, results
from apiserver.schema import builtin

DEPLOYMENT = builtin.types().kind("apps", "v1", "Deployment")
CONFIGMAP = builtin.types().kind("", "v1", "ConfigMap")


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ([], "cannot restore struct from: slice"),
        ({"template": {"spec": {"containers": {}}}}, "cannot restore slice from map"),
        ({"template": {"metadata": {"labels": ["a"]}}}, "cannot restore map from slice"),
        ({"template": {"metadata": {"labels": {"a": 5}}}}, "cannot convert int64 to string"),
        ({"template": {"metadata": {"labels": {"a": True}}}}, "unrecognized type: string"),
        ({"replicas": "x"}, "unrecognized type: int32"),
        ({"replicas": 1.5}, "cannot convert float64 to int32"),
        ({"paused": "x"}, "unrecognized type: bool"),
        ({"replicas": 2.0, "paused": None, "strategy": {"rollingUpdate": {"maxSurge": []}}}, ""),
    ],
)
def test_a_value_that_does_not_fit_is_named_as_the_converter_names_it(spec, text):
    assert DEPLOYMENT is not None
    assert misfits.explain({"spec": spec}, DEPLOYMENT) == text


def test_bytes_are_text():
    assert CONFIGMAP is not None
    assert misfits.explain({"binaryData": {"a": "AA=="}}, CONFIGMAP) == ""
    assert misfits.explain({"binaryData": {"a": 5}}, CONFIGMAP) == "cannot restore slice from int64"


def test_values_are_printed_as_go_prints_them():
    value = {"b": [1, 2.5, None, True], "a": {"x": "y"}, "c": 1e21, "d": 1e-7, "e": 3.0, "f": []}
    assert results.go_print(value) == "map[a:map[x:y] b:[1 2.5 <nil> true] c:1e+21 d:1e-07 e:3 f:[]]"


def test_a_refused_result_names_no_object():
    status = results.refuse_result("map[data:[a]]", "cannot restore map from slice").status()
    assert status["message"] == ' "" is invalid: patch: Invalid value: "map[data:[a]]": cannot restore map from slice'
    assert "name" not in status["details"]


def test_duplicate_fields_are_named_and_the_last_one_counts():
    body = b'{"spec": {"replicas": 5, "replicas": 6}}'
    assert reading.duplicate_fields(body) == ['duplicate field "spec.replicas"']
    assert reading.read_json(body) == {"spec": {"replicas": 6}}
    assert reading.duplicate_fields(b'{"spec": {}}') == []
