"""Regular expressions as Go knows them, and why a text is none, in Go's words.

Used wherever the API takes patterns: Python's are other ones (lookaheads, backreferences), and may take more than
linear time. The engine is RE2, of which Go's package ``regexp`` is another implementation.

COMPAT: Go regexp.Compile, regexp/syntax ErrorCode
"""

from __future__ import annotations

import functools
import re
from typing import Any, Final

import re2

DEEPEST: Final = 1000
"""How many groups may be in each other. COMPAT: regexp/syntax maxHeight"""
_HEAD: Final = "error parsing regexp: "
_WORDS: Final = {
    "no argument for repetition operator": "missing argument to repetition operator",
    "missing ]": "missing closing ]",
    "missing )": "missing closing )",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid repetition size": "invalid repeat count",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "bad named capture group": "invalid named capture",
    "invalid named capture group": "invalid named capture",
    "trailing \\": "trailing backslash at end of expression",
    "trailing \\ at end of regexp": "trailing backslash at end of expression",
}
_TOKEN: Final = re.compile(r"\\Q.*?(?:\\E|\Z)|\\.|\[\^?\]?(?:\[:\^?\w*:\]|\\.|[^\]\\])*\]|\(\?<[=!].*|.", re.DOTALL)


class RegexpError(ValueError):
    """A text is no regular expression; the message is Go's."""


def go_text(text: str) -> str:
    """RE2's complaint about an expression in Go's words."""
    code, _, argument = text.partition(": ")
    return f"{_HEAD}{_WORDS.get(code, code)}: `{argument}`"


@functools.lru_cache(maxsize=4096)
def compiled(pattern: str) -> Any:
    """The expression, with the methods of those of the module ``re``. :raises RegexpError: it is none."""
    _refuse_what_only_re2_knows(pattern)
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as wrong:
        text = wrong.args[0]
        raise RegexpError(go_text(text.decode() if isinstance(text, bytes) else str(text))) from None


def problem(pattern: str) -> str:
    """Why ``pattern`` is no regular expression; "" when it is one."""
    try:
        compiled(pattern)
    except RegexpError as ex:
        return str(ex)
    return ""


def _refuse_what_only_re2_knows(pattern: str) -> None:
    """:raises RegexpError: RE2 takes it and Go does not, or they call it different things."""
    if len(pattern) <= DEEPEST and r"\C" not in pattern and "(?<" not in pattern:
        return
    depth = 0
    for token in _TOKEN.findall(pattern):
        if token == r"\C":
            raise RegexpError(rf"{_HEAD}invalid escape sequence: `\C`")
        if token.startswith(("(?<=", "(?<!")):
            end = token.find(">") + 1
            raise RegexpError(f"{_HEAD}invalid named capture: `{token[: end or None]}`")
        depth += (token == "(") - (token == ")")
        if depth > DEEPEST:
            raise RegexpError(f"{_HEAD}expression nests too deeply: `{pattern}`")
