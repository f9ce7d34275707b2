"""JSONPath as printer columns and selectable fields use it.

A path is parsed once, when its definition is served; a value is looked up per object. What it knows: fields (``.a``,
``['a']``), items (``[0]``, ``[-1]``, ``[*]``, ``[0,2]``, ``[1:3]``), ``.*``, ``..a``, and filters that compare a field
with a constant or ask whether it is there (``[?(@.type=="Ready")]``).

COMPAT: k8s.io/client-go/util/jsonpath, with AllowMissingKeys
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

Step = Callable[[Any], Iterator[Any]]

_TOKEN = re.compile(
    r"""\.\.(?P<deep>[^.\[\]()'"\s]+)
    |\.(?P<all>\*)
    |\.(?P<field>(?:\\.|[^.\[\]()'"\s])+)
    |\[\?\((?P<filter>.*?)\)\]
    |\[(?P<quoted>'(?:\\.|[^'])*'|"(?:\\.|[^"])*")\]
    |\[(?P<items>[^\]'"]*)\]
    |(?P<dot>\.)$""",
    re.VERBOSE,
)
_FILTER = re.compile(
    r"\s*@(?P<path>(?:\.[^.\[\]()'\"\s=!<>]+|\[[^\]]*\])*)\s*(?:(?P<op>==|!=|<=|>=|<|>)\s*(?P<value>.+?)\s*)?"
)
_COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def parse(path: str) -> Callable[[Any], list[Any]]:
    """A function that finds the values at ``path`` in an object.

    :raises ValueError: the path can't be read.
    """
    steps = list(_steps(path))

    def find(obj: Any) -> list[Any]:
        found = [obj]
        for step in steps:
            found = [value for one in found for value in step(one)]
        return found

    return find


def _steps(path: str) -> Iterator[Step]:
    place = 0
    while place < len(path):
        token = _TOKEN.match(path, place)
        if token is None:
            raise ValueError(f"unrecognized character in action: {path[place:]!r}")
        place = token.end()
        kind, text = token.lastgroup or "", token[token.lastgroup or 0]
        if kind != "dot":
            yield _MAKERS[kind](text)


def _field(name: str) -> Step:
    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, dict) and name in value:
            yield value[name]

    return step


def _every(_text: str) -> Step:
    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, (dict, list)):
            yield from value.values() if isinstance(value, dict) else value

    return step


def _deep(name: str) -> Step:
    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, dict) and name in value:
            yield value[name]
        if isinstance(value, (dict, list)):
            for inner in value.values() if isinstance(value, dict) else value:
                yield from step(inner)

    return step


def _items(text: str) -> Step:
    if text.strip() == "*":
        return _every(text)
    chosen = [_chosen(part) for part in text.split(",")]

    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, list):
            for one in chosen:
                yield from one(value)

    return step


def _chosen(text: str) -> Callable[[Sequence[Any]], Iterable[Any]]:
    if ":" in text:
        numbers = [int(part) if part.strip() else None for part in text.split(":")]
        return lambda value: value[slice(*numbers)]
    index = int(text)
    return lambda value: value[index : index + 1 or None]


def _filter(text: str) -> Step:
    parts = _FILTER.fullmatch(text)
    if parts is None:
        raise ValueError(f"unrecognized filter: {text!r}")
    find = parse(parts["path"])
    if parts["op"] is None:
        return _keeping(lambda item: bool(find(item)))
    compare, wanted = _COMPARE[parts["op"]], _constant(parts["value"])

    def holds(item: Any) -> bool:
        found = find(item)
        try:
            return bool(found) and compare(found[0], wanted)
        except TypeError:
            return False

    return _keeping(holds)


def _keeping(holds: Callable[[Any], bool]) -> Step:
    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, (dict, list)):
            yield from filter(holds, value.values() if isinstance(value, dict) else value)

    return step


def _constant(text: str) -> Any:
    if text[0] in "'\"":
        return _unquoted(text)
    if text in ("true", "false"):
        return text == "true"
    return float(text) if "." in text else int(text)


def _unquoted(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1])


_MAKERS: Mapping[str, Callable[[str], Step]] = {
    "deep": _deep,
    "all": _every,
    "field": lambda text: _field(re.sub(r"\\(.)", r"\1", text)),
    "filter": _filter,
    "quoted": lambda text: _field(_unquoted(text)),
    "items": _items,
}
