"""Named formats: ``!format.dns1123Label().validate(self.name).hasValue()``.

COMPAT: k8s.io/apiserver/pkg/cel/library/format.go
"""

from __future__ import annotations

import base64
import binascii
import datetime
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from apiserver.api import validation

from . import gourl
from .declaring import VALUE, EvaluationError, Library, Overload, member, opaque

FORMAT: Final = "kubernetes.Format"

# COMPAT: strfmt.UUIDPattern, strfmt.DateTimePattern
_UUID: Final = re.compile(r"[a-f0-9]{8}-?[a-f0-9]{4}-?[a-f0-9]{4}-?[a-f0-9]{4}-?[a-f0-9]{12}", re.IGNORECASE)
_DATE_TIME: Final = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(\.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))", re.IGNORECASE)


def _uri(text: str) -> list[str]:
    try:
        gourl.parse_request_uri(text)
    except EvaluationError as wrong:
        return [str(wrong)]
    return []


def _uuid(text: str) -> list[str]:
    return [] if _UUID.fullmatch(text) else ["does not match the UUID format"]


def _byte(text: str) -> list[str]:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return ["invalid base64"]
    return [] if text else ["invalid base64"]


def _is_date(text: str) -> bool:
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        return False
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _date(text: str) -> list[str]:
    return [] if _is_date(text) else ["invalid date"]


def _is_date_time(text: str) -> bool:
    if len(text) < 11 or text[10] not in "Tt" or not _is_date(text[:10]):
        return False
    clock = _DATE_TIME.fullmatch(text[11:])
    return bool(clock) and int(text[11:13]) < 24 and int(text[14:16]) < 60 and int(text[17:19]) < 60


def _date_time(text: str) -> list[str]:
    return [] if _is_date_time(text) else ["invalid datetime"]


FORMATS: Final[Mapping[str, Callable[[str], list[str]]]] = {
    "dns1123Label": validation.dns_label,
    "dns1123Subdomain": validation.dns_subdomain,
    "dns1035Label": validation.dns_1035_label,
    "qualifiedName": validation.qualified_name,
    "dns1123LabelPrefix": partial(validation.dns_label, prefix=True),
    "dns1123SubdomainPrefix": partial(validation.dns_subdomain, prefix=True),
    "dns1035LabelPrefix": partial(validation.dns_1035_label, prefix=True),
    "labelValue": validation.label_value,
    "uri": _uri,
    "uuid": _uuid,
    "byte": _byte,
    "date": _date,
    "datetime": _date_time,
}


def _named(name: str) -> dict[str, Any]:
    return {VALUE: opaque(FORMAT, name)} if name in FORMATS else {}


def _validate(value: Mapping[str, str], text: str) -> dict[str, Any]:
    problems = FORMATS[value[FORMAT]](text)
    return {VALUE: problems} if problems else {}


LIBRARY: Final = Library(
    "kubernetes.format",
    {
        "validate": (member("format-validate", (FORMAT, "string"), "optional_type<list<string>>", _validate),),
        "format.named": (Overload("format-named", ("string",), f"optional_type<{FORMAT}>", _named),),
        **{
            f"format.{name}": (Overload(f"format.{name}", (), FORMAT, partial(opaque, FORMAT, name)),)
            for name in FORMATS
        },
    },
)
