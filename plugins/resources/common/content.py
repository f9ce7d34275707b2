"""Limits and rules that ConfigMaps and Secrets have in common."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from apiserver.api.fields import FieldError

MAX_SIZE = 1024 * 1024
"""Bytes that the values of a ConfigMap or Secret may have together. COMPAT: MaxSecretSize."""

FROZEN = "field is immutable when `immutable` is set"


def frozen(obj: dict[str, Any], old: dict[str, Any], fields: Iterable[str]) -> list[FieldError]:
    """Changes of ``immutable`` itself and of ``fields`` of an object that was declared immutable."""
    if not old.get("immutable"):
        return []
    errors = [] if obj.get("immutable") else [FieldError.forbidden("immutable", FROZEN)]
    errors += [FieldError.forbidden(f, FROZEN) for f in fields if (obj.get(f) or {}) != (old.get(f) or {})]
    return errors


def decoded_size(texts: Iterable[str]) -> int:
    """Bytes that base64 ``texts`` stand for, together."""
    return sum(len(text) // 4 * 3 - text.count("=") for text in texts)
