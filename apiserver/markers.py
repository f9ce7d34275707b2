"""The two decorators of the plugin interface: ``@hookspec`` marks a hook, ``@hookimpl`` an implementation of one.

:mod:`apiserver.hookspecs` uses the first, plugins the second (as ``from apiserver import hookimpl``);
:mod:`apiserver.manager` reads what they leave on the functions. Numbers decide the order, names verify it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar, overload

import pluggy

F = TypeVar("F", bound=Callable[..., Any])

PROJECT = "apiserver"
"""The prefix under which pluggy keeps our marks, and the distribution that owns the multiples of 100."""

_mark_spec = pluggy.HookspecMarker(PROJECT)
_mark_impl = pluggy.HookimplMarker(PROJECT)


@dataclass(frozen=True, slots=True)
class Order:
    """Where an implementation stands in its hook, and what it assumes about others.

    ``priority`` alone places it. ``after``, ``before`` and ``requires`` hold plugin names and are only checked.
    """

    priority: int | None = None
    after: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()


def hookspec(*, ordered: bool = False, firstresult: bool = False) -> Callable[[F], F]:
    """Mark a function of :mod:`apiserver.hookspecs` as a hook.

    :param ordered: each implementation must state its priority.
    :param firstresult: stop at the first implementation that returns something.
    """

    def mark(func: F) -> F:
        func.__dict__["ordered"] = ordered
        return _mark_spec(func, firstresult=firstresult)

    return mark


@overload
def hookimpl(func: F, /) -> F: ...
@overload
def hookimpl(
    *,
    priority: int | None = None,
    after: str | Iterable[str] = (),
    before: str | Iterable[str] = (),
    requires: str | Iterable[str] = (),
    specname: str | None = None,
) -> Callable[[F], F]: ...
def hookimpl(
    func: F | None = None,
    /,
    *,
    priority: int | None = None,
    after: str | Iterable[str] = (),
    before: str | Iterable[str] = (),
    requires: str | Iterable[str] = (),
    specname: str | None = None,
) -> F | Callable[[F], F]:
    """Mark a function of a plugin as the implementation of the hook it is named after.

    :param priority: for ordered hooks: the place, lowest first. Multiples of 100 belong to the built-in plugins.
    :param after: plugins that must have a lower number in this hook if they are installed.
    :param before: plugins that must have a higher number in this hook if they are installed.
    :param requires: plugins that must be installed, with a lower number in this hook.
    :param specname: the hook's name, where the function has another one.

    What is wrong with any of these is reported, with everything else that is wrong, when the server starts.
    """
    order = Order(priority, _names(after), _names(before), _names(requires))

    def mark(func: F) -> F:
        func.__dict__["order"] = order
        return _mark_impl(func, specname=specname)

    return mark if func is None else mark(func)


def _names(value: str | Iterable[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)
