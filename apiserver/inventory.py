"""Plugins, drivers and hook orders as plain data, for people and programs that want to know what a server is made of.

Used by the command ``apiserver plugins``; fit for a debug page.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from apiserver.installed import STORAGE_GROUP, Driver
from apiserver.manager import Plugins
from apiserver.ordering import Plugin, place_of


def plugin_list(plugins: Plugins, drivers: Iterable[Driver] = ()) -> list[dict[str, Any]]:
    """Name, origin and hooks of each plugin, then of each storage driver.

    ``hooks`` maps each hook a plugin implements to its number, None where the hook is not ordered.
    """
    return [
        *(_entry(p, p.group, p.target, _hooks(p, plugins)) for p in plugins.plugins),
        *(_entry(d, STORAGE_GROUP, d.entry_point.value, {}) for d in drivers),
    ]


def hook_order(plugins: Plugins, hook: str) -> list[dict[str, Any]]:
    """The implementations of ``hook``, first to last, with what they are checked against and where they are written.

    :raises KeyError: there is no such hook.
    """
    if hook not in plugins.hooks:
        raise KeyError(hook)
    return [
        {
            "priority": impl.order.priority,
            "plugin": impl.plugin.name,
            "distribution": impl.plugin.distribution,
            "after": list(impl.order.after),
            "before": list(impl.order.before),
            "requires": list(impl.order.requires),
            "place": place_of(impl.func),
        }
        for impl in plugins.order.get(hook, ())
    ]


def _entry(thing: Plugin | Driver, group: str, module: str, hooks: dict[str, int | None]) -> dict[str, Any]:
    return {
        "name": thing.name,
        "distribution": thing.distribution,
        "version": thing.version,
        "group": group,
        "module": module,
        "hooks": hooks,
    }


def _hooks(plugin: Plugin, plugins: Plugins) -> dict[str, int | None]:
    return {hook: i.order.priority for hook, impls in plugins.order.items() for i in impls if i.plugin is plugin}
