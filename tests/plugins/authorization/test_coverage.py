"""Which rules cover which others."""

# ruff: noqa: E501 - tables read better with one case on a line

from __future__ import annotations

from typing import Any

import pytest

from apiserver_plugins.rbac.coverage import compact, missing, shown

Rule = dict[str, Any]


def rule(verbs: str, resources: str = "", groups: str = "", names: str = "", urls: str = "") -> Rule:
    fields = {"verbs": verbs, "resources": resources, "resourceNames": names, "nonResourceURLs": urls}
    made: Rule = {field: texts.split() for field, texts in fields.items() if texts}
    if resources:
        made["apiGroups"] = groups.split() or [""]
    return made


# fmt: off
CASES: list[tuple[list[Rule], Rule, list[str]]] = [
    ([rule("get list", "pods secrets")], rule("get", "secrets"), []),
    ([rule("get", "pods"), rule("get", "secrets")], rule("get", "pods secrets"), []),
    ([rule("get", "pods")], rule("get list", "pods secrets"), ['{APIGroups:[""], Resources:["pods"], Verbs:["list"]}', '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}']),
    ([rule("*", "*", "*")], rule("get *", "a b/c *", "x *"), []),
    ([rule("get", "*")], rule("get", "pods", "apps"), ['{APIGroups:["apps"], Resources:["pods"], Verbs:["get"]}']),
    ([rule("get", "*/scale")], rule("get", "deployments/scale"), []),
    ([rule("get", "*/scale")], rule("get", "deployments */status"), ['{APIGroups:[""], Resources:["*/status"], Verbs:["get"]}', '{APIGroups:[""], Resources:["deployments"], Verbs:["get"]}']),
    ([rule("get", "pods", names="a b")], rule("get", "pods", names="a"), []),
    ([rule("get", "pods", names="a")], rule("get", "pods"), ['{APIGroups:[""], Resources:["pods"], Verbs:["get"]}']),
    ([rule("get", "pods", names="a")], rule("get", "pods", names="a b"), ['{APIGroups:[""], Resources:["pods"], ResourceNames:["b"], Verbs:["get"]}']),
    ([rule("get", urls="/a/*")], rule("get", urls="/a/b /a/*"), []),
    ([rule("get", urls="/a/*")], rule("get put", urls="/a /a/b"), ['{NonResourceURLs:["/a"], Verbs:["get"]}', '{NonResourceURLs:["/a"], Verbs:["put"]}', '{NonResourceURLs:["/a/b"], Verbs:["put"]}']),
    ([rule("*", "*", "*")], rule("get", urls="/a"), ['{NonResourceURLs:["/a"], Verbs:["get"]}']),
    ([], rule("get", "pods"), ['{APIGroups:[""], Resources:["pods"], Verbs:["get"]}']),
]
# fmt: on


@pytest.mark.parametrize(("held", "wanted", "lacking"), CASES)
def test_what_is_not_covered_is_told(held: list[Rule], wanted: Rule, lacking: list[str]) -> None:
    assert sorted(map(shown, compact(missing(held, [wanted])))) == lacking
