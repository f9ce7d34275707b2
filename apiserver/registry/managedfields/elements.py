"""Path elements of list items: ``k:{"name":"x"}`` and ``v:"x"``, in the exact spelling of kube-apiserver.

Used by the walks over objects, once per list item, so the spellings are remembered.

COMPAT: structured-merge-diff SerializePathElement and listItemToPathElement
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

_MAX_REMEMBERED: Final = 8192
_HTML: Final = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"})


class UnkeyedError(ValueError):
    """A list item has no path element; the message is upstream's."""


def encode(value: Any) -> str:
    """A value inside a path element: JSON as Go writes it, with ``<``, ``>`` and ``&`` escaped."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True).translate(_HTML)


class Keys(dict[Any, str]):
    """Path elements of items of one list type by the values of their key fields, made as they are met.

    :param names: of the key fields, sorted.
    :param defaults: values of key fields that an item may leave out.
    """

    __slots__ = ("defaults", "names")

    def __init__(self, names: Sequence[str], defaults: Mapping[str, Any]) -> None:
        super().__init__()
        self.names = tuple(sorted(names))
        self.defaults = defaults

    def __missing__(self, values: Any) -> str:
        # The values of one list type have one type, so that 1 and True do not meet here.
        if len(self) >= _MAX_REMEMBERED:
            self.clear()
        names = self.names
        keys = {names[0]: values} if len(names) == 1 else dict(zip(names, values, strict=True))
        element = self[values] = f"k:{encode(keys)}"
        return element

    def of(self, items: list[Any]) -> list[str]:
        """The elements of the items.

        :raises UnkeyedError: one is no object, or has no key at all.
        """
        names = self.names
        try:
            if len(names) == 1:
                name = names[0]
                return [self[item[name]] for item in items]
            return [self[tuple([item[name] for name in names])] for item in items]
        except (KeyError, TypeError):
            return [_of_odd(item, names, self.defaults) for item in items]


@lru_cache(maxsize=_MAX_REMEMBERED, typed=True)
def _of_value(value: Any) -> str:
    return f"v:{encode(value)}"


def _of_odd(item: Any, names: Sequence[str], defaults: Mapping[str, Any]) -> str:
    """The element of an item that may leave keys out, have a key that is no scalar, or be no object at all."""
    if not isinstance(item, dict):
        kind = "a null element" if item is None else "non-map elements"
        raise UnkeyedError(f"associative list with keys may not have {kind}")
    found = {name: item[name] if name in item else defaults[name] for name in names if name in item or name in defaults}
    if found:
        return f"k:{encode(found)}"
    # COMPAT: Go's %q of a list of strings
    quoted = " ".join(map(json.dumps, names))
    raise UnkeyedError(
        f"associative list with keys has an element that omits all key fields [{quoted}] "
        "(and doesn't have default values for any key fields)"
    )


def of_value(item: Any) -> str:
    """The element of an item of a set.

    :raises UnkeyedError: an object, a list or null.
    """
    if isinstance(item, str):
        return _of_value(item)
    if item is None:
        raise UnkeyedError("associative list without keys has an element that's an explicit null")
    if isinstance(item, dict):
        raise UnkeyedError("associative list without keys has an element that's a map type")
    if isinstance(item, list):
        raise UnkeyedError("not supported: associative list with lists as elements")
    return _of_value(item)


def of_values(items: list[Any]) -> list[str]:
    """The elements of the items of a set; see :func:`of_value`."""
    return [of_value(item) for item in items]


def normalise(element: str) -> str | None:
    """A path element from a client, spelled our way; None if it is of a kind that nobody knows.

    :raises ValueError: it cannot be read.
    """
    if len(element) < 2:
        raise ValueError("key must be 2 characters long:")
    kind, rest = element[0], element[2:]
    if element[1] != ":":
        raise ValueError(f"missing colon: {element}")
    if kind == "f":
        return element
    if kind == "k":
        keys = json.loads(rest)
        if not isinstance(keys, dict):
            raise ValueError(f"no keys: {element}")
        return f"k:{encode(keys)}"
    if kind == "v":
        return f"v:{encode(json.loads(rest))}"
    return f"i:{int(rest)}" if kind == "i" else None
