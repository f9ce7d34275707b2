"""Sets of indexes of an indexed Job, written as ``1,3-5,7``.

COMPAT: pkg/apis/batch/validation validateIndexesFormat, validateFailedIndexesNotOverlapCompleted
"""

from __future__ import annotations

from collections.abc import Iterator

from apiserver.api.numbers import parse_int


def _index(text: str, completions: int) -> int:
    try:
        index = parse_int(text)
    except ValueError:
        raise ValueError(f'cannot convert string to integer for index: "{text}"') from None
    if index >= completions:
        raise ValueError(f'too large index: "{text}"')
    return index


def _interval(text: str, completions: int) -> tuple[int, int]:
    parts = text.split("-")
    if len(parts) > 2:
        raise ValueError(
            f'the fragment "{text}" violates the requirement that an index interval can have at most two parts '
            "separated by '-'"
        )
    first = _index(parts[0], completions)
    if len(parts) == 1:
        return first, first
    last = _index(parts[1], completions)
    if first >= last:
        raise ValueError(f"non-increasing order, previous: {first}, current: {last}")
    return first, last


def count_indexes(text: str, completions: int) -> int:
    """How many indexes the text names.

    :raises ValueError: it is malformed, not in order, or names more than ``completions`` allow.
    """
    total, previous = 0, None
    for part in text.split(",") if text else ():
        first, last = _interval(part, completions)
        if previous is not None and previous >= first:
            raise ValueError(f"non-increasing order, previous: {previous}, current: {first}")
        total += last - first + 1
        previous = last
    return total


def _well_formed(text: str, completions: int) -> Iterator[tuple[int, int]]:
    for part in text.split(",") if text else ():
        try:
            yield _interval(part, completions)
        except ValueError:
            continue


def first_common(one: str, other: str, completions: int) -> int | None:
    """The first index that both name, None for none; malformed parts don't count."""
    theirs = list(_well_formed(other, completions))
    common = [
        max(first, start)
        for first, last in _well_formed(one, completions)
        for start, end in theirs
        if first <= end and start <= last
    ]
    return min(common) if common else None
