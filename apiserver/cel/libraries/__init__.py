"""The function libraries of Kubernetes' CEL environment, one file each.

``apiserver.cel.environment`` puts them together; a new one is a module with ``LIBRARY`` and a line in ``LIBRARIES``.
"""

from __future__ import annotations

from typing import Final

from . import authz, cidr, format, ip, jsonpatch, lists, quantity, regex, semver, standard, unordered, url  # noqa: A004
from .declaring import EvaluationError, Library, Overload

LIBRARIES: Final[tuple[Library, ...]] = (
    standard.LIBRARY,
    lists.LIBRARY,
    regex.LIBRARY,
    url.LIBRARY,
    quantity.LIBRARY,
    ip.LIBRARY,
    cidr.LIBRARY,
    format.LIBRARY,
    semver.LIBRARY,
    authz.LIBRARY,
    jsonpatch.LIBRARY,
)

RUNTIME_ONLY: Final = {**standard.RUNTIME_ONLY, **unordered.RUNTIME_ONLY}
"""Functions that only rewritten and expanded expressions call."""

__all__ = ["LIBRARIES", "RUNTIME_ONLY", "EvaluationError", "Library", "Overload"]
