"""Turn a command line and an environment into settings and plugins that fit together, or say all that is wrong.

``apiserver`` commands call :func:`configure` with their arguments; a process that gunicorn started by itself calls
:func:`current`, which reads the environment alone. The result goes to :mod:`apiserver.server` and
:mod:`apiserver.serving`. Which plugins to load is a setting, and plugins bring settings, so that the sources are read
twice: first for the core's settings alone, then for all.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from apiserver import flags, hookspecs
from apiserver.api import logs
from apiserver.api.settings import Config, ConfigError, Setting
from apiserver.api.suggest import nearest
from apiserver.installed import PLUGIN_GROUPS, Driver, Installed, find
from apiserver.manager import Plugins
from apiserver.ordering import Plugin
from apiserver.settings import CORE, KUBERNETES_ADMISSION, contradictions

LOGGER = logging.getLogger(__name__)
ADMISSION_GROUP = PLUGIN_GROUPS[1]


@dataclass(frozen=True, slots=True)
class Setup:
    """What a server is built from.

    ``settings`` are all settings there are, the core's and the plugins'; ``drivers`` the storage drivers by scheme.
    """

    config: Config
    plugins: Plugins
    settings: tuple[Setting, ...]
    drivers: Mapping[str, Driver]


def load(argv: Sequence[str], environ: Mapping[str, str], more: Sequence[Plugin] = ()) -> tuple[Plugins, Installed]:
    """Load and order the plugins that the settings leave enabled.

    :param more: plugins beside the installed ones; one takes the place of an installed one that has its name or is
        the same module.
    :raises PluginError: they do not fit together.
    """
    first, _ = flags.resolve(CORE, argv, environ, strict=False)
    priorities, problems = _priorities(first.strings("plugin-priority"))
    found = find(first.strings("disable-plugins"))
    problems += found.problems
    names, objects = {plugin.name for plugin in more}, {id(plugin.obj) for plugin in more}
    found.plugins = [p for p in found.plugins if p.name not in names and id(p.obj) not in objects]
    found.plugins += more
    kept = list(_without_admission(found.plugins, first, problems))
    return Plugins(hookspecs, kept, priorities, problems), found


def settings_of(plugins: Plugins) -> tuple[Setting, ...]:
    """The core's settings and those of ``plugins``, each in the group of its heading.

    :raises PluginError: two claim the same name, or a plugin returns something else than settings.
    """
    owners: dict[str, str] = {setting.name: "the core" for setting in CORE}
    shorts = {setting.short for setting in CORE if setting.short}
    problems, found = [], list(CORE)
    for plugin, setting in plugins.collect("apiserver_settings"):
        if not isinstance(setting, Setting):
            problems.append(f"{plugin.name}: apiserver_settings returned {setting!r}, which is no Setting")
        elif setting.name in owners:
            problems.append(f"{plugin.name}: setting {setting.name!r} is already one of {owners[setting.name]}")
        elif setting.short and setting.short in shorts:
            problems.append(f"{plugin.name}: setting {setting.name!r} wants -{setting.short}, which is taken")
        else:
            owners[setting.name] = plugin.name
            shorts.add(setting.short)
            found.append(setting if setting.group else replace(setting, group=f"Plugin {plugin.name}"))
    Plugins.refuse(problems)
    return tuple(found)


def configure(argv: Sequence[str] = (), environ: Mapping[str, str] | None = None, more: Sequence[Plugin] = ()) -> Setup:
    """Settings and plugins for ``argv`` (without the program's name) and ``environ`` (default: the process's).

    :param more: see :func:`load`.
    :raises PluginError: the plugins do not fit together.
    :raises ConfigError: settings are wrong; has every problem, also those that plugins found.
    """
    environ = os.environ if environ is None else environ
    plugins, found = load(argv, environ, more)
    settings = settings_of(plugins)
    config, problems = flags.resolve(settings, argv, environ)
    problems += contradictions(config)
    scheme = config.text("storage-url").partition(":")[0]
    if scheme and scheme not in found.drivers:
        problems.append(f"--storage-url: there is no storage driver {scheme!r}{nearest(scheme, found.drivers)}")
    for _, func in plugins.calls("apiserver_configure"):
        try:
            func(config)
        except ConfigError as ex:
            problems += ex.problems
    if problems:
        raise ConfigError(*problems)
    return Setup(config, plugins, settings, found.drivers)


_current: Setup | None = None


def use(setup: Setup) -> None:
    """Make ``setup`` what :func:`current` returns in this process and in those forked from it."""
    global _current
    _current = setup


def current() -> Setup:
    """What this process serves: what :func:`use` was given, else what the environment says."""
    if _current is None:
        use(configure())
    assert _current is not None
    return _current


def listening(port: int) -> None:
    """The port that the system has chosen, where ``--secure-port`` says 0: what is advertised must be right."""
    global _current
    if _current is not None and not _current.config.integer("secure-port"):
        _current = replace(_current, config=_current.config.changed({"secure-port": port}))


def report() -> None:
    """Log what people should know about this process's set-up: warnings, and the order of each ordered hook."""
    if _current is None:
        return
    for warning in _current.config.warnings:
        logs.warning(LOGGER, warning)
    for hook in _current.plugins.hooks.values():
        if hook.ordered:
            order = ", ".join(f"{i.plugin.name}={i.order.priority}" for i in _current.plugins.order.get(hook.name, ()))
            logs.info(LOGGER, "Hook order", hook=hook.name, plugins=order)


def _priorities(texts: Iterable[str]) -> tuple[dict[str, int], list[str]]:
    """``name.hook=N`` texts as a mapping, and what is wrong with them."""
    found, problems = {}, []
    for text in texts:
        key, _, number = text.partition("=")
        if "." in key and number.isdecimal():
            found[key] = int(number)
        else:
            problems.append(f"--plugin-priority: {text!r} is not of the form name.hook=N")
    return found, problems


def _without_admission(plugins: Iterable[Plugin], config: Config, problems: list[str]) -> Iterable[Plugin]:
    """Leave out the admission plugins disabled by kube-apiserver's flag.

    Names are kube-apiserver's (NamespaceLifecycle) or ours (namespace-lifecycle). COMPAT: admission plugins of
    kube-apiserver that are not here may be disabled, as start commands do, but not enabled.
    """
    plugins = list(plugins)
    admission = {_plain(plugin.name): plugin.name for plugin in plugins if plugin.group == ADMISSION_GROUP}
    elsewhere = {_plain(name) for name in KUBERNETES_ADMISSION}
    on = {_plain(name): name for name in config.strings("enable-admission-plugins")}
    off = {_plain(name): name for name in config.strings("disable-admission-plugins")}
    for key, name in on.items():
        if key not in admission and key not in off:
            problems.append(f"--enable-admission-plugins: plugin {name!r} is unknown{_meant(name, admission)}")
    for key, name in off.items():
        if key in on:
            problems.append(f"{name} in --enable-admission-plugins and --disable-admission-plugins overlapped")
        elif key not in admission and key not in elsewhere:
            problems.append(f"--disable-admission-plugins: plugin {name!r} is unknown{_meant(name, admission)}")
    disabled = {admission[key] for key in off if key in admission}
    return [plugin for plugin in plugins if plugin.name not in disabled]


def _plain(name: str) -> str:
    return name.lower().replace("-", "")


def _meant(name: str, admission: Mapping[str, str]) -> str:
    return nearest(name, {*KUBERNETES_ADMISSION, *admission.values()})
