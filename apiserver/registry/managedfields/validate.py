"""Whether an apply configuration fits its type, in the words of the library that kube-apiserver asks.

Called by :mod:`apiserver.registry.managedfields.apply`. Stricter than decoding a body: unknown fields and duplicate
list items are errors, and so are scalars of another kind.

COMPAT: structured-merge-diff typed.TypedValue.Validate
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from apiserver.registry.managedfields import elements, shapes
from apiserver.registry.managedfields.fieldset import element_text
from apiserver.schema import types
from apiserver.schema.gotext import quote

Path = Any
"""None at the top, or a pair (path of the parent, step); a step is a path element or a list index."""

Problem = tuple[Path, str]
"""Path and message."""


def explain(value: Any, node: types.Node) -> str:
    """What is wrong with a configuration, "" for nothing."""
    problems = [f"{_text_of(path)}: {message}" if path else message for path, message in _check(value, node, None)]
    if len(problems) == 1:
        return problems[0]
    return "\n".join(["errors:", *(f"  {problem}" for problem in problems)]) if problems else ""


def _text_of(path: Path) -> str:
    text = ""
    while path:
        path, step = path
        text = (f"[{step}]" if isinstance(step, int) else element_text(step)) + text
    return text


def _check(value: Any, node: types.Node, path: Path) -> list[Problem]:
    if value is None:
        return []
    if isinstance(node, types.Struct | types.Map):
        if not isinstance(value, dict):
            return [(path, f"expected map, got {_printed(value)}")]
        return _check_map(value, node, path)
    if isinstance(node, types.List):
        if not isinstance(value, list):
            return [(path, f"expected list, got {_printed(value)}")]
        return _check_list(value, node, path)
    check = _SCALARS.get(type(node))
    message = check(value) if check else ""
    return [(path, message)] if message else []


def _check_map(value: dict[str, Any], node: types.Struct | types.Map, path: Path) -> list[Problem]:
    fields: Mapping[str, types.Field] = node.fields if isinstance(node, types.Struct) else {}
    problems: list[Problem] = []
    for name in sorted(value):
        field = fields.get(name)
        if field is not None:
            item = value[name]
            if type(item) is not _USUAL.get(type(field.node)):
                problems += _check(item, field.node, (path, f"f:{name}"))
        elif isinstance(node, types.Map):
            problems += _check(value[name], node.value, (path, f"f:{name}"))
        elif fields and not node.preserve_unknown:
            # COMPAT: the first undeclared field ends the walk over this map
            return [*problems, ((path, f"f:{name}"), "field not declared in schema")]
    return problems


def _check_list(value: list[Any], node: types.List, path: Path) -> list[Problem]:
    shape = shapes.of(node)
    problems: list[Problem] = []
    seen: set[str] = set()
    for i, item in enumerate(value):
        step: str | int = i
        if isinstance(shape, shapes.Keyed | shapes.Values):
            try:
                (step,) = shape.labels([item])
            except elements.UnkeyedError as error:
                return [*problems, (path, f"element {i}: {error}")]
            if step in seen:
                problems.append((path, f"duplicate entries for key {element_text(step)}"))
            seen.add(step)
        problems += _check(item, node.item, (path, step))
    return problems


def _printed(value: Any) -> str:
    """A value behind Go's interface, printed by ``%v``."""
    return f"&{{{_print(value)}}}"


def _print(value: Any) -> str:
    if isinstance(value, dict):
        return f"map[{' '.join(f'{name}:{_print(value[name])}' for name in sorted(value))}]"
    if isinstance(value, list):
        return f"[{' '.join(map(_print, value))}]"
    if value is None:
        return "<nil>"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _sharp(value: Any) -> str:
    """A value as Go's ``%#v`` prints it."""
    if isinstance(value, dict):
        members = ", ".join(f"{quote(name)}:{_sharp(value[name])}" for name in sorted(value))
        return f"map[string]interface {{}}{{{members}}}"
    if isinstance(value, list):
        return f"[]interface {{}}{{{', '.join(map(_sharp, value))}}}"
    if isinstance(value, str):
        return quote(value)
    return "interface {}(nil)" if value is None else _print(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_GO_TYPES = ((bool, "bool"), (str, "string"), (list, "[]interface {}"), (dict, "map[string]interface {}"))


def _number(value: Any) -> str:
    if _is_number(value):
        return ""
    return f"expected numeric (int or float), got {next(name for kind, name in _GO_TYPES if isinstance(value, kind))}"


def _text(value: Any) -> str:
    if isinstance(value, str):
        return ""
    return f"expected string, got &value.valueUnstructured{{Value:{_sharp(value)}}}"


def _boolean(value: Any) -> str:
    return "" if isinstance(value, bool) else f"expected boolean, got {_printed(value)}"


def _scalar(value: Any) -> str:
    return f"expected any scalar, got {_printed(value)}" if isinstance(value, dict | list) else ""


_USUAL: Mapping[type, type] = {types.String: str, types.Integer: int, types.Boolean: bool, types.Time: str}
"""The Python type of values that need no further look."""

_SCALARS: Mapping[type, Callable[[Any], str]] = {
    types.String: _text,
    types.Bytes: _text,
    types.Duration: _text,
    types.Integer: _number,
    types.Number: _number,
    types.Boolean: _boolean,
    types.Time: _scalar,
    types.Quantity: _scalar,
    types.IntOrString: _scalar,
}
