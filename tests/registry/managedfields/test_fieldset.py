from __future__ import annotations

import itertools
from collections.abc import Iterable

from hypothesis import given, settings
from hypothesis import strategies as st

from apiserver.registry.managedfields import fieldset
from apiserver.registry.managedfields.fieldset import Fields

ELEMENTS = ["f:a", "f:b", 'k:{"name":"x"}', 'v:"y"']
PATHS = st.lists(st.sampled_from(ELEMENTS), min_size=1, max_size=3).map(tuple)
SETS = st.frozensets(PATHS, max_size=8)


def make(paths: Iterable[tuple[str, ...]]) -> Fields:
    result: Fields = {}
    for path in paths:
        result = fieldset.union(result, fieldset.of_path(path))
    return result


def read(fields: Fields) -> frozenset[tuple[str, ...]]:
    listed = list(fieldset.paths(fields))
    assert len(listed) == len(set(listed))
    check_form(fields)
    return frozenset(listed)


def check_form(fields: Fields) -> None:
    """Elements stand in order, and no node is without purpose."""
    assert list(fields) == sorted(fields)
    for element, node in fields.items():
        if element == ".":
            assert node == {}
        else:
            assert node != {".": {}}
            check_form(node)


@settings(deadline=None)
@given(SETS)
def test_a_set_holds_the_paths_it_was_made_of(paths):
    assert read(make(paths)) == paths
    for path in itertools.chain(paths, [("f:a",), ("f:a", "f:b"), ('k:{"name":"x"}', "f:a")]):
        assert fieldset.contains(make(paths), path) == (path in paths)


@settings(max_examples=400, deadline=None)
@given(SETS, SETS)
def test_set_algebra_is_that_of_sets_of_paths(left, right):
    a, b = make(left), make(right)
    assert read(fieldset.union(a, b)) == left | right
    assert read(fieldset.difference(a, b)) == left - right
    assert read(fieldset.intersection(a, b)) == left & right
    below = frozenset(path for path in left if not any(path[: i + 1] in right for i in range(len(path))))
    assert read(fieldset.exclude(a, b)) == below
    assert read(a) == left
    assert read(b) == right


@settings(deadline=None)
@given(SETS, SETS)
def test_an_unchanged_set_is_the_same_object(left, right):
    a = make(left)
    assert (fieldset.difference(a, make(right - left)) is a) or not left
    assert fieldset.exclude(a, {}) is a
    assert fieldset.union(a, make(left)) is a or not left


def test_members_of_a_level_come_before_what_lies_below_them():
    fields = make(
        [("f:spec", "f:slots", 'k:{"id":1,"side":"l"}', "f:load"), ("f:spec", "f:whole"), ("f:spec", "f:fixed")]
    )
    assert [fieldset.path_text(path) for path in fieldset.paths(fields)] == [
        ".spec.fixed",
        ".spec.whole",
        '.spec.slots[id=1,side="l"].load',
    ]


def test_values_in_paths_are_quoted_as_go_does():
    assert fieldset.element_text('v:"a\\"b"') == '[="a\\"b"]'
    assert fieldset.element_text("v:true") == "[=true]"
    assert fieldset.element_text("i:3") == "[3]"
    assert fieldset.element_text('k:{"a":null,"b":1.5}') == "[a=null,b=1.5]"
