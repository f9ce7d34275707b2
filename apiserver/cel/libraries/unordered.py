"""What rewritten expressions call to compare and merge lists of type set and map. Nobody can write these names.

Called by the runtime; ``apiserver.cel.unordered`` puts the calls into expressions and says what a shape is.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from .declaring import Overload

Shape = Mapping[str, Any]


@functools.lru_cache(maxsize=1024)
def _shape(text: str) -> Shape:
    shape: Shape = json.loads(text)
    return shape


def _key(shape: Shape) -> Callable[[Any], Any]:
    if "set" in shape:
        return repr
    keys = shape["keys"]
    return lambda item: repr([item.get(key) for key in keys] if isinstance(item, dict) else item)


def _ordered(value: Any, shape: Shape | None) -> Any:
    """The value with its unordered lists in an order that depends on nothing but their items."""
    if shape is None or value is None:
        return value
    if "fields" in shape and isinstance(value, dict):
        return value | {name: _ordered(value[name], part) for name, part in shape["fields"].items() if name in value}
    if "map" in shape and isinstance(value, dict):
        return {key: _ordered(item, shape["map"]) for key, item in value.items()}
    if isinstance(value, list):
        inner = shape.get("element") or shape.get("list")
        items = [_ordered(item, inner) for item in value]
        return items if "list" in shape else sorted(items, key=_key(shape))
    return value


def _canonical(value: Any, text: str) -> Any:
    return _ordered(value, _shape(text))


def _merged(left: Any, right: Any, text: str) -> list[Any]:
    """Both lists; what the second has, too, takes the place it has in the first."""
    shape = _shape(text)
    key = _key(shape)
    newer = {key(item): item for item in right}
    result = [newer.pop(key(item), item) for item in left]
    return result + list(newer.values())


RUNTIME_ONLY: Final[dict[str, tuple[Overload, ...]]] = {
    "@canonical": (Overload("@canonical", ("dyn", "string"), "dyn", _canonical),),
    "@merged": (Overload("@merged", ("list<dyn>", "list<dyn>", "string"), "list<dyn>", _merged),),
}
