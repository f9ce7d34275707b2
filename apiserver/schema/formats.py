"""The formats and patterns of strings in schemas; formats that are not known are taken as they are.

Used by :mod:`apiserver.schema.check`, which decides, and :mod:`apiserver.schema.explain` alike.

COMPAT: apiextensions-apiserver/pkg/apiserver/validation/formats.go; kube-openapi/pkg/validation/strfmt
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
import re
from collections.abc import Callable, Mapping
from datetime import date, datetime
from urllib.parse import urlsplit

from apiserver.api import regexp, validation

_UUID = r"[0-9a-f]{8}-?[0-9a-f]{4}-?%s[0-9a-f]{3}-?%s[0-9a-f]{3}-?[0-9a-f]{12}"
_CHANNEL = r"\s*(?:[01]?\d{1,2}|2[0-4]\d|25[0-5])\s*"
_MAC = "|".join(
    [rf"[0-9a-f]{{2}}(?:{sep}[0-9a-f]{{2}}){{{n}}}" for sep in ":-" for n in (5, 7, 19)]
    + [rf"[0-9a-f]{{4}}(?:\.[0-9a-f]{{4}}){{{n}}}" for n in (2, 3, 9)]
)
_HOST = (
    r"^([a-zA-Z0-9\pS\pL](-?[a-zA-Z0-9\pS\pL]{0,62})?"
    r"|([a-zA-Z0-9\pS\pL]([a-zA-Z0-9-\pS\pL]{0,61}[a-zA-Z0-9\pS\pL])?\.)+[a-zA-Z\pL]{2,63})$"
)
_DATE_TIME = re.compile(
    r"(\d{4}-\d{2}-\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:[Zz]|[+-](\d{2}):(\d{2}))", re.ASCII
)
_GO_DURATION = re.compile(r"[+-]?(?:0|(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+)")
_AMOUNT = re.compile(r"[0-9]+\s*([A-Za-zµ]+)", re.ASCII)
_UNITS = {"ns", "us", "µs", "ms", "s", "m", "h", "hr", "d", "w", "wk"}
_UNIT_WORDS = ("nano", "micro", "milli", "sec", "min", "hour", "day", "week")
_BAD_ESCAPE = re.compile("%(?![0-9a-fA-F]{2})")


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


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    if "%" in text:
        raise ValueError("zones are not known")
    return ipaddress.ip_address(text)


def _ipv4(text: str) -> object:
    """COMPAT: govalidator.IsIPv4, which takes an IPv4 address in IPv6's form, too"""
    if "." not in text:
        raise ValueError("not an IPv4 address")
    return _address(text)


def _ipv6(text: str) -> object:
    if ":" not in text:
        raise ValueError("not an IPv6 address")
    return _address(text)


def _cidr(text: str) -> object:
    address, _, length = text.partition("/")
    size = _address(address).max_prefixlen
    if not (length.isascii() and length.isdigit() and int(length) <= size and str(int(length)) == length):
        raise ValueError("no prefix length")
    return length


def _date(text: str) -> object:
    if len(text) != 10:
        raise ValueError("not of the form YYYY-MM-DD")
    return date.fromisoformat(text)


def _date_time(text: str) -> object:
    found = _DATE_TIME.fullmatch(text)
    if found is None or int(found[2]) > 23 or int(found[3]) > 59 or int(found[4]) > 59:
        raise ValueError("not RFC 3339")
    return datetime.fromisoformat(found[1])


def _duration(text: str) -> bool:
    """COMPAT: strfmt.ParseDuration: Go's durations, or any amount of a unit, as in ``22 ns`` and ``3 weeks``"""
    if _GO_DURATION.fullmatch(text):
        return True
    units = [unit.lower() for unit in _AMOUNT.findall(text)]
    return any(unit in _UNITS or unit.startswith(_UNIT_WORDS) for unit in units)


def _uri(text: str) -> object:
    """COMPAT: net/url.ParseRequestURI"""
    if any(ord(char) < 0x20 or ord(char) == 0x7F for char in text) or _BAD_ESCAPE.search(text):
        raise ValueError("a character that may not be there")
    parts = urlsplit(text)
    if not parts.scheme and not text.startswith("/"):
        raise ValueError("neither a scheme nor a path")
    if " " in parts.netloc:
        raise ValueError("a blank in the host")
    return parts.port


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
    "byte": _parses(lambda text: base64.b64decode(re.sub(r"[\r\n]", "", text), validate=True)),
    "cidr": _parses(_cidr),
    "creditcard": _luhn,
    "date": _parses(_date),
    "date-time": _parses(_date_time),
    "datetime": _parses(_date_time),
    "duration": _duration,
    "email": _matches(r"(?:[^@<>]*<[^@\s<>]+@[^@\s<>]+>|[^@\s<>]+@[^@\s<>]+)"),
    "hexcolor": _matches(r"#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})"),
    "hostname": lambda text: matches(_HOST, text) and len(text) < 256 and all(len(s) < 64 for s in text.split(".")),
    "ipv4": _parses(_ipv4),
    "ipv6": _parses(_ipv6),
    "isbn": lambda text: _isbn10(text) or _isbn13(text),
    "isbn10": _isbn10,
    "isbn13": _isbn13,
    "k8s-long-name": lambda text: not validation.dns_subdomain(text),
    "k8s-short-name": lambda text: not validation.dns_label(text),
    "mac": _matches(_MAC, re.IGNORECASE),
    "password": lambda _text: True,
    "rgbcolor": _matches(rf"rgb\({_CHANNEL},{_CHANNEL},{_CHANNEL}\)"),
    "ssn": _matches(r"\d{3}[- ]?\d{2}[- ]?\d{4}"),
    "uri": _parses(_uri),
    "uuid": _matches(_UUID % ("[0-9a-f]", "[0-9a-f]"), re.IGNORECASE),
    "uuid3": _matches(_UUID % ("3", "[0-9a-f]"), re.IGNORECASE),
    "uuid4": _matches(_UUID % ("4", "[89ab]"), re.IGNORECASE),
    "uuid5": _matches(_UUID % ("5", "[89ab]"), re.IGNORECASE),
}
"""Whether a text has a format, by the format's name."""


_NORMAL = {name.replace("-", ""): check for name, check in KNOWN.items()}


def known(name: str) -> bool:
    """Whether a format is one that is checked. COMPAT: dashes in its name count for nothing"""
    return name.replace("-", "") in _NORMAL


def fits(name: str, text: str) -> bool:
    """Whether a text has a format that is known."""
    return _NORMAL[name.replace("-", "")](text)


def matches(pattern: str, text: str) -> bool:
    """Whether a pattern is found in a text; in none, when it is no regular expression."""
    try:
        return regexp.compiled(pattern).search(text) is not None
    except regexp.RegexpError:
        return False
