"""Values of query parameters, as Go's conversions read them. The query itself is ``Request.query``."""

from __future__ import annotations

Query = dict[str, list[str]]


def first(query: Query, name: str) -> str:
    """The first value, "" when there is none."""
    values = query.get(name)
    return values[0] if values else ""


def boolean(query: Query, name: str) -> bool | None:
    """A flag: None when absent or empty; false for "false" and "0", true for everything else.

    COMPAT: runtime.Convert_Slice_string_To_bool.
    """
    values = query.get(name)
    if not values:
        return None
    return values[0].lower() not in ("false", "0")
