"""What comes from CEL itself: strings, sets, optionals, comprehensions with two variables.

COMPAT: k8s.io/apiserver/pkg/cel/environment/base.go, which also says which version of each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from .declaring import EvaluationError, Library, Overload

LIBRARY: Final = Library(
    "standard", extensions={"optional": None, "strings": 2, "sets": None, "two-var-comprehensions": None}
)


def _map_insert(entries: Mapping[Any, Any], key: Any, value: Any) -> dict[Any, Any]:
    if key in entries:
        raise EvaluationError(f"insert failed: key {key} already exists")
    return {**entries, key: value}


def _map_insert_all(entries: Mapping[Any, Any], more: Mapping[Any, Any]) -> dict[Any, Any]:
    result: dict[Any, Any] = dict(entries)
    for key, value in more.items():
        result = _map_insert(result, key, value)
    return result


RUNTIME_ONLY: Final[dict[str, tuple[Overload, ...]]] = {
    "cel.@mapInsert": (
        Overload("@mapInsert_map_key_value", ("map<K,V>", "K", "V"), "map<K,V>", _map_insert),
        Overload("@mapInsert_map_map", ("map<K,V>", "map<K,V>"), "map<K,V>", _map_insert_all),
    ),
}
"""What the checker knows and the library's runtime has not: steps of ``transformMap`` and ``transformMapEntry``."""
