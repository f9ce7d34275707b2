"""Properties of names: made ones, and the checks of given ones against a model that walks the characters."""

from __future__ import annotations

import string
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from apiserver.api import validation
from apiserver.registry.names import ALPHABET, generate_name

quiet = settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))

LOWER = string.ascii_lowercase
ALNUM = LOWER + string.digits
MIXED = string.ascii_letters + string.digits
NAMES = st.one_of(
    st.text(LOWER[:3] + "1-.", max_size=8),
    st.text("aB1-._/%", max_size=8),
    st.text(max_size=5),
    st.integers(50, 260).map("a".__mul__),
)


def is_label(name: str, first: str = ALNUM, limit: int | None = 63) -> bool:
    ends = bool(name) and name[0] in first and name[-1] in ALNUM
    return ends and all(c in ALNUM + "-" for c in name) and (limit is None or len(name) <= limit)


def is_subdomain(name: str) -> bool:
    return len(name) <= 253 and all(is_label(part, limit=None) for part in name.split("."))


def is_1035(name: str) -> bool:
    return is_label(name, LOWER)


def is_value(value: str) -> bool:
    ends = not value or (value[0] in MIXED and value[-1] in MIXED)
    return ends and len(value) <= 63 and all(c in MIXED + "-_." for c in value)


def is_qualified(name: str) -> bool:
    prefix, slash, rest = name.rpartition("/")
    return bool(rest) and is_value(rest) and (not slash or ("/" not in prefix and is_subdomain(prefix)))


def is_segment(name: str) -> bool:
    return name not in (".", "..") and "/" not in name and "%" not in name


CHECKS: list[tuple[Callable[[str], list[str]], Callable[[str], bool]]] = [
    (validation.dns_subdomain, is_subdomain),
    (validation.dns_label, is_label),
    (validation.dns_1035_label, is_1035),
    (validation.label_value, is_value),
    (validation.qualified_name, is_qualified),
    (validation.path_segment, is_segment),
]


@pytest.mark.parametrize(("check", "model"), CHECKS, ids=lambda function: function.__name__)
@quiet
@given(name=NAMES)
@example(name="")
@example(name="a\n")
@example(name="\u0661")
@example(name="a" * 63)
@example(name="a" * 64)
@example(name="a." * 126 + "a")
@example(name="a." * 127)
@example(name="example.com/a")
@example(name="/a")
@example(name="a/")
def test_a_name_has_problems_exactly_when_it_breaks_a_rule(
    check: Callable[[str], list[str]], model: Callable[[str], bool], name: str
) -> None:
    problems = check(name)
    assert all(problems)
    assert (not problems) == model(name), problems


BASES = st.one_of(st.text(LOWER[:3] + "1-", max_size=8), st.integers(1, 80).map("b".__mul__), NAMES)


@quiet
@given(BASES)
def test_a_made_name_is_its_beginning_and_five_characters(base: str) -> None:
    name = generate_name(base)
    assert len(name) <= 63 or len(base[:58]) == 58
    assert name[:-5] == base[:58]
    assert set(name[-5:]) <= set(ALPHABET)


@quiet
@given(BASES)
def test_what_is_made_from_a_good_beginning_is_a_good_name(base: str) -> None:
    for check in (validation.dns_subdomain, validation.dns_1035_label, validation.dns_label):
        if base and not check(base.removesuffix("-")):
            assert check(base, prefix=True) == []
            assert check(generate_name(base)) == []


def test_made_names_differ() -> None:
    assert len({generate_name("a-") for _ in range(50)}) == 50
