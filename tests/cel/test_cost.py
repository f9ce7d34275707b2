"""What rules may cost, in the numbers that kube-apiserver computes: they decide which rules may be written."""

from __future__ import annotations

from typing import Any

import pytest

from apiserver.cel.compilation import NodeRules
from apiserver.cel.schema_types import of_schema

Schema = dict[str, Any]
MOST = (1 << 64) - 1


def kind(name: str) -> Schema:
    if name == "int-or-string":
        return {"x-kubernetes-int-or-string": True}
    if name in ("date", "date-time", "duration"):
        return {"type": "string", "format": name}
    return {"type": name}


def items(of: Schema, limit: int | None) -> Schema:
    return {"type": "array", "items": of} | ({} if limit is None else {"maxItems": limit})


def entries(of: Schema, limit: int | None) -> Schema:
    return {"type": "object", "additionalProperties": of} | ({} if limit is None else {"maxProperties": limit})


def text(limit: int | None, **more: Any) -> Schema:
    return {"type": "string", **more} | ({} if limit is None else {"maxLength": limit})


def record() -> Schema:
    return {"type": "object", "properties": {"required": {"type": "string"}}, "required": ["required"]}


def cost(schema: Schema, rule: str) -> int:
    declared = of_schema(schema)
    assert declared is not None
    compiled = NodeRules(schema, declared).compile({"rule": rule})
    assert compiled.error == ""
    assert compiled.expression is not None
    return compiled.expression.most


# kind of the elements, rule, cost without a limit, a limit, cost with it
LISTS = [
    ("number", "self.all(x, true)", 4718591, 10, 32),
    ("string", "self.all(x, true)", 3145727, 20, 62),
    ("boolean", "self.all(x, true)", 1887437, 5, 17),
    ("number", "self[1] == 0.0", 2, 5000, 2),
    ("string", "self[1] == self[1]", 314577, 8, 314577),
    ("number", "self.all(x, self.all(y, true))", None, 10, 352),
    ("number", "self.all(x, self.all(y, self.all(z, true)))", None, 10, 3552),
    ("number", "self.all(x, x == 0.0)", 6291454, 3 * 1024 * 2048, 25165826),
    ("int-or-string", "self.all(x, true)", 4718591, 10, 32),
    ("int-or-string", "self[0] == 5", 3, 10, 3),
    ("boolean", "self[0] == false", 2, 25, 2),
    ("duration", "self.all(x, true)", 2359295, 5, 17),
    ("duration", "self[0].getHours() == 2", 4, 525, 4),
    ("date", "self.all(x, true)", 725936, 15, 47),
    ("date", "self[2].getDayOfMonth() == 13", 4, 42, 4),
    ("date-time", "self.all(x, true)", 428963, 25, 77),
]
MAPS = [
    ("number", "self.all(x, true)", 1348169, 10, 32),
    ("number", "has(self.x)", 1, 100, 1),
    ("string", "self.all(x, true)", 1179647, 3, 11),
    ("boolean", "self.all(x, true)", 943718, 100, 302),
    ("number", 'self["x"] == 0.0', 2, 0, 2),
    ("int-or-string", "self.all(x, true)", 1348169, 15, 47),
]
TEXTS = [
    ("self.contains('test')", 314574, 10, 5),
    ("self.startsWith('test')", 2, 15, 2),
    ("self.endsWith('test')", 2, 30, 2),
    ('size(self + "hello") > size("hello")', 314578, 4, 7),
    ('self.matches("x")', 314574, 50, 22),
    ('"".matches("(((((((((())))))))))[0-9]")', 7, 10, 7),
    ('self.matches("")', 1, 100, 1),
    ('self == "x"', 2, 0, 1),
]


@pytest.mark.parametrize(("of", "rule", "unbounded", "limit", "bounded"), LISTS)
def test_a_rule_over_a_list_costs_what_it_may_have(of, rule, unbounded, limit, bounded):
    found = cost(items(kind(of), None), rule)
    assert found == unbounded if unbounded is not None else found > 10_000_000
    assert cost(items(kind(of), limit), rule) == bounded


@pytest.mark.parametrize(("of", "rule", "unbounded", "limit", "bounded"), MAPS)
def test_a_rule_over_a_map_costs_what_it_may_have(of, rule, unbounded, limit, bounded):
    assert cost(entries(kind(of), None), rule) == unbounded
    assert cost(entries(kind(of), limit), rule) == bounded


@pytest.mark.parametrize(("rule", "unbounded", "limit", "bounded"), TEXTS)
def test_a_rule_over_a_text_costs_its_length(rule, unbounded, limit, bounded):
    assert cost(text(None), rule) == unbounded
    assert cost(text(limit), rule) == bounded


def test_a_rule_over_bytes_costs_their_length():
    assert cost(text(None, format="byte"), 'self == b"x"') == 2
    assert cost(text(0, format="byte"), 'self == b"x"') == 1


@pytest.mark.parametrize(
    ("schema", "rule", "expected"),
    [
        (items(items(kind("number"), None), None), "self.all(x, true)", 3145727),
        (items(items(kind("number"), None), 100), "self.all(x, true)", 302),
        (items(items(kind("number"), None), 51), "self[0][0] == -1.0", 3),
        (items(record(), None), "self.all(x, true)", 555128),
        (items(record(), 50), "self.all(x, true)", 152),
        (items(record(), None), "self[0] == null", 2),
        (entries(text(None), None), "self.all(x, x.contains(self[x]))", 2752507),
        (entries(text(10), 10), "self.all(x, x.contains(self[x]))", 72),
        (items(entries(kind("number"), None), None), "self.all(x, x.y == 25.2)", 6291452),
        (items(entries(kind("number"), None), 12), "self.all(x, x.y == 25.2)", 74),
        (items(entries(kind("number"), None), None), "self[0].x > 2.0", 4),
    ],
)
def test_rules_over_what_is_nested_cost_what_each_level_may_have(schema, rule, expected):
    assert cost(schema, rule) == expected
