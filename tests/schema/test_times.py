from __future__ import annotations

import pytest

from apiserver.schema import times


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("2024-02-29T10:20:30Z", "2024-02-29T10:20:30Z"),
        ("2024-01-31T10:20:30.75Z", "2024-01-31T10:20:30Z"),
        ("2024-01-01T00:30:00+01:00", "2023-12-31T23:30:00Z"),
        ("2024-01-01T9:30:00Z", "2024-01-01T09:30:00Z"),
    ],
)
def test_times_become_utc_seconds(text, wanted):
    assert times.canonical(text) == wanted


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("soon", 'cannot parse "soon" as "2006"'),
        ("2024", 'cannot parse "" as "-"'),
        ("2024-13-01T00:00:00Z", "month out of range"),
        ("2024-02-30T00:00:00Z", "day out of range"),
        ("2024-02-10 00:00:00Z", 'cannot parse " 00:00:00Z" as "T"'),
        ("2024-02-10T24:00:00Z", "hour out of range"),
        ("2024-02-10T00:00:00", 'cannot parse "" as "Z07:00"'),
        ("2024-02-10T00:00:00Zx", 'extra text: "x"'),
        ('2024-"', 'cannot parse "\\"" as "01"'),
    ],
)
def test_a_refused_time_says_where_it_stops_being_one(text, problem):
    with pytest.raises(times.TimeError) as caught:
        times.canonical(text)
    assert str(caught.value).endswith(problem)
    assert str(caught.value).startswith("parsing time ")


def test_micro_times_need_six_decimals():
    assert times.canonical_micro("2020-01-01T01:00:00.500000+01:00") == "2020-01-01T00:00:00.500000Z"
    with pytest.raises(times.TimeError) as caught:
        times.canonical_micro("2020-01-01T00:00:00.5Z")
    assert str(caught.value) == (
        'parsing time "2020-01-01T00:00:00.5Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse ".5Z" as ".000000"'
    )
    with pytest.raises(times.TimeError, match=r'cannot parse "Z" as "\.000000"'):
        times.canonical_micro("2020-01-01T00:00:00Z")
