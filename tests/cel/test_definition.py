"""Rules of a definition's schema, as kube-apiserver checks them when the definition is written."""

from __future__ import annotations

import re
from typing import Any

import pytest

from apiserver.api.fields import Path
from apiserver.cel.definition import rule_errors
from tests.cel.golden import answered, changed_schema, scenario, schema_of

AT = Path("spec.validation.openAPIV3Schema")
_SHOWN_RULE = re.compile(r'(Invalid value: )\{"[^\n]*?\}: ')


def causes(schema: dict[str, Any]) -> list[dict[str, str]]:
    found = [error.cause() for error in rule_errors(schema, AT)]
    return [cause | {"message": _SHOWN_RULE.sub(r"\1<value>: ", cause["message"])} for cause in found]


def in_any_order(found: list[dict[str, str]]) -> list[dict[str, str]]:
    return sorted(found, key=lambda cause: (cause["field"], cause["message"]))


@pytest.mark.parametrize("case", scenario("bad-rules", "crd")["cases"], ids=lambda case: case["name"])
def test_a_bad_rule_is_refused_as_kube_apiserver_refuses_it(case):
    expected = answered("bad-rules", f"crd-{case['name']}")["body"]["details"]["causes"]
    assert in_any_order(causes(changed_schema(case["set"]))) == in_any_order(expected)


@pytest.mark.parametrize("name", ["rules", "transitions"])
def test_good_rules_are_admitted(name):
    assert causes(schema_of(name)) == []
