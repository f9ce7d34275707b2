"""cel-cpp's errors in cel-go's words, which are what kube-apiserver shows.

Called by the environment for every expression that does not compile and for every one that fails at run time.
"""

from __future__ import annotations

import re
from typing import Final

from apiserver.api.regexp import go_text

_STATUS: Final = re.compile(r"^[A-Z_]+: ")
_STATUS_END: Final = re.compile(r" \[[A-Z_]+\]\Z")
_COMPILE_ERROR: Final = re.compile(r"^ERROR: <input>:(\d+):(\d+): ", re.MULTILINE)

_COMPILE_WORDS: Final = (
    (re.compile(r"undefined field '([^']*)' not found in struct '[^']*'"), r"undefined field '\1'"),
    (
        re.compile(r"expression of type '(.*)' cannot be the operand of a select operation"),
        r"type '\1' does not support field selection",
    ),
)

_UNKNOWN_CHAIN: Final = re.compile(r"undeclared reference to '([^'.]+)\.[^']*' \(in container ''\)")
_CHAIN_END: Final = re.compile(r"[A-Za-z_]\w*(?:\s*\.\s*[A-Za-z_]\w*)*\s*\Z")
_NO_MATCH: Final = re.compile(r"found no matching overload for '([^']*)' applied to '(\(.*\))'")

TOO_DEEP: Final = "ERROR: <input>:-1:0: expression recursion limit exceeded: 32"
"""COMPAT: cel-go's text; its limit is 250."""

_NO_OVERLOAD: Final = "no such overload"


def _conversion(kind: str) -> str:
    return f"type conversion error from 'string' to '{kind}'"


# pattern of cel-cpp -> text of cel-go
_RUNTIME_WORDS: Final = tuple(
    (re.compile(pattern, re.DOTALL), text)
    for pattern, text in (
        (r'Key not found in map : "(.*)"', r"no such key: \1"),
        (r"Key not found in map : (.*)", r"no such key: \1"),
        (r"divide by zero", "division by zero"),
        (r"Index error: index=(-?\d+) size=\d+", r"index out of bounds: \1"),
        (r"No matching overloads found.*", _NO_OVERLOAD),
        (r"Applying SELECT to non-message type", _NO_OVERLOAD),
        (r"Invalid container type.*", _NO_OVERLOAD),
        (r"Index error: expected integer type.*", _NO_OVERLOAD),
        (r"(?:double|int64|uint64) out of int64 range", "integer overflow"),
        (r"(?:double|int64) out of uint64 range", "unsigned integer overflow"),
        (r"String to Duration conversion failed.*", _conversion("google.protobuf.Duration")),
        (r"String to Timestamp conversion failed.*", _conversion("google.protobuf.Timestamp")),
        (r"cannot convert string to (\w+)", r"type conversion error from 'string' to '\1'"),
        (r"Type conversion error from '(\w+)' to '(\w+)'", r"type conversion error from '\1' to '\2'"),
        (r"malformed UTF-8 bytes", "invalid UTF-8 in bytes, cannot convert to string"),
        (r"duplicate key in map", "Failed with repeated key"),
    )
)
_REGEX: Final = "invalid regular expression: "


def compile_error(text: str, source: str) -> str:
    """All that is wrong with an expression, in the order of the places."""
    body = _STATUS_END.sub("", _STATUS.sub("", text))
    if "recursion" in body and "<input>:1:" not in body:
        return TOO_DEEP
    starts = [(match.start(), int(match[1]), int(match[2])) for match in _COMPILE_ERROR.finditer(body)]
    if not starts:
        return body
    ends = [start for start, _, _ in starts[1:]] + [len(body)]
    lines = source.split("\n")
    problems = [
        _root_of_unknown(lines, line, column, body[start:end].rstrip("\n"))
        for (start, line, column), end in zip(starts, ends, strict=True)
        # What follows from an error is no error of its own.
        if "*error*" not in body[start:end]
    ]
    problems.sort(key=lambda problem: problem[:2])
    return "\n".join(_reworded(problem, lines[line - 1][:column]) for line, column, problem in problems)


def _root_of_unknown(lines: list[str], line: int, column: int, problem: str) -> tuple[int, int, str]:
    """Of a chain of names that is not known, cel-go names the first, where it stands; cel-cpp all of it, at its end."""
    unknown = _UNKNOWN_CHAIN.search(problem)
    chain = _CHAIN_END.search(lines[line - 1][: column - 1]) if unknown else None
    if unknown is None or chain is None:
        return line, column, problem
    offset = sum(len(before) + 1 for before in lines[: line - 1]) + chain.start()
    message = f"undeclared reference to '{unknown[1]}' (in container '')"
    return line, chain.start() + 1, located("\n".join(lines), offset, message)


def _reworded(problem: str, before: str) -> str:
    for pattern, text in _COMPILE_WORDS:
        problem = pattern.sub(text, problem)
    match = _NO_MATCH.search(problem)
    if match and re.search(rf"\.\s*{re.escape(match[1])}\(\Z", before):
        # cel-go shows a call on a value as one: list(int).(string)
        receiver, arguments = _first_type(match[2])
        return f"{problem[: match.start(2)]}{receiver}.({arguments}){problem[match.end(2) :]}"
    return problem


def _first_type(listed: str) -> tuple[str, str]:
    """``(list(int), string)`` -> ``("list(int)", "string")``."""
    inner, depth = listed[1:-1], 0
    for place, char in enumerate(inner):
        depth += (char in "(<") - (char in ")>")
        if char == "," and depth == 0:
            return inner[:place], inner[place + 1 :].lstrip()
    return inner, ""


def located(source: str, offset: int, message: str) -> str:
    """An error at a place of the source, as the checker shows its own. COMPAT: common.Error.ToDisplayString"""
    before = source[:offset]
    line = before.count("\n") + 1
    column = offset - (before.rfind("\n") + 1)
    shown = source.split("\n")[line - 1]
    return f"ERROR: <input>:{line}:{column + 1}: {message}\n | {shown}\n | {'.' * column}^"


def runtime_error(text: str) -> str:
    """Why an expression could not be evaluated."""
    body = _STATUS_END.sub("", _STATUS.sub("", text))
    if body.startswith(_REGEX):
        return go_text(body.removeprefix(_REGEX))
    for pattern, words in _RUNTIME_WORDS:
        match = pattern.fullmatch(body)
        if match:
            return match.expand(words)
    return body
