"""Named checks behind ``/livez``, ``/readyz`` and ``/healthz``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """One check. ``check`` returns when well and raises (any exception; its text goes to the log) when not.

    ``endpoints``: which of ``livez``, ``readyz``, ``healthz`` include it.
    """

    name: str
    check: Callable[[], None]
    endpoints: frozenset[str] = frozenset(("livez", "readyz", "healthz"))
