from __future__ import annotations

import pytest
from hypothesis import given

from apiserver.api import quantity
from tests.schema.objects import quantities


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("0.1", "100m"), ("1000m", "1"), ("100m", "100m"), ("1024Mi", "1Gi"), ("1Gi", "1Gi"),
        ("1025Mi", "1025Mi"), ("1000", "1k"), ("100", "100"), ("1500m", "1500m"), ("1.5", "1500m"),
        ("1.500", "1.500"), ("0", "0"), ("0Mi", "0"), ("0m", "0"), ("1e3", "1e3"), ("1e4", "10e3"),
        ("1.5e3", "1500"), ("2048Ki", "2Mi"), ("512Ki", "512Ki"), ("0.5Ki", "512"), ("0.5Mi", "512Ki"),
        ("1.5Gi", "1536Mi"), ("100000000000", "100G"), ("1E", "1E"), ("1000E", "1000E"), ("0.0000000001", "1n"),
        ("-1.5", "-1500m"), ("16Ei", "9223372036854775807"), ("+5", "+5"), (".5", "500m"), ("5.", "5."),
    ],
)  # fmt: skip
def test_the_canonical_form(text, wanted):
    assert quantity.canonical(text) == wanted


@pytest.mark.parametrize("text", ["abc", "", "1..5", "1 Gi", "0x10", "lots"])
def test_what_is_no_quantity_is_refused_with_the_expression(text):
    with pytest.raises(quantity.QuantityError, match="quantities must match the regular expression"):
        quantity.canonical(text)


@pytest.mark.parametrize("text", ["1Kii", "1e", "1Gi1", "1GiK", "1mM", "1e99999999"])
def test_an_unknown_suffix_is_refused(text):
    with pytest.raises(quantity.QuantityError, match="unable to parse quantity's suffix"):
        quantity.canonical(text)


@given(quantities.map(str))
def test_the_canonical_form_is_the_same_amount_and_stays(text):
    once = quantity.canonical(text)
    assert quantity.canonical(once) == once
    assert quantity.parse(once) == quantity.parse(text)


@pytest.mark.parametrize(
    ("texts", "wanted"),
    [
        ((), "0"), (("100m", "1"), "1100m"), (("1Gi", "512Mi"), "1536Mi"), (("0", "1Gi"), "1Gi"),
        (("1Gi", "1G"), "2073741824"),
        (("1e3", "1"), "1001"), (("500m", "500m"), "1"), (("1", "-1"), "0"), (("64Mi",) * 16, "1Gi"),
    ],
)  # fmt: skip
def test_sums_keep_the_format_of_the_first(texts: tuple[str, ...], wanted: str) -> None:
    assert str(quantity.total(map(quantity.amount, texts))) == wanted


def test_a_count_is_a_quantity() -> None:
    assert str(quantity.whole(12)) == "12"
