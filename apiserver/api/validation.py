"""Checks of names and label values, worded as upstream words them. Users grep these texts.

COMPAT: k8s.io/apimachinery/pkg/util/validation
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_LABEL_RE = re.compile(_LABEL)
_SUBDOMAIN_RE = re.compile(_SUBDOMAIN)
_DNS1035 = "[a-z]([-a-z0-9]*[a-z0-9])?"
_DNS1035_RE = re.compile(_DNS1035)
_QUALIFIED = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_QUALIFIED_RE = re.compile(_QUALIFIED)
_LABEL_VALUE = f"({_QUALIFIED})?"
_LABEL_VALUE_RE = re.compile(_LABEL_VALUE)
_CONFIG_KEY = "[-._a-zA-Z0-9]+"
_CONFIG_KEY_RE = re.compile(_CONFIG_KEY)


def max_length(limit: int) -> str:
    """COMPAT: MaxLenError."""
    return f"must be no more than {limit} characters"


def max_bytes(limit: int) -> str:
    """COMPAT: content.MaxLenError, for label keys and values."""
    return f"must be no more than {limit} bytes"


def _regex(message: str, pattern: str, *examples: str) -> str:
    """COMPAT: RegexError."""
    text = " or ".join(f"'{e}', " for e in examples)
    return f"{message} (e.g. {text}regex used for validation is '{pattern}')"


_SUBDOMAIN_TEXT = _regex(
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
    "and end with an alphanumeric character",
    _SUBDOMAIN,
    "example.com",
)
_LABEL_TEXT = _regex(
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end "
    "with an alphanumeric character",
    _LABEL,
    "my-name",
    "123-abc",
)
_DNS1035_TEXT = _regex(
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character",
    _DNS1035,
    "my-name",
    "abc-123",
)
_QUALIFIED_TEXT = _regex(
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
    _QUALIFIED,
    "MyName",
    "my.name",
    "123-abc",
)
_LABEL_VALUE_TEXT = _regex(
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start "
    "and end with an alphanumeric character",
    _LABEL_VALUE,
    "MyValue",
    "my_value",
    "12345",
)
_CONFIG_KEY_TEXT = _regex(
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
    _CONFIG_KEY,
    "key.name",
    "KEY_NAME",
    "key-name",
)


def _trimmed(name: str, prefix: bool) -> str:
    # COMPAT: maskTrailingDash: a generateName may end in a dash
    return name[:-2] + "a" if prefix and name.endswith("-") and len(name) > 1 else name


def dns_subdomain(name: str, *, prefix: bool = False) -> list[str]:
    """COMPAT: NameIsDNSSubdomain."""
    name = _trimmed(name, prefix)
    problems = [max_length(253)] if len(name) > 253 else []
    return problems if _SUBDOMAIN_RE.fullmatch(name) else [*problems, _SUBDOMAIN_TEXT]


def dns_label(name: str, *, prefix: bool = False) -> list[str]:
    """COMPAT: NameIsDNSLabel."""
    name = _trimmed(name, prefix)
    problems = [max_length(63)] if len(name) > 63 else []
    if _LABEL_RE.fullmatch(name):
        return problems
    return [*problems, "must not contain dots" if _SUBDOMAIN_RE.fullmatch(name) else _LABEL_TEXT]


def dns_1035_label(name: str, *, prefix: bool = False) -> list[str]:
    """COMPAT: NameIsDNS1035Label (names of Services)."""
    name = _trimmed(name, prefix)
    problems = [max_length(63)] if len(name) > 63 else []
    return problems if _DNS1035_RE.fullmatch(name) else [*problems, _DNS1035_TEXT]


def path_segment(name: str, *, prefix: bool = False) -> list[str]:
    """COMPAT: path.ValidatePathSegmentName (names of RBAC objects)."""
    if not prefix and name in (".", ".."):
        return [f"may not be '{name}'"]
    return [f"may not contain '{c}'" for c in ("/", "%") if c in name]


def qualified_name(name: str) -> list[str]:
    """A label or annotation key. COMPAT: IsQualifiedName."""
    return list(_qualified_name(name))


@functools.lru_cache(maxsize=4096)  # the same few names come again and again
def _qualified_name(name: str) -> Sequence[str]:
    problems: list[str] = []
    parts = name.split("/")
    if len(parts) > 2:
        return [
            f"a valid label key {_QUALIFIED_TEXT} with an optional DNS subdomain prefix and '/' "
            "(e.g. 'example.com/MyName')"
        ]
    if len(parts) == 2:
        prefix, name = parts
        if not prefix:
            problems.append("prefix part must be non-empty")
        else:
            problems += [f"prefix part {p}" for p in dns_subdomain(prefix)]
    if not name:
        problems.append("name part must be non-empty")
    elif len(name.encode()) > 63:
        problems.append(f"name part {max_bytes(63)}")
    if not _QUALIFIED_RE.fullmatch(name):
        problems.append(f"name part {_QUALIFIED_TEXT}")
    return problems


def label_value(value: str) -> list[str]:
    """COMPAT: IsValidLabelValue."""
    problems = [max_bytes(63)] if len(value.encode()) > 63 else []
    return problems if _LABEL_VALUE_RE.fullmatch(value) else [*problems, _LABEL_VALUE_TEXT]


def config_map_key(key: str) -> list[str]:
    """A key of a ConfigMap or Secret. COMPAT: IsConfigMapKey."""
    problems = [max_length(253)] if len(key) > 253 else []
    if not _CONFIG_KEY_RE.fullmatch(key):
        problems.append(_CONFIG_KEY_TEXT)
    elif key == ".":
        problems.append("must not be '.'")
    elif key == "..":
        problems.append("must not be '..'")
    elif key.startswith(".."):
        problems.append("must not start with '..'")
    return problems
