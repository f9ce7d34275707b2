"""Whether all that is said below ``allOf``, ``anyOf``, ``oneOf`` and ``not`` is about values whose type is known.

Part of :mod:`.structural`.

COMPAT: pkg/apiserver/schema validateStructuralCompleteness
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from apiserver.api.fields import FieldError, Path

Object = Mapping[str, Any]


def completeness_errors(schema: Object, path: Path) -> Iterator[FieldError]:
    """What is missing in a schema. COMPAT: only junctors at its root are looked at"""
    yield from _junctor_errors(schema, schema, path, path)


def _junctor_errors(said: Object, known: Object, at: Path, said_at: Path) -> Iterator[FieldError]:
    """What the junctors of ``said`` say that ``known`` has no type for.

    :param at: where ``known`` stands, ``said_at`` where ``said`` does.
    """
    if said.get("not") is not None:
        yield from _nested_errors(said["not"], known, at, said_at / "not")
    for junctor in ("allOf", "anyOf", "oneOf"):
        for i, inner in enumerate(said.get(junctor) or ()):
            yield from _nested_errors(inner, known, at, said_at / junctor / i)


def _nested_errors(said: Object, known: Object | None, at: Path, said_at: Path) -> Iterator[FieldError]:
    if known is None:
        yield FieldError.required(at, f"because it is defined in {said_at}")
        return
    yield from _junctor_errors(said, known, at, said_at)
    if isinstance(said.get("items"), Mapping):
        items = known.get("items")
        below = items if isinstance(items, Mapping) else None
        yield from _nested_errors(said["items"], below, at / "items", said_at / "items")
    fields = known.get("properties") or {}
    for name, inner in (said.get("properties") or {}).items():
        places = (at / "properties").key(name), (said_at / "properties").key(name)
        yield from _nested_errors(inner, fields.get(name), *places)
