"""Times in JSON: RFC 3339 text checked and rewritten as Go's ``time.Parse`` and ``metav1.Time`` do.

Called by decoding. Texts of refusals are Go's: ``parsing time "soon" as "2006-...": cannot parse "soon" as "2006"``.

COMPAT: Go time.Parse, k8s.io/apimachinery metav1.Time, metav1.MicroTime
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache

from apiserver.schema.gotext import quote

SECONDS = "2006-01-02T15:04:05Z07:00"
MICROS = "2006-01-02T15:04:05.000000Z07:00"

_RANGES = {"01": ("month", 1, 12), "15": ("hour", 0, 23), "04": ("minute", 0, 59), "05": ("second", 0, 59)}
_PLAIN = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d")


class TimeError(ValueError):
    """The text is no time; the message is Go's."""


class _Scan:
    """What :func:`_parse` has read so far."""

    __slots__ = ("layout", "nanos", "number", "offset", "rest", "text")

    def __init__(self, text: str, layout: str) -> None:
        self.text = text
        self.layout = layout
        self.rest = text
        self.number: dict[str, int] = {}
        self.nanos = 0
        self.offset = 0

    def bad(self, element: str) -> TimeError:
        return TimeError(
            f"parsing time {quote(self.text)} as {quote(self.layout)}: "
            f"cannot parse {quote(self.rest)} as {quote(element)}"
        )

    def wrong(self, what: str) -> TimeError:
        return TimeError(f"parsing time {quote(self.text)}: {what}")


def _digits(scan: _Scan, element: str, least: int, most: int) -> int:
    match = re.match(rf"[0-9]{{{least},{most}}}", scan.rest)
    if match is None:
        raise scan.bad(element)
    scan.rest = scan.rest[match.end() :]
    return int(match[0])


def _read_number(scan: _Scan, element: str) -> None:
    if element == "2006":
        scan.number[element] = _digits(scan, element, 4, 4)
        return
    value = _digits(scan, element, 1 if element == "15" else 2, 2)
    if element in _RANGES:
        name, low, high = _RANGES[element]
        if not low <= value <= high:
            raise scan.wrong(f"{name} out of range")
    scan.number[element] = value
    # COMPAT: a fraction that the layout does not name is accepted after the seconds
    if element == "05" and ".000000" not in scan.layout:
        match = re.match(r"[.,]\d+", scan.rest)
        if match:
            scan.rest = scan.rest[match.end() :]


def _read_micros(scan: _Scan, element: str) -> None:
    if not re.match(r"[.,][0-9]{6}", scan.rest):
        raise scan.bad(element)
    scan.nanos = int(scan.rest[1:7]) * 1000
    scan.rest = scan.rest[7:]


def _read_zone(scan: _Scan, element: str) -> None:
    if scan.rest.startswith("Z"):
        scan.rest = scan.rest[1:]
        return
    match = re.match(r"([+-])(\d\d):(\d\d)", scan.rest)
    if match is None:
        raise scan.bad(element)
    hours, minutes = int(match[2]), int(match[3])
    if hours > 24:
        raise scan.wrong("time zone offset hour out of range")
    if minutes > 60:
        raise scan.wrong("time zone offset minute out of range")
    scan.offset = (hours * 60 + minutes) * (-1 if match[1] == "-" else 1)
    scan.rest = scan.rest[match.end() :]


def _parse(text: str, layout: str) -> datetime:
    scan = _Scan(text, layout)
    for element in re.findall(r"2006|01|02|15|04|05|\.000000|Z07:00|[-T:]", layout):
        if element in "-T:":
            if not scan.rest.startswith(element):
                raise scan.bad(element)
            scan.rest = scan.rest[1:]
        elif element == ".000000":
            _read_micros(scan, element)
        elif element == "Z07:00":
            _read_zone(scan, element)
        else:
            _read_number(scan, element)
    if scan.rest:
        raise scan.wrong(f"extra text: {quote(scan.rest)}")
    year, month, day = (scan.number[element] for element in ("2006", "01", "02"))
    try:
        return datetime(
            max(year, 1),
            month,
            day,
            scan.number["15"],
            scan.number["04"],
            scan.number["05"],
            scan.nanos // 1000,
            tzinfo=timezone(timedelta(minutes=max(-1439, min(1439, scan.offset)))),
        ).astimezone(UTC)
    except ValueError:
        raise scan.wrong("day out of range") from None
    except OverflowError:
        raise scan.wrong("year out of range") from None


@lru_cache(maxsize=1024)
def canonical(text: str) -> str:
    """``metav1.Time``: the same moment in UTC with whole seconds.

    :raises TimeError: it is no RFC 3339 time.
    """
    if len(text) == 20 and text[19] == "Z" and _PLAIN.match(text):
        return text
    moment = _parse(text, SECONDS)
    return f"{moment.year:04}-{moment:%m-%dT%H:%M:%S}Z"


@lru_cache(maxsize=1024)
def canonical_micro(text: str) -> str:
    """``metav1.MicroTime``: the same moment in UTC with six decimals; a time without six decimals is refused.

    :raises TimeError: it is not such a time.
    """
    moment = _parse(text, MICROS)
    return f"{moment.year:04}-{moment:%m-%dT%H:%M:%S}.{moment.microsecond:06}Z"
