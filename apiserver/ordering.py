"""What makes the order of a hook's implementations missing, ambiguous or wrong.

:mod:`apiserver.manager` asks, and refuses to start if there is any answer. Numbers alone decide the order;
``after``, ``before`` and ``requires`` only verify it.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from apiserver.api.suggest import nearest
from apiserver.markers import PROJECT, Order

RESERVED = 100
"""Multiples of this number belong to the built-in plugins, so that there is room for others between any two."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """One loaded plugin and where it came from.

    ``distribution`` and ``version`` are those of the installed package, ``target`` the module its entry point names,
    ``group`` the entry point group.
    """

    name: str
    obj: object
    distribution: str = ""
    version: str = ""
    target: str = ""
    group: str = ""

    @property
    def origin(self) -> str:
        """Where to look for it, for messages: distribution, version and module."""
        return ", ".join(filter(None, (f"{self.distribution} {self.version}".strip(), self.target))) or "unknown origin"

    @property
    def builtin(self) -> bool:
        """Whether it belongs to this project."""
        return self.distribution == PROJECT


@dataclass(frozen=True, slots=True)
class Impl:
    """One hook implementation of one plugin."""

    plugin: Plugin
    hook: str
    func: Callable[..., Any]
    order: Order

    def __str__(self) -> str:
        return f"{self.plugin.name} ({place_of(self.func)})"


def place_of(func: Any) -> str:
    """File and line of a function, for messages."""
    code = getattr(inspect.unwrap(getattr(func, "__func__", func)), "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code else repr(func)


def twice(hook: str, impls: Sequence[Impl]) -> Iterator[str]:
    """A plugin may implement a hook once: names verify the order, so that a name must mean one place."""
    seen: set[str] = set()
    for impl in impls:
        if impl.plugin.name in seen:
            yield f"{hook}: is implemented twice by one plugin, split it: {impl}"
        seen.add(impl.plugin.name)


def problems(hook: str, impls: Sequence[Impl]) -> Iterator[str]:
    """Everything that is wrong with the numbers of one ordered hook, one sentence each."""
    placed = sorted((i for i in impls if _is_number(i.order.priority)), key=_number)
    for impl in impls:
        if impl.order.priority is None:
            yield f"{hook}: write @hookimpl(priority=N) in {impl}"
        elif not _is_number(impl.order.priority):
            yield f"{hook}: priority {impl.order.priority!r} is not a whole number above 0 in {impl}"
    place = {impl.plugin.name: _number(impl) for impl in placed}
    for impl in placed:
        if _number(impl) % RESERVED == 0 and not impl.plugin.builtin:
            yield (
                f"{hook}: multiples of {RESERVED} belong to the built-in plugins, {impl} has {_number(impl)}; "
                f"{_free(impl, place)} is free"
            )
    for one, two in pairwise(placed):
        if _number(one) == _number(two):
            mover = one if two.plugin.builtin else two
            yield (
                f"{hook}: priority {_number(one)} is taken twice, by {one} and by {two}; "
                f"{_free(mover, place)} is free for {mover.plugin.name!r}"
            )
    for impl in placed:
        yield from _contradictions(hook, impl, place)


def _contradictions(hook: str, impl: Impl, place: dict[str, int]) -> Iterator[str]:
    mine, order = _number(impl), impl.order
    for name in order.requires:
        if name not in place:
            yield f"{hook}: {impl} requires {name!r}, which is not installed or is disabled{nearest(name, place)}"
    for name in dict.fromkeys((*order.after, *order.requires)):
        if name in place and place[name] >= mine:
            yield f"{hook}: {impl} has {mine} but must run after {name!r}, which has {place[name]}"
    for name in order.before:
        if name in place and place[name] <= mine:
            yield f"{hook}: {impl} has {mine} but must run before {name!r}, which has {place[name]}"


def _free(impl: Impl, place: dict[str, int]) -> int:
    """The number nearest to the one ``impl`` has that nobody has, that it may have and that contradicts nothing."""
    taken, mine, order = set(place.values()), _number(impl), impl.order
    low = max((place[n] for n in (*order.after, *order.requires) if n in place), default=0)
    high = min((place[n] for n in order.before if n in place), default=math.inf)
    allowed = [
        number
        for number in range(1, max(taken) + RESERVED)
        if number not in taken and (impl.plugin.builtin or number % RESERVED != 0)
    ]
    fitting = [number for number in allowed if low < number < high]
    return min(fitting or allowed, key=lambda number: (abs(number - mine), -number))


def _number(impl: Impl) -> int:
    return impl.order.priority or 0


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
