"""Properties of label and field selectors, against models that are as plain as can be."""

from __future__ import annotations

import re
import string
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from apiserver.api.errors import BadRequest
from apiserver.registry.selectors import field_requirements, parse_field_selector, parse_label_selector

quiet = settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))

WORD = st.from_regex(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,5}[A-Za-z0-9])?", fullmatch=True)
KEYS = st.one_of(WORD, st.sampled_from(["in", "notin", "example.com/name", "a.b/C_d"]))
NUMBERS = st.integers(0, 12).map(str)
VALUES = st.one_of(WORD, NUMBERS, st.just(""))
SPACE = st.text(" \t\n\r", max_size=2)
LABELS = st.dictionaries(st.one_of(st.sampled_from(["a", "b"]), KEYS), VALUES, max_size=4)


@st.composite
def terms(draw: st.DrawFn) -> tuple[str, str, tuple[str, ...]]:
    """Key, operator and values of one requirement."""
    key = draw(st.one_of(st.sampled_from(["a", "b"]), KEYS))
    operator = draw(st.sampled_from(["=", "==", "!=", "in", "notin", "exists", "!", ">", "<"]))
    if operator in ("exists", "!"):
        return key, operator, ()
    if operator in (">", "<"):
        return key, operator, (draw(NUMBERS),)
    if operator in ("in", "notin"):
        return key, operator, tuple(draw(st.lists(VALUES, min_size=1, max_size=3)))
    return key, operator, (draw(VALUES),)


@st.composite
def written(draw: st.DrawFn, found: list[tuple[str, str, tuple[str, ...]]]) -> str:
    """The terms as a user may write them."""

    def gap() -> str:
        return draw(SPACE)

    parts = []
    for key, operator, values in found:
        if operator == "exists":
            text = key
        elif operator == "!":
            text = f"!{gap()}{key}"
        elif operator in ("in", "notin"):
            inside = ",".join(f"{gap()}{value}{gap()}" for value in values)
            text = f"{key} {operator} {gap()}({inside})"
        else:
            text = f"{key}{gap()}{operator}{gap()}{values[0]}"
        parts.append(f"{gap()}{text}{gap()}")
    return ",".join(parts)


def holds(term: tuple[str, str, tuple[str, ...]], labels: dict[str, str]) -> bool:
    """What a requirement means."""
    key, operator, values = term
    have = labels.get(key)
    if operator in ("=", "==", "in"):
        return have is not None and have in values
    if operator in ("!=", "notin"):
        return have is None or have not in values
    if operator in ("exists", "!"):
        return (have is not None) == (operator == "exists")
    if have is None or not have.isdigit():
        return False
    return int(have) > int(values[0]) if operator == ">" else int(have) < int(values[0])


@quiet
@given(st.data(), st.lists(terms(), min_size=1, max_size=4), st.lists(LABELS, max_size=6))
def test_labels_match_when_every_requirement_holds(
    data: st.DataObject, found: list[tuple[str, str, tuple[str, ...]]], objects: list[dict[str, str]]
) -> None:
    selector = parse_label_selector(data.draw(written(found)))
    assert selector is not None
    for labels in objects:
        assert selector.matches(labels) == all(holds(term, labels) for term in found)


@quiet
@given(st.data(), st.lists(terms(), min_size=1, max_size=4))
def test_a_label_selector_written_out_is_the_same_selector(
    data: st.DataObject, found: list[tuple[str, str, tuple[str, ...]]]
) -> None:
    selector = parse_label_selector(data.draw(written(found)))
    again = parse_label_selector(str(selector))
    assert again is not None
    assert str(again) == str(selector)
    assert set(again.requirements) == set(selector.requirements) if selector else False


@quiet
@given(st.lists(terms(), min_size=1, max_size=4), LABELS)
def test_what_an_index_may_use_holds_for_all_that_match(
    found: list[tuple[str, str, tuple[str, ...]]], labels: dict[str, str]
) -> None:
    selector = parse_label_selector(",".join(_plain(term) for term in found))
    assert selector is not None
    likely = {key: values[0] for key, _, values in found if values}
    for each in (labels, likely, {**labels, **likely}):
        if selector.matches(each):
            assert all(each.get(key) == value for key, value in selector.equalities)


def _plain(term: tuple[str, str, tuple[str, ...]]) -> str:
    key, operator, values = term
    if operator in ("exists", "!"):
        return key if operator == "exists" else f"!{key}"
    return f"{key} {operator} ({','.join(values)})" if operator in ("in", "notin") else f"{key}{operator}{values[0]}"


@quiet
@given(st.one_of(st.text(max_size=20), st.text("ab,=!<>() in/.-_1", max_size=16)))
@example("x in (,")
@example("x in (a b)")
@example("x=1=2")
@example("!")
@example("x>" + "9" * 30)
@example(",")
def test_any_text_is_a_label_selector_or_a_bad_request(text: str) -> None:
    try:
        selector = parse_label_selector(text)
    except BadRequest:
        return
    if selector is None:
        assert not text.strip(" \t\r\n")
    else:
        selector.matches({"a": "b"})


@pytest.mark.parametrize(
    ("text", "values"), [("x in ()", ("",)), ("x in (,)", ("",)), ("x in (a,)", ("", "a")), ("x in (,a)", ("", "a"))]
)
def test_a_set_may_hold_the_empty_value(text: str, values: tuple[str, ...]) -> None:
    selector = parse_label_selector(text)
    assert selector is not None
    assert selector.requirements[0].values == values


@pytest.mark.parametrize("have", ["9223372036854775808", "-1", "one", "", "1.5", "\u0661"])
def test_only_numbers_that_fit_are_compared(have: str) -> None:
    selector = parse_label_selector("x>0")
    assert selector is not None
    assert not selector.matches({"x": have})


def test_requirements_are_in_the_order_of_their_keys() -> None:
    assert str(parse_label_selector("b=1,a in (y,x),!c")) == "a in (x,y),b=1,!c"


# -- fields ----------------------------------------------------------------------------------------------------------

FIELDS = ("metadata.name", "metadata.namespace", "status.phase")
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)


def escaped(value: str) -> str:
    return re.sub(r"([\\,=])", r"\\\1", value)


def unsupported(field: str) -> str:
    return f"no {field}"


@quiet
@given(
    st.lists(st.tuples(st.sampled_from(FIELDS), st.sampled_from(["=", "==", "!="]), ANY_TEXT), min_size=1, max_size=3),
    st.lists(st.dictionaries(st.sampled_from(FIELDS), ANY_TEXT), max_size=4),
)
def test_fields_match_when_every_requirement_holds(
    found: list[tuple[str, str, str]], objects: list[dict[str, str]]
) -> None:
    text = ",".join(f"{field}{operator}{escaped(value)}" for field, operator, value in found)
    selector = parse_field_selector(text, FIELDS, unsupported)
    assert selector is not None
    objects = [*objects, {field: value for field, _, value in found}]
    for fields in objects:
        expected = all((fields.get(field, "") == value) == (operator != "!=") for field, operator, value in found)
        assert selector.matches(fields) == expected
    again = parse_field_selector(str(selector), FIELDS, unsupported)
    assert again == selector


@quiet
@given(st.one_of(ANY_TEXT, st.text(string.ascii_lowercase + ".,=!\\", max_size=20)))
def test_any_text_is_a_field_selector_or_a_bad_request(text: str) -> None:
    for attempt in (text, f"metadata.name={text}", f"metadata.name=a,{text}"):
        try:
            selector: Any = parse_field_selector(attempt, FIELDS, unsupported)
        except BadRequest:
            continue
        assert selector is None or selector.requirements


@quiet
@given(ANY_TEXT)
def test_the_name_that_a_selector_asks_for_is_known_before_it_is_checked(value: str) -> None:
    assert field_requirements(f"metadata.name={escaped(value)}") == [("metadata.name", False, value)]


def test_an_unknown_field_is_told() -> None:
    with pytest.raises(BadRequest, match=r"no spec\.x"):
        parse_field_selector("spec.x=1", FIELDS, unsupported)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("metadata.name", "invalid selector: 'metadata.name'; can't understand 'metadata.name'"),
        ("metadata.name=a=b", "invalid field selector: unescaped character in value: 61"),
        ("metadata.name=a\\", "invalid field selector: invalid escape sequence: \\"),
        ("metadata.name=\\a", "invalid field selector: invalid escape sequence: \\a"),
    ],
)
def test_bad_syntax_of_a_field_selector_is_a_bad_request(text: str, message: str) -> None:
    with pytest.raises(BadRequest) as refused:
        parse_field_selector(text, FIELDS, unsupported)
    assert refused.value.message == message
