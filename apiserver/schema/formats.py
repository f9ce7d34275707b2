"""The formats of strings in schemas that are checked; all others are taken as they are.

Used by :mod:`apiserver.schema.check`, for deciding and for explaining alike.

COMPAT: apiextensions-apiserver/pkg/apiserver/validation/formats.go; kube-openapi/pkg/validation/strfmt
"""

from __future__ import annotations

import base64
import binascii
import functools
import ipaddress
import re
from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from apiserver.api import validation

if TYPE_CHECKING:
    from jsonschema import FormatChecker

_UUID = r"[0-9a-f]{8}-?[0-9a-f]{4}-?%s[0-9a-f]{3}-?%s[0-9a-f]{3}-?[0-9a-f]{12}"
_CHANNEL = r"\s*(?:[01]?\d{1,2}|2[0-4]\d|25[0-5])\s*"
_HOST = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*\.?"
_MAC = r"(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}(?:(?:[:-][0-9a-f]{2}){2})?|(?:[0-9a-f]{4}\.){2,3}[0-9a-f]{4}"
_DATE_TIME = re.compile(
    r"(\d{4}-\d{2}-\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:[Zz]|[+-](\d{2}):(\d{2}))", re.ASCII
)
_DURATION = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h)", re.ASCII)


def _matches(pattern: str, flags: int = 0) -> Callable[[str], bool]:
    compiled = re.compile(pattern, flags | re.ASCII)
    return lambda text: compiled.fullmatch(text) is not None


def _parses(parse: Callable[[str], object]) -> Callable[[str], bool]:
    def check(text: str) -> bool:
        try:
            parse(text)
        except (ValueError, binascii.Error):
            return False
        return True

    return check


def _cidr(text: str) -> object:
    if "/" not in text:
        raise ValueError("no prefix length")
    return ipaddress.ip_interface(text)


def _date(text: str) -> object:
    if len(text) != 10:
        raise ValueError("not of the form YYYY-MM-DD")
    return date.fromisoformat(text)


def _date_time(text: str) -> object:
    found = _DATE_TIME.fullmatch(text)
    if found is None or int(found[2]) > 23 or int(found[3]) > 59 or int(found[4]) > 59:
        raise ValueError("not RFC 3339")
    return datetime.fromisoformat(found[1])


def _duration(text: str) -> object:
    rest = text.lstrip("+-")
    while rest:
        found = _DURATION.match(rest)
        if found is None:
            raise ValueError("not a duration")
        rest = rest[found.end() :]
    if not text:
        raise ValueError("empty")
    return rest


def _uri(text: str) -> object:
    parts = urlsplit(text)
    if not parts.scheme and not text.startswith("/"):
        raise ValueError("neither a scheme nor a path")
    return parts


def _luhn(text: str) -> bool:
    digits = [int(char) for char in re.sub(r"[^0-9]", "", text)]
    if not 13 <= len(digits) <= 16:
        return False
    return sum(d if i % 2 == 0 else sum(divmod(2 * d, 10)) for i, d in enumerate(reversed(digits))) % 10 == 0


def _isbn10(text: str) -> bool:
    digits = re.sub(r"[\s-]", "", text)
    if re.fullmatch(r"\d{9}[\dX]", digits) is None:
        return False
    return sum((i + 1) * (10 if c == "X" else int(c)) for i, c in enumerate(digits)) % 11 == 0


def _isbn13(text: str) -> bool:
    digits = re.sub(r"[\s-]", "", text)
    if re.fullmatch(r"\d{13}", digits) is None:
        return False
    return sum(int(c) * (3 if i % 2 else 1) for i, c in enumerate(digits)) % 10 == 0


KNOWN: Mapping[str, Callable[[str], bool]] = {
    "bsonobjectid": _matches(r"[0-9a-fA-F]{24}"),
    "byte": _parses(lambda text: base64.b64decode(text, validate=True)),
    "cidr": _parses(_cidr),
    "creditcard": _luhn,
    "date": _parses(_date),
    "date-time": _parses(_date_time),
    "datetime": _parses(_date_time),
    "duration": _parses(_duration),
    "email": _matches(r"[^@\s<>]+@[^@\s<>]+"),
    "hexcolor": _matches(r"#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})"),
    "hostname": lambda text: len(text) < 256 and re.fullmatch(_HOST, text) is not None,
    "ipv4": _parses(ipaddress.IPv4Address),
    "ipv6": _parses(ipaddress.IPv6Address),
    "isbn": lambda text: _isbn10(text) or _isbn13(text),
    "isbn10": _isbn10,
    "isbn13": _isbn13,
    "k8s-long-name": lambda text: not validation.dns_subdomain(text),
    "k8s-short-name": lambda text: not validation.dns_label(text),
    "mac": _matches(_MAC, re.IGNORECASE),
    "rgbcolor": _matches(rf"rgb\({_CHANNEL},{_CHANNEL},{_CHANNEL}\)"),
    "ssn": _matches(r"\d{3}[- ]?\d{2}[- ]?\d{4}"),
    "uri": _parses(_uri),
    "uuid": _matches(_UUID % ("[0-9a-f]", "[0-9a-f]"), re.IGNORECASE),
    "uuid3": _matches(_UUID % ("3", "[0-9a-f]"), re.IGNORECASE),
    "uuid4": _matches(_UUID % ("4", "[89ab]"), re.IGNORECASE),
    "uuid5": _matches(_UUID % ("5", "[89ab]"), re.IGNORECASE),
}
"""Whether a text has a format, by the format's name."""


@functools.cache
def checker() -> FormatChecker:
    """The same for the library that explains."""
    from jsonschema import FormatChecker

    made = FormatChecker(formats=())
    for name, check in KNOWN.items():
        made.checks(name)(lambda value, check=check: not isinstance(value, str) or check(value))
    return made
