"""Rules of custom resources, as kube-apiserver answers them."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from apiserver.cel.rules import Rules
from tests.cel.golden import answered, scenario, schema_of

DOORS = schema_of("rules")
TRANSITIONS = schema_of("transitions")
STORED = {
    "apiVersion": "x/v1",
    "kind": "Door",
    "metadata": {"name": "d"},
    "spec": {"fixed": "a", "grow": 5, "once": "start", "list": [{"k": "x", "v": 5}]},
}


def causes(schema: dict[str, Any], obj: dict[str, Any], old: dict[str, Any] | None = None) -> list[dict[str, str]]:
    return [error.cause() for error in Rules(schema).errors(obj, old)]


def in_any_order(found: list[dict[str, str]]) -> list[dict[str, str]]:
    return sorted(found, key=lambda cause: (cause["field"], cause["message"]))


@pytest.mark.parametrize(
    "case",
    [c for c in scenario("rules", "create")["cases"] if "schema-error" not in c["name"]],
    ids=lambda c: c["name"],
)
def test_a_new_object_is_answered_as_kube_apiserver_answers(case):
    obj = {
        "metadata": {"name": case["set"]["/metadata/name"]},
        "spec": case["set"].get("/spec", {}),
    }
    expected = answered("rules", f"create-{case['name']}")["body"]["details"]["causes"]
    assert in_any_order(causes(DOORS, obj)) == in_any_order(expected)


def test_an_object_that_keeps_all_rules_has_no_errors():
    assert causes(DOORS, {"metadata": {"name": "d"}, "spec": {}}) == []


def merged(obj: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    result = copy.deepcopy(obj)
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name, {}), value) if isinstance(value, dict) else value
    return result


def test_transitions_are_answered_as_kube_apiserver_answers():
    current = STORED
    for case in scenario("transitions", "patch")["cases"]:
        wanted = answered("transitions", f"patch-{case['name']}")
        new = merged(current, case["body"])
        found = causes(TRANSITIONS, new, current)
        assert found == wanted["body"].get("/details/causes", []), case["name"]
        if wanted["status"] == 200:
            assert new["spec"] == wanted["body"]["/spec"]
            current = new
