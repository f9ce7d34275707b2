"""Plugins and settings are chosen together: plugins are chosen by settings and bring settings."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from apiserver import configure as configuring
from apiserver.api.settings import Config, ConfigError, Setting
from apiserver.configure import configure, current, use
from apiserver.installed import Installed
from apiserver.manager import PluginError
from apiserver.markers import hookimpl
from apiserver.ordering import Plugin

Install = Callable[..., None]


def plugin(name: str, group: str = "apiserver.filters", **hooks: Any) -> Plugin:
    return Plugin(name, SimpleNamespace(**hooks), "demo", "1.0", name, group)


def declaring(name: str, *settings: Any, configured: Callable[[Config], None] = lambda config: None) -> Plugin:
    @hookimpl
    def apiserver_settings():
        return settings

    @hookimpl
    def apiserver_configure(config):
        configured(config)

    return plugin(name, apiserver_settings=apiserver_settings, apiserver_configure=apiserver_configure)


def admission(name: str) -> Plugin:
    @hookimpl(priority=1 + sum(map(ord, name)) * 100)
    def apiserver_admit(request): ...

    return plugin(name, "apiserver.admission", apiserver_admit=apiserver_admit)


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Install:
    """Make these plugins the installed ones."""

    def install(*plugins: Plugin) -> None:
        monkeypatch.setattr(
            configuring, "find", lambda disabled: Installed([p for p in plugins if p.name not in disabled])
        )

    return install


def test_a_plugins_settings_are_flags_like_the_cores(install):
    install(declaring("shout", Setting("shout-times", "int", 2)))
    assert configure([], {}).config.shout_times == 2
    assert configure(["--shout-times=3"], {}).config.shout_times == 3
    assert configure([], {"APISERVER_SHOUT_TIMES": "4"}).config.shout_times == 4
    assert configure([], {}).settings[-1].group == "Plugin shout"


def test_a_disabled_plugin_takes_its_flags_with_it(install):
    install(declaring("shout", Setting("shout-times", "int", 2)))
    with pytest.raises(ConfigError, match="unknown flag: --shout-times"):
        configure(["--shout-times=3", "--disable-plugins=shout"], {})


def test_two_plugins_cannot_have_the_same_setting(install):
    install(
        declaring("one", Setting("shared")), declaring("two", Setting("shared"), Setting("secure-port")),
        declaring("three", "shared", Setting("loud", short="v")),
    )  # fmt: skip
    with pytest.raises(PluginError) as info:
        configure([], {})
    assert info.value.problems == [
        "two: setting 'shared' is already one of one",
        "two: setting 'secure-port' is already one of the core",
        "three: apiserver_settings returned 'shared', which is no Setting",
        "three: setting 'loud' wants -v, which is taken",
    ]


def test_every_plugins_complaint_is_shown_together_with_the_cores(install):
    def complain(config: Config) -> None:
        raise ConfigError(f"port {config.secure_port} is ugly", "and so is the rest")

    install(declaring("one", configured=complain), declaring("two", configured=complain))
    with pytest.raises(ConfigError) as info:
        configure(["--secure-port=7", "--etcd-certfile=x", "--unknown"], {})
    ugly = ("port 7 is ugly", "and so is the rest")
    pair = "--etcd-certfile and --etcd-keyfile are given together or not at all"
    assert info.value.problems == ("unknown flag: --unknown", pair, *ugly, *ugly)


def test_the_operator_moves_plugins_by_a_flag(install):
    install(admission("a"), admission("b"))
    names = [call.plugin.name for call in configure([], {}).plugins.calls("apiserver_admit")]
    moved = configure(["--plugin-priority=a.admit=99999"], {}).plugins.calls("apiserver_admit")
    assert (names, [call.plugin.name for call in moved]) == (["a", "b"], ["b", "a"])
    with pytest.raises(PluginError, match=r"'a=5' is not of the form name\.hook=N"):
        configure(["--plugin-priority=a=5"], {})


def test_admission_plugins_are_disabled_by_kubernetes_names_too(install):
    install(admission("namespace-lifecycle"), admission("other"))
    setup = configure(["--disable-admission-plugins=NamespaceLifecycle,ServiceAccount"], {})
    assert [p.name for p in setup.plugins.plugins] == ["other"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--disable-admission-plugins=NamespaceLifecycel"], "is unknown, did you mean 'NamespaceLifecycle'?"),
        (
            ["--enable-admission-plugins=ServiceAccount"],
            "--enable-admission-plugins: plugin 'ServiceAccount' is unknown",
        ),
        (["--enable-admission-plugins=Other", "--disable-admission-plugins=other"], "overlapped"),
    ],
)
def test_admission_plugins_that_are_not_there_cannot_be_chosen(install, words, said):
    install(admission("other"))
    with pytest.raises(PluginError) as info:
        configure(words, {})
    assert said in info.value.problems[0]


def test_a_store_without_a_driver_is_refused(install):
    install()
    with pytest.raises(ConfigError, match="--storage-url: there is no storage driver 'redis'"):
        configure(["--storage-url=redis://x"], {})


def test_a_process_that_was_told_nothing_looks_at_its_environment(install, monkeypatch: pytest.MonkeyPatch):
    install()
    monkeypatch.setattr(configuring, "_current", None)
    monkeypatch.setenv("APISERVER_SECURE_PORT", "7")
    first = current()
    assert first.config.secure_port == 7
    assert current() is first
    told = configure(["--secure-port=8"], {})
    use(told)
    assert current() is told
