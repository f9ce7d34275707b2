"""Changes that say nothing about an object but who owns it and what its deletion waits for.

Asked by checks of permission that such changes need not pass, so that the garbage collector can do its work.

COMPAT: pkg/registry/rbac IsOnlyMutatingGCFields
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_OF_OWNERSHIP = frozenset(("ownerReferences", "finalizers", "managedFields", "selfLink"))


def only_ownership_differs(new: Mapping[str, Any] | None, old: Mapping[str, Any] | None) -> bool:
    """Whether two states of an object differ in nothing else; False when there is only one."""
    return new is not None and bool(old) and _rest(new) == _rest(old or {})


def _rest(obj: Mapping[str, Any]) -> dict[str, Any]:
    metadata = obj.get("metadata") or {}
    kept = {key: value for key, value in metadata.items() if key not in _OF_OWNERSHIP and value not in (None, {}, [])}
    return {**{key: value for key, value in obj.items() if value not in (None, {}, [])}, "metadata": kept}
