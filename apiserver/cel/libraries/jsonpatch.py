"""Paths of JSON patches: ``jsonpatch.escapeKey("a/b")``, for expressions that make patches.

COMPAT: k8s.io/apiserver/pkg/cel/library/jsonpatch.go
"""

from __future__ import annotations

from typing import Final

from .declaring import Library, Overload


def _escape_key(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


LIBRARY: Final = Library(
    "kubernetes.jsonpatch",
    {"jsonpatch.escapeKey": (Overload("string_jsonpatch_escapeKey_string", ("string",), "string", _escape_key),)},
)
