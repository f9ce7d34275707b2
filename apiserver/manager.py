"""Order the plugins of one server and call them; refuse to start when anything is in doubt.

:mod:`apiserver.discovery` finds the plugins, :mod:`apiserver.configure` makes one :class:`Plugins` of them, and the
server calls hooks through it: :meth:`Plugins.calls` for what runs with every request, :meth:`Plugins.call_each` and
:meth:`Plugins.collect` while the server is built. Markers and calling conventions are pluggy's, and
``plugins.hook.NAME(...)`` is pluggy's caller; order and checks are ours.
"""

from __future__ import annotations

import functools
import inspect
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import pluggy

from apiserver import ordering
from apiserver.api.suggest import nearest
from apiserver.markers import PROJECT, Order
from apiserver.ordering import Impl, Plugin

HOOK_PREFIX = "apiserver_"
IMPL_MARK = f"{PROJECT}_impl"
"""Where pluggy's marker keeps its options on a function."""


class PluginError(Exception):
    """The installed plugins do not fit together. ``problems`` lists every one, not only the first."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = list(problems)
        count = len(self.problems)
        head = "1 plugin problem" if count == 1 else f"{count} plugin problems"
        super().__init__("\n  ".join([f"{head}, the server did not start:", *self.problems]))


class Call(NamedTuple):
    """An implementation ready to be called: ``func`` takes the hook's parameters by position, all of them."""

    plugin: Plugin
    func: Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Hook:
    """One hook: its name, the parameters it passes, and whether its implementations are ordered."""

    name: str
    parameters: tuple[str, ...]
    ordered: bool
    doc: str


def hooks_of(specs: ModuleType | type) -> dict[str, Hook]:
    """The hooks that ``specs`` declares with ``@hookspec``, by name, in the order of the file."""
    found = {}
    for name, func in vars(specs).items():
        if "ordered" in getattr(func, "__dict__", {}):
            parameters = tuple(p for p in inspect.signature(func).parameters if p != "self")
            found[name] = Hook(name, parameters, func.ordered, inspect.getdoc(func) or "")
    return found


class Plugins:
    """The plugins of one server, in order.

    ``plugins.plugins`` are all of them, ``plugins.order[hook]`` the implementations of a hook, lowest first.
    """

    def __init__(
        self,
        specs: ModuleType | type,
        plugins: Iterable[Plugin],
        priorities: Mapping[str, int] | None = None,
        problems: Iterable[str] = (),
    ) -> None:
        """Order and register ``plugins``.

        :param specs: where the hooks are declared.
        :param priorities: the operator's numbers: "plugin.hook" (the hook with or without ``apiserver_``) to number.
        :param problems: what went wrong before, to be reported together with what goes wrong here.
        :raises PluginError: anything is wrong.
        """
        self._specs = specs
        self.plugins = tuple(plugins)
        self.hooks = hooks_of(specs)
        self.order: dict[str, list[Impl]] = defaultdict(list)
        found = list(problems)
        chosen = self._chosen_priorities(priorities or {}, found)
        for plugin in self.plugins:
            found += self._implementations(plugin, chosen)
        for name, impls in self.order.items():
            found += self._problems(name, impls)
        self.refuse(found)
        for name, impls in self.order.items():
            if self.hooks[name].ordered:
                impls.sort(key=lambda impl: impl.order.priority or 0)
        self._calls = {name: tuple(map(self._adapted, self.order.get(name, ()))) for name in self.hooks}

    @functools.cached_property
    def hook(self) -> Any:
        """pluggy's callers, ``plugins.hook.NAME(argument=...)``: all implementations at once, in the same order.

        Made when first used: the core calls through :meth:`calls`, which costs a third.
        """
        manager = pluggy.PluginManager(PROJECT)
        manager.add_hookspecs(self._specs)
        for impls in self.order.values():
            for impl in reversed(impls):  # pluggy calls the last one registered first
                manager.register(SimpleNamespace(**{impl.hook: naming(impl)}), f"{impl.plugin.name}.{impl.hook}")
        return manager.hook

    @staticmethod
    def refuse(problems: Iterable[str]) -> None:
        """Raise :class:`PluginError` if there are any problems."""
        if problems := list(problems):
            raise PluginError(problems)

    def __contains__(self, name: object) -> bool:
        return any(plugin.name == name for plugin in self.plugins)

    def calls(self, hook: str) -> tuple[Call, ...]:
        """The implementations of ``hook``, in order, made once: for code that runs with every request.

        Each ``func`` takes all parameters of the hook by position, whatever the implementation itself takes, and an
        exception that escapes it names the plugin.
        """
        return self._calls[hook]

    def call_each(self, hook: str, *args: Any) -> Iterator[tuple[Plugin, Any]]:
        """Call ``hook`` one plugin at a time, to know who returned what; those that return None are left out."""
        for plugin, func in self._calls[hook]:
            result = func(*args)
            if result is not None:
                yield plugin, result

    def collect(self, hook: str, *args: Any) -> Iterator[tuple[Plugin, Any]]:
        """Call ``hook``, whose implementations return several things each, and yield each with its plugin."""
        for impl, (plugin, func) in zip(self.order.get(hook, ()), self._calls[hook], strict=True):
            result = func(*args)
            if result is not None:
                # A generator runs here and not above, so that its exceptions have to be named here.
                yield from ((plugin, item) for item in naming(impl, list)(result))

    def _chosen_priorities(self, priorities: Mapping[str, int], problems: list[str]) -> dict[tuple[str, str], int]:
        chosen: dict[tuple[str, str], int] = {}
        names = [plugin.name for plugin in self.plugins]
        for key, number in priorities.items():
            name, _, hook = key.rpartition(".")
            hook = hook if hook.startswith(HOOK_PREFIX) else HOOK_PREFIX + hook
            if name not in names:
                problems.append(f"--plugin-priority {key}: there is no plugin {name!r}{nearest(name, names)}")
            elif hook not in self.hooks:
                problems.append(f"--plugin-priority {key}: there is no hook {hook!r}{nearest(hook, self.hooks)}")
            else:
                chosen[name, hook] = number
        return chosen

    def _implementations(self, plugin: Plugin, chosen: dict[tuple[str, str], int]) -> Iterator[str]:
        """File the implementations of ``plugin`` in ``self.order``; yield what is wrong with the plugin as a whole."""
        count = 0
        for attr, func in _routines(plugin.obj):
            opts, order = getattr(func, IMPL_MARK, None), getattr(func, "order", None)
            if not isinstance(opts, dict) or not isinstance(order, Order):
                if opts is not None or attr.startswith(HOOK_PREFIX):
                    yield f"{attr}: write @hookimpl of apiserver above it in {plugin.name} ({ordering.place_of(func)})"
                    count += 1
                continue
            count += 1
            hook = opts.get("specname") or attr
            if (number := chosen.pop((plugin.name, hook), None)) is not None:
                order = replace(order, priority=number)
            self.order[hook].append(Impl(plugin, hook, getattr(plugin.obj, attr), order))
        if not count:
            yield f"{plugin.name}: implements no hook, from {plugin.origin}"
        for (name, hook), number in chosen.items():
            if name == plugin.name:
                yield f"--plugin-priority {name}.{hook}={number}: {name!r} does not implement {hook}"

    def _problems(self, name: str, impls: list[Impl]) -> Iterator[str]:
        hook = self.hooks.get(name)
        if hook is None:
            yield from (f"{name}: there is no such hook{nearest(name, self.hooks)}, in {impl}" for impl in impls)
            return
        for impl in impls:
            yield from _argument_problems(hook, impl)
        yield from ordering.twice(name, impls)
        if hook.ordered:
            yield from ordering.problems(name, impls)
        else:
            yield from (
                f"{name}: is not ordered, drop priority, after, before and requires in {i}"
                for i in impls
                if i.order != Order()
            )

    def _adapted(self, impl: Impl) -> Call:
        """Make ``impl`` take all parameters of its hook by position."""
        spec, mine = self.hooks[impl.hook].parameters, parameters_of(impl.func)
        if mine == spec:
            return Call(impl.plugin, naming(impl))
        picked = [spec.index(name) for name in mine]
        return Call(impl.plugin, naming(impl, lambda *args: impl.func(*[args[i] for i in picked])))


def _routines(obj: object) -> Iterator[tuple[str, Any]]:
    """Functions and methods of a plugin, by name, as they are written: nothing is called to get at them."""
    if isinstance(obj, ModuleType):
        members = sorted(vars(obj).items())
    else:
        members = [(name, inspect.getattr_static(obj, name)) for name in dir(obj)]
    for name, member in members:
        if name.startswith("__") or isinstance(member, type):
            continue
        func = getattr(member, "__func__", member)  # a static method keeps its marks inside
        if callable(func) and inspect.isroutine(func):
            yield name, func


def parameters_of(func: Callable[..., Any]) -> tuple[str, ...]:
    """The parameters a hook's caller fills: those without a default, ``self`` aside."""
    parameters = inspect.signature(func).parameters.values()
    return tuple(p.name for p in parameters if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD))


def naming(impl: Impl, func: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """Make an exception that escapes ``func`` (default: ``impl``'s own) say which plugin it came from."""
    inner = func or impl.func
    note = f"in plugin {impl.plugin.name!r} ({impl.plugin.origin}), hook {impl.hook}"

    @functools.wraps(impl.func)
    def call(*args: Any) -> Any:
        try:
            return inner(*args)
        except Exception as ex:
            ex.add_note(note)
            raise

    return call


def _argument_problems(hook: Hook, impl: Impl) -> Iterator[str]:
    for name in parameters_of(impl.func):
        if name not in hook.parameters:
            known = ", ".join(hook.parameters) or "nothing"
            yield f"{hook.name}: has no argument {name!r}, it passes {known}{nearest(name, hook.parameters)}, in {impl}"
