"""Checks of single values, worded as upstream words them. Strategies put them together.

COMPAT: k8s.io/apimachinery/pkg/api/validation, pkg/util/validation
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from typing import Any

from apiserver.api.fields import FieldError
from apiserver.api.validation import dns_label, dns_subdomain, qualified_name

IMMUTABLE = "field is immutable"
NOT_NEGATIVE = "must be greater than or equal to 0"
MAX_INT32 = 2**31 - 1

_PORT_NAME = re.compile("[-a-z0-9]+")
_PERCENT = re.compile("[0-9]+%")
_ENV_NAME = re.compile(r"[\x20-\x3c\x3e-\x7e]+")
_HTTP_PATH = re.compile(r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+")
_HTTP_HEADER = re.compile("[-A-Za-z0-9]+")

BETWEEN_PORTS = "must be between 1 and 65535, inclusive"
IP_TEXT = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
PERCENT_TEXT = (
    "a valid percent string must be a numeric string followed by an ending '%' "
    "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"
)


def invalid(path: str, value: Any, texts: Iterable[str]) -> list[FieldError]:
    """One error for each of ``texts``."""
    return [FieldError.invalid(path, value, text) for text in texts]


def nonnegative(path: str, value: int | None) -> list[FieldError]:
    """COMPAT: ValidateNonnegativeField."""
    return [FieldError.invalid(path, value, NOT_NEGATIVE)] if value is not None and value < 0 else []


def positive(path: str, value: int | None) -> list[FieldError]:
    """COMPAT: ValidatePositiveField."""
    return [FieldError.invalid(path, value, "must be greater than 0")] if value is not None and value <= 0 else []


def immutable(path: str, value: Any, old: Any) -> list[FieldError]:
    """COMPAT: ValidateImmutableField. Unset and empty are the same, as in a Go struct."""
    return [] if (value or None) == (old or None) else [FieldError.invalid(path, value, IMMUTABLE)]


def one_of(path: str, value: Any, supported: Iterable[str]) -> list[FieldError]:
    """An enumeration that must be set. ``supported`` as a set is shown sorted, else in its order."""
    if not value:
        return [FieldError.required(path)]
    choices = supported if isinstance(supported, (set, frozenset)) else tuple(supported)
    return [] if value in choices else [FieldError.not_supported(path, value, choices)]


def is_label(path: str, value: str) -> list[FieldError]:
    """COMPAT: ValidateDNS1123Label."""
    return invalid(path, value, dns_label(value))


def is_subdomain(path: str, value: str) -> list[FieldError]:
    """COMPAT: ValidateDNS1123Subdomain."""
    return invalid(path, value, dns_subdomain(value))


def is_qualified(path: str, value: str) -> list[FieldError]:
    """COMPAT: ValidateQualifiedName."""
    return invalid(path, value, qualified_name(value))


def port_number(path: str, value: int | None) -> list[FieldError]:
    """COMPAT: IsValidPortNum."""
    number = value or 0
    return [] if 1 <= number <= 65535 else [FieldError.invalid(path, number, BETWEEN_PORTS)]


def port_name(value: str) -> list[str]:
    """What is wrong with the name of a port. COMPAT: IsValidPortName."""
    problems = ["must be no more than 15 characters"] if len(value) > 15 else []
    if not _PORT_NAME.fullmatch(value):
        problems.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not re.search("[a-z]", value):
        problems.append("must contain at least one letter (a-z)")
    if "--" in value:
        problems.append("must not contain consecutive hyphens")
    if value and (value[0] == "-" or value[-1] == "-"):
        problems.append("must not begin or end with a hyphen")
    return problems


def port_number_or_name(path: str, value: int | str | None) -> list[FieldError]:
    """COMPAT: ValidatePortNumOrName."""
    if isinstance(value, str):
        return invalid(path, value, port_name(value))
    return port_number(path, value)


def env_name(value: str) -> list[str]:
    """COMPAT: IsRelaxedEnvVarName."""
    if not value:
        return ["environment variable name must be at least one character"]
    text = "a valid environment variable name must consist only of printable ASCII characters other than '='"
    return [] if _ENV_NAME.fullmatch(value) else [text]


def http_header_name(value: str) -> list[str]:
    """COMPAT: IsHTTPHeaderName."""
    if _HTTP_HEADER.fullmatch(value):
        return []
    return [
        "a valid HTTP header must consist of alphanumeric characters or '-' "
        "(e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')"
    ]


def parse_ip(value: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """An IP address, None for what is none."""
    try:
        return ipaddress.ip_address(value)
    except ValueError:
        return None


def is_ip(path: str, value: str) -> list[FieldError]:
    """COMPAT: IsValidIP."""
    return [] if parse_ip(value) else [FieldError.invalid(path, value, IP_TEXT)]


def percent(value: int | str | None) -> int | None:
    """The number before the ``%``, None for an integer or another text."""
    return int(value[:-1]) if isinstance(value, str) and _PERCENT.fullmatch(value) else None


def positive_int_or_percent(path: str, value: int | str | None) -> list[FieldError]:
    """COMPAT: ValidatePositiveIntOrPercent."""
    if isinstance(value, str):
        return [] if _PERCENT.fullmatch(value) else [FieldError.invalid(path, value, PERCENT_TEXT)]
    return nonnegative(path, value)


def not_more_than_all(path: str, value: int | str | None) -> list[FieldError]:
    """COMPAT: IsNotMoreThan100Percent."""
    share = percent(value)
    return [] if share is None or share <= 100 else [FieldError.invalid(path, value, "must not be greater than 100%")]


def domain_prefixed_path(path: str, value: str) -> list[FieldError]:
    """A name such as ``acme.io/foo``. COMPAT: IsDomainPrefixedPath."""
    if not value:
        return [FieldError.required(path)]
    domain, _, rest = value.partition("/")
    if not domain or not rest:
        return [FieldError.invalid(path, value, 'must be a domain-prefixed path (such as "acme.io/foo")')]
    errors = invalid(path, domain, dns_subdomain(domain))
    if not _HTTP_PATH.fullmatch(rest):
        errors.append(
            FieldError.invalid(path, rest, f"Invalid path (regex used for validation is '{_HTTP_PATH.pattern}')")
        )
    return errors
