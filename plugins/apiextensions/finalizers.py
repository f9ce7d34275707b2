"""Warnings about names of finalizers that are likely to clash.

Called by :mod:`.strategy`.

COMPAT: customresource validateKubeFinalizerName
"""

from __future__ import annotations

from collections.abc import Iterable

from apiserver.api.fields import go_value
from apiserver.api.validation import qualified_name

_STANDARD = ("orphan", "foregroundDeletion", "kubernetes")
_PATH = "metadata.finalizers"
_PREFER = "prefer a domain-qualified finalizer name{} to avoid accidental conflicts with other finalizer writers"


def finalizer_warnings(added: Iterable[str]) -> list[str]:
    """The warnings for finalizers that have come."""
    return [f"{_PATH}: {go_value(name)}: {text}" for name in sorted(added) for text in _texts(name)]


def _texts(name: str) -> list[str]:
    texts = qualified_name(name)
    if "/" in name or name in _STANDARD:
        return texts
    return [*texts, _PREFER.format(" including a path (/)" if "." in name else "")]
