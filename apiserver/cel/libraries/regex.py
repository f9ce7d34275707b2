"""Text found by regular expressions: ``find`` and ``findAll``.

COMPAT: k8s.io/apiserver/pkg/cel/library/regex.go. Both sides use RE2: no expression takes more than linear time.
"""

from __future__ import annotations

from typing import Any, Final

from apiserver.api import regexp

from .declaring import EvaluationError, Library, member

_STRINGS: Final = ("string", "string")


def _usable(expression: str) -> Any:
    try:
        return regexp.compiled(expression)
    except regexp.RegexpError as wrong:
        raise EvaluationError(f"Illegal regex: {wrong}") from None


def _find(text: str, expression: str) -> str:
    match = _usable(expression).search(text)
    return match.group(0) if match else ""


def _find_all(text: str, expression: str, limit: int = -1) -> list[str]:
    found: list[str] = []
    for match in _usable(expression).finditer(text):
        if 0 <= limit <= len(found):
            break
        found.append(match.group(0))
    return found


LIBRARY: Final = Library(
    "kubernetes.regex",
    {
        "find": (member("string_find_string", _STRINGS, "string", _find),),
        "findAll": (
            member("string_find_all_string", _STRINGS, "list<string>", _find_all),
            member("string_find_all_string_int", (*_STRINGS, "int"), "list<string>", _find_all),
        ),
    },
)
