"""Cron schedules and time zones, checked, with the words of upstream's parser.

Called for CronJobs. COMPAT: github.com/robfig/cron/v3 ParseStandard; pkg/apis/batch/validation validateTimeZone
"""

from __future__ import annotations

import re
import zoneinfo
from functools import lru_cache
from typing import NamedTuple

from apiserver.api.numbers import parse_int


class _Field(NamedTuple):
    low: int
    high: int
    names: dict[str, int]


def _named(words: str, first: int) -> dict[str, int]:
    return {word: number for number, word in enumerate(words.split(), first)}


_MONTHS = _named("jan feb mar apr may jun jul aug sep oct nov dec", 1)
_DAYS = _named("sun mon tue wed thu fri sat", 0)
_FIELDS = (_Field(0, 59, {}), _Field(0, 23, {}), _Field(1, 31, {}), _Field(1, 12, _MONTHS), _Field(0, 6, _DAYS))
_DESCRIPTORS = ("@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly")
_EVERY = "@every "
_DURATION = re.compile(
    r"[+-]?(\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))*|[+-]?0"
)
_ZONE_PART = re.compile(r"[A-Za-z.\-_0-9+]{1,14}")


def schedule_problem(text: str) -> str | None:
    """What is wrong with a schedule, None for nothing."""
    try:
        _check(text)
    except ValueError as ex:
        return str(ex)
    return None


def _check(text: str) -> None:
    if text.startswith(("TZ=", "CRON_TZ=")):
        zone, _, text = text.partition(" ")
        name = zone.partition("=")[2]
        if not _known(name):
            raise ValueError(f"provided bad location {name}: unknown time zone {name}")
        text = text.strip()
    if text.startswith("@"):
        _check_descriptor(text)
        return
    parts = text.split()
    if len(parts) != len(_FIELDS):
        raise ValueError(f"expected exactly 5 fields, found {len(parts)}: [{' '.join(parts)}]")
    for part, field in zip(parts, _FIELDS, strict=True):
        for expression in filter(None, part.split(",")):
            _check_range(expression, field)


def _check_descriptor(text: str) -> None:
    if text in _DESCRIPTORS:
        return
    if not text.startswith(_EVERY):
        raise ValueError(f"unrecognized descriptor: {text}")
    duration = text.removeprefix(_EVERY)
    if not _DURATION.fullmatch(duration):
        raise ValueError(f'failed to parse duration {text}: time: invalid duration "{duration}"')


def _check_range(expression: str, field: _Field) -> None:
    head, *steps = expression.split("/")
    bounds = head.split("-")
    if bounds[0] in ("*", "?"):
        start, end = field.low, field.high
    else:
        if len(bounds) > 2:
            raise ValueError(f"too many hyphens: {expression}")
        start = _number(bounds[0], field)
        end = _number(bounds[1], field) if len(bounds) == 2 else start
    if len(steps) > 1:
        raise ValueError(f"too many slashes: {expression}")
    step = _integer(steps[0]) if steps else 1
    if steps and len(bounds) == 1:
        end = field.high
    if start < field.low:
        raise ValueError(f"beginning of range ({start}) below minimum ({field.low}): {expression}")
    if end > field.high:
        raise ValueError(f"end of range ({end}) above maximum ({field.high}): {expression}")
    if start > end:
        raise ValueError(f"beginning of range ({start}) beyond end of range ({end}): {expression}")
    if step == 0:
        raise ValueError(f"step of range should be a positive number: {expression}")


def _number(text: str, field: _Field) -> int:
    known = field.names.get(text.lower())
    return known if known is not None else _integer(text)


def _integer(text: str) -> int:
    try:
        number = parse_int(text, function="Atoi")
    except ValueError as error:
        raise ValueError(f"failed to parse int from {text}: {error}") from None
    if number < 0:
        raise ValueError(f"negative number ({number}) not allowed: {text}")
    return number


def zone_problems(name: str) -> list[str]:
    """What is wrong with the name of a time zone."""
    if not name:
        return ["timeZone must be nil or non-empty string"]
    unknown = f"unknown time zone {name}"
    for part in name.split("/"):
        if part in (".", "..") or part.startswith("-") or not _ZONE_PART.fullmatch(part):
            return [unknown]
    problems = []
    if name.lower() == "local":
        problems.append("timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones")
    return problems if name == "Local" or _known(name) else [*problems, unknown]


@lru_cache(maxsize=256)
def _known(name: str) -> bool:
    """Whether there is such a zone; on a machine without a database of them, every name will do."""
    if name in ("", "UTC", "Local"):
        return True
    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return not zoneinfo.available_timezones()
    return True
