"""Rules that are imported when the first object of their kind comes.

Most servers see few of the many kinds: a module that nobody needs costs no time at start. The rules of a kind are in
a module of their own that has ``STRATEGY``, ``COLUMNS`` and, for a kind with a status, ``STATUS``; the declaration
names the module::

    declare(KINDS, {"Job": ruled("batch_v1.jobs", status=True)})

Used by the declarations of groups; :mod:`apiserver.registry` and the handlers see a strategy and columns like others.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from typing import Any, overload

from apiserver.api.encoded import EncodedObject
from apiserver.api.names import GroupVersionKind
from apiserver.api.resource import Column, Subresource
from apiserver.api.rest import Context, Validator, WriteOptions
from apiserver.api.server import Server
from apiserver.api.strategy import Strategy

PACKAGE = "apiserver_plugins.resources"


def load(module: str, name: str) -> Any:
    """``name`` of a module below this plugin kind's package, such as ``batch_v1.jobs``."""
    return getattr(importlib.import_module(f"{PACKAGE}.{module}"), name)


class DeferredStrategy(Strategy):
    """A strategy of a module that is imported when anything of it is asked for."""

    _OWN = frozenset(("_module", "_name", "_load", "selectable_fields"))

    def __init__(self, module: str, name: str) -> None:
        self._module = module
        self._name = name

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("__") or name in DeferredStrategy._OWN:
            return object.__getattribute__(self, name)
        return getattr(self._load(), name)

    def _load(self) -> Strategy:
        found: Strategy = load(self._module, self._name)
        return found

    def selectable_fields(self, obj: dict[str, Any]) -> dict[str, str]:
        """Asked for while the server is built, called for objects only: so it is a method of this class."""
        return self._load().selectable_fields(obj)


class MadeStrategy(DeferredStrategy):
    """A strategy that needs the server: what the function ``name(server)`` of the module returns, called once."""

    _OWN = DeferredStrategy._OWN | {"_server", "_made"}

    def __init__(self, module: str, name: str, server: Server) -> None:
        super().__init__(module, name)
        self._server = server
        self._made: Strategy | None = None

    def __getattribute__(self, name: str) -> Any:
        if name in MadeStrategy._OWN:
            return object.__getattribute__(self, name)
        return super().__getattribute__(name)

    def _load(self) -> Strategy:
        if self._made is None:
            self._made = load(self._module, self._name)(self._server)
        return self._made


class DeferredColumns(Sequence[Column]):
    """The columns of a module that is imported when they are looked at."""

    def __init__(self, module: str, name: str = "COLUMNS") -> None:
        self._module = module
        self._name = name

    def _load(self) -> Sequence[Column]:
        found: Sequence[Column] = load(self._module, self._name)
        return found

    @overload
    def __getitem__(self, index: int) -> Column: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Column]: ...
    def __getitem__(self, index: int | slice) -> Column | Sequence[Column]:
        return self._load()[index]

    def __len__(self) -> int:
        return len(self._load())

    def __iter__(self) -> Iterator[Column]:
        return iter(self._load())


def ruled(
    module: str, *, status: bool = False, columns: bool = True, also: Sequence[Subresource] = (), fields: str = ""
) -> dict[str, Any]:
    """What a declaration says beyond its line when the rules are in ``module``.

    :param status: whether there is a subresource ``status``, with the rules ``STATUS``.
    :param columns: whether the module has ``COLUMNS``; else tables show name and creation time.
    :param also: further subresources.
    :param fields: what field selectors may name, separated by space.
    """
    subresources = [*also]
    if status:
        subresources.append(Subresource("status", DeferredStrategy(module, "STATUS")))
    more: dict[str, Any] = {
        "strategy": DeferredStrategy(module, "STRATEGY"),
        "subresources": tuple(sorted(subresources, key=lambda sub: sub.name)),
        "selectable_fields": tuple(fields.split()),
    }
    if columns:
        more["columns"] = DeferredColumns(module)
    return more


def converting(storage: GroupVersionKind, module: str, from_storage: str, to_storage: str) -> dict[str, Any]:
    """What the declaration of a version says that has another shape than the one that is stored.

    :param from_storage: a function of ``module`` that changes a stored object into this version, in place.
    :param to_storage: the one for the other way.
    """

    def shown(obj: dict[str, Any]) -> None:
        load(module, from_storage)(obj)

    def stored(obj: dict[str, Any]) -> None:
        load(module, to_storage)(obj)

    return {"storage_version": storage, "from_storage": shown, "to_storage": stored}


class DeferredCreater:
    """Storage that can only create, with a function ``(server, ctx, obj) -> object`` of a module imported then.

    The function checks and answers; it stores nothing. Validating admission is asked in between by calling its last
    argument with the checked object.
    """

    def __init__(self, server: Server, module: str, name: str) -> None:
        self._server = server
        self._module = module
        self._name = name

    def create(self, ctx: Context, obj: dict[str, Any], options: WriteOptions, validate: Validator) -> EncodedObject:
        """What the function makes of the object."""
        answer = load(self._module, self._name)
        return EncodedObject.of(answer(self._server, ctx, obj, lambda checked: validate(checked, None)))


def answered(module: str, name: str) -> dict[str, Any]:
    """What a declaration says beyond its line when objects are answered by a function and never stored."""
    return {
        "storage": lambda server, _resource: DeferredCreater(server, module, name),
        "verbs": ("create",),
    }
