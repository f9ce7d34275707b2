"""Text found by regular expressions: ``find`` and ``findAll``.

COMPAT: k8s.io/apiserver/pkg/cel/library/regex.go. Both sides use RE2: no expression takes more than linear time.
"""

from __future__ import annotations

import functools
from typing import Any, Final

import re2

from .declaring import EvaluationError, Library, member

_STRINGS: Final = ("string", "string")

_GO_WORDS: Final = {
    "no argument for repetition operator": "missing argument to repetition operator",
    "missing ]": "missing closing ]",
    "missing )": "missing closing )",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "bad named capture group": "invalid named capture",
    "invalid named capture group": "invalid named capture",
    "trailing \\": "trailing backslash at end of expression",
    "trailing \\ at end of regexp": "trailing backslash at end of expression",
}


def go_error(text: str) -> str:
    """RE2's complaint about an expression in the words of Go's package ``regexp``."""
    code, found, argument = text.partition(": ")
    words = _GO_WORDS.get(code, code)
    return f"error parsing regexp: {words}: `{argument}`" if found else f"error parsing regexp: {words}"


@functools.lru_cache(maxsize=1024)
def compiled(expression: str) -> Any:
    """The expression, compiled.

    :raises EvaluationError: it is none, with Go's text.
    """
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(expression, options)
    except re2.error as wrong:
        text = wrong.args[0]
        raise EvaluationError(go_error(text.decode() if isinstance(text, bytes) else str(text))) from None


def _usable(expression: str) -> Any:
    try:
        return compiled(expression)
    except EvaluationError as wrong:
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
