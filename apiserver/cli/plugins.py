"""List the plugins of this server, or all that is wrong with them.

Takes the flags of `apiserver serve` that choose plugins: --disable-plugins, --plugin-priority,
--enable-admission-plugins, --disable-admission-plugins, --config. Exit status 2 when the plugins do not fit together.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import Any

from apiserver import configure, flags
from apiserver.api.settings import ConfigError
from apiserver.api.suggest import nearest
from apiserver.cli._options import Parser, table
from apiserver.installed import DriverError, Installed
from apiserver.inventory import hook_order, plugin_list
from apiserver.manager import HOOK_PREFIX, PluginError, Plugins
from apiserver.settings import CORE


def run(argv: Sequence[str]) -> int:
    """Print a table (or JSON) of plugins, or of the implementations of one hook in their order."""
    parser = Parser("plugins", __doc__)
    parser.add_argument("--order", metavar="HOOK", help="print the order of this hook: number, plugin, file and line")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options, rest = parser.split(argv)
    _, problems = flags.resolve(CORE, rest, os.environ)
    if problems:
        raise ConfigError(*problems)
    try:
        plugins, found = configure.load(rest, os.environ)
        configure.settings_of(plugins)
        Plugins.refuse(_driver_problems(found))
    except PluginError as ex:
        if options.json:
            print(json.dumps({"problems": ex.problems}, indent=2))
        else:
            print(f"apiserver: {ex}", file=sys.stderr)
        return 2
    if options.order:
        rows = order(plugins, options.order)
        print(json.dumps(rows, indent=2) if options.json else _order_table(rows))
    else:
        listed = plugin_list(plugins, found.drivers.values())
        print(json.dumps({"plugins": listed, "problems": []}, indent=2) if options.json else _plugins_table(listed))
    return 0


def order(plugins: Plugins, hook: str) -> list[dict[str, Any]]:
    """The implementations of ``hook`` (with or without ``apiserver_``), first to last.

    :raises ConfigError: there is no such hook.
    """
    name = hook if hook.startswith(HOOK_PREFIX) else HOOK_PREFIX + hook
    if name not in plugins.hooks:
        raise ConfigError(f"--order: there is no hook {name!r}{nearest(name, plugins.hooks)}")
    return hook_order(plugins, name)


def _driver_problems(found: Installed) -> list[str]:
    problems = []
    for driver in found.drivers.values():
        try:
            driver.load()
        except DriverError as ex:
            problems.append(str(ex))
    return problems


def _plugins_table(listed: list[dict[str, Any]]) -> str:
    rows = [("NAME", "DISTRIBUTION", "VERSION", "GROUP", "HOOKS")]
    for plugin in listed:
        hooks = (
            hook.removeprefix(HOOK_PREFIX) + (f"={number}" if number is not None else "")
            for hook, number in plugin["hooks"].items()
        )
        group = plugin["group"].removeprefix("apiserver.")
        rows.append((plugin["name"], plugin["distribution"], plugin["version"], group, " ".join(hooks)))
    return table(rows)


def _order_table(rows: list[dict[str, Any]]) -> str:
    cells = [("PRIORITY", "PLUGIN", "DISTRIBUTION", "PLACE")]
    for row in rows:
        number = "-" if row["priority"] is None else str(row["priority"])
        cells.append((number, row["plugin"], row["distribution"], row["place"]))
    return table(cells)
