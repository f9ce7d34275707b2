"""Checks of literals that are made beside the type check: durations, timestamps, expressions, lists of one type.

Called by the environment with each checked tree. COMPAT: cel.ASTValidators in environment/base.go:
ValidateDurationLiterals, ValidateTimestampLiterals, ValidateRegexLiterals, HomogeneousAggregateLiterals
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from apiserver.api import regexp

from . import syntax, times, wording

FOR_STRINGS_AND_LISTS: Final = ("indexOf", "lastIndexOf")
"""Functions that the library has for strings, and that are declared for lists, too."""

_FREE: Final = frozenset({"wrapper", "", "any"})
_MIXES: Final = "format"
"""The function whose arguments may be lists of anything. COMPAT: stringFormatValidator"""


def _bad_duration(text: str) -> bool:
    return times.duration(text) is None


def _bad_timestamp(text: str) -> bool:
    return times.timestamp(text) is None


def _bad_expression(text: str) -> bool:
    return bool(regexp.problem(text))


# overload -> place of the argument that must be right if it is a literal, its check, its name
_ARGUMENTS: Final[dict[str, tuple[int, Callable[[str], bool], str]]] = {
    "string_to_duration": (0, _bad_duration, "duration"),
    "string_to_timestamp": (0, _bad_timestamp, "timestamp"),
    "matches_string": (0, _bad_expression, "matches"),
    "matches": (1, _bad_expression, "matches"),
}


def problems(source: str, tree: Any) -> list[str]:
    """What is wrong, worded and placed as the checker words and places its own."""
    found = []
    exempt: set[int] = set()
    for expr in syntax.walk(tree.expr):
        kind = expr.WhichOneof("kind")
        if expr.id in exempt or (kind == "call_expr" and expr.call_expr.function == _MIXES):
            exempt.update(part.id for part in syntax.children(expr))
        if kind == "call_expr":
            found += _bad_argument(tree, expr) or _bad_element(tree, expr)
        elif expr.id in exempt:
            continue
        elif kind == "list_expr":
            found += _mixed(tree, expr.list_expr.elements, set(expr.list_expr.optional_indices))
        elif kind == "struct_expr" and not expr.struct_expr.message_name:
            entries = expr.struct_expr.entries
            optional = {i for i, entry in enumerate(entries) if entry.optional_entry}
            found += _mixed(tree, [entry.map_key for entry in entries], set())
            found += _mixed(tree, [entry.value for entry in entries], optional)
    return [wording.located(source, tree.source_info.positions.get(place, 0), text) for place, text in found]


def _bad_argument(tree: Any, expr: Any) -> list[tuple[int, str]]:
    for overload in tree.reference_map[expr.id].overload_id if expr.id in tree.reference_map else ():
        if overload not in _ARGUMENTS:
            continue
        index, is_bad, name = _ARGUMENTS[overload]
        arguments = expr.call_expr.args
        if index < len(arguments) and arguments[index].WhichOneof("kind") == "const_expr":
            argument = arguments[index]
            if is_bad(argument.const_expr.string_value):
                return [(argument.id, f"invalid {name} argument")]
    return []


def _bad_element(tree: Any, expr: Any) -> list[tuple[int, str]]:
    """``[1].indexOf("a")``: of functions for strings and lists, the checker does not compare the types for lists."""
    call = expr.call_expr
    if call.function not in FOR_STRINGS_AND_LISTS or not call.HasField("target") or len(call.args) != 1:
        return []
    target, argument = (
        syntax.type_text(tree.type_map[part.id]) if part.id in tree.type_map else "dyn"
        for part in (call.target, call.args[0])
    )
    if not target.startswith("list(") or "dyn" in target + argument or target == f"list({argument})":
        return []
    return [(expr.id, f"found no matching overload for '{call.function}' applied to '{target}.({argument})'")]


def _mixed(tree: Any, parts: Iterable[Any], optional: set[int]) -> list[tuple[int, str]]:
    """COMPAT: homogeneousAggregateLiteralValidator: all of the type of the first."""
    first = ""
    for index, part in enumerate(parts):
        kind = syntax.type_text(tree.type_map[part.id]) if part.id in tree.type_map else ""
        if index in optional:
            kind = kind.removeprefix("optional_type(").removesuffix(")")
        # What is in an empty list is dyn, whatever list it stands in.
        if kind in _FREE or "(dyn" in kind or " dyn)" in kind:
            continue
        if first and kind != first:
            return [(part.id, f"expected type '{first}' but found '{kind}'")]
        first = first or kind
    return []
