"""Paths of printer columns and selectable fields find what kubectl's JSONPath finds."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apiserver_plugins.apiextensions.jsonpath import parse

OBJ: dict[str, Any] = {
    "metadata": {"name": "a", "annotations": {"example.com/x": "annotated"}},
    "spec": {"size": 3, "on": False, "list": [10, 20, 30], "map": {"b": 1, "c": 2}, "none": None},
    "status": {
        "conditions": [
            {"type": "Ready", "status": "True", "n": 1},
            {"type": "Synced", "status": "False", "n": 5},
        ]
    },
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (".", [OBJ]),
        (".spec.size", [3]),
        (".spec.on", [False]),
        (".spec.none", [None]),
        (".spec.missing.deeper", []),
        (".spec.size.deeper", []),
        (".spec['size']", [3]),
        (r".metadata.annotations.example\.com/x", ["annotated"]),
        (".metadata.annotations['example.com/x']", ["annotated"]),
        (".spec.list[0]", [10]),
        (".spec.list[-1]", [30]),
        (".spec.list[7]", []),
        (".spec.list[*]", [10, 20, 30]),
        (".spec.list[0,2]", [10, 30]),
        (".spec.list[1:]", [20, 30]),
        (".spec.list[0:3:2]", [10, 30]),
        (".spec.map.*", [1, 2]),
        ("..type", ["Ready", "Synced"]),
        ('.status.conditions[?(@.type=="Ready")].status', ["True"]),
        (".status.conditions[?(@.type=='Synced')].status", ["False"]),
        (".status.conditions[?(@.type != 'Ready')].n", [5]),
        (".status.conditions[?(@.n>2)].type", ["Synced"]),
        (".status.conditions[?(@.n<=1)].type", ["Ready"]),
        (".status.conditions[?(@.absent)].type", []),
        (".status.conditions[?(@.type>3)].type", []),
    ],
)
def test_a_path_finds_values(path: str, found: list[Any]) -> None:
    assert parse(path)(OBJ) == found


@pytest.mark.parametrize("path", ["spec", ".spec[", ".spec.list[x]", ".a[?(1==1)]", ".a b", ".spec[']"])
def test_what_is_no_path_is_refused(path: str) -> None:
    with pytest.raises(ValueError):
        parse(path)


NAMES = st.text("abcdefgh", min_size=1, max_size=3)


@given(st.lists(NAMES, min_size=1, max_size=4), st.integers())
def test_a_path_of_fields_finds_what_was_put_there(names: list[str], value: int) -> None:
    obj: Any = value
    for name in reversed(names):
        obj = {name: obj}
    assert parse("." + ".".join(names))(obj) == [value]
    assert parse("".join(f"['{name}']" for name in names))(obj) == [value]


@given(
    st.recursive(st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(NAMES, inner))
)
def test_no_object_upsets_a_path(obj: Any) -> None:
    for path in (".a.b", ".a[0].b", ".a[*]", "..a", '.a[?(@.b=="c")].a', ".*"):
        parse(path)(obj)
