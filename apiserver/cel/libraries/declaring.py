"""How a library declares its functions: used by each file of this package, read by ``apiserver.cel.environment``.

Types are written as CEL's checker writes type parameters in angle brackets: ``list<string>``, ``optional_type<T>``. A
single capital letter is a type parameter. A name with a dot is an opaque type, whose values are made by :func:`opaque`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

VALUE: Final = "value"
"""The key under which a function that returns an optional puts its value: ``{}`` is none."""


class EvaluationError(ValueError):
    """A function cannot answer; the text is what upstream's function says."""


@dataclass(frozen=True, slots=True)
class Overload:
    """One signature of a function. ``member`` functions are called as ``first.name(rest)``."""

    id: str
    parameters: tuple[str, ...]
    result: str
    implementation: Callable[..., Any]
    member: bool = False

    @property
    def optional(self) -> bool:
        """Whether the result is an optional: the implementation returns ``{}`` or ``{VALUE: ...}``."""
        return self.result.startswith("optional_type<")


@dataclass(frozen=True, slots=True)
class Library:
    """Functions by name, and extensions of the runtime that belong to them (name -> version)."""

    name: str
    functions: Mapping[str, tuple[Overload, ...]] = field(default_factory=dict)
    extensions: Mapping[str, int | None] = field(default_factory=dict)


def opaque(kind: str, key: str) -> dict[str, str]:
    """A value of an opaque type: two are equal exactly if their keys are."""
    return {kind: key}


def member(overload_id: str, parameters: tuple[str, ...], result: str, implementation: Callable[..., Any]) -> Overload:
    """A signature that is called on its first parameter."""
    return Overload(overload_id, parameters, result, implementation, member=True)
