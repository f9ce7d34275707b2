"""Plugins are ordered by numbers; everything that is wrong is reported at once."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import pluggy
import pytest

from apiserver import hookspecs
from apiserver.manager import PluginError, Plugins
from apiserver.markers import hookimpl, hookspec
from apiserver.ordering import Plugin


class Specs:
    """Two hooks of our own: the real ones must not matter here."""

    @hookspec(ordered=True)
    def apiserver_admit(self, request, server): ...
    @hookspec()
    def apiserver_resources(self, server): ...


def plugin(name: str, distribution: str = "demo", **members: Any) -> Plugin:
    module = types.ModuleType(name)
    vars(module).update(members)
    return Plugin(name, module, distribution, "1.0", name)


def admitter(name: str, body: Callable[[], object] = lambda: None, distribution: str = "demo", **order: Any) -> Plugin:
    @hookimpl(**order)
    def apiserver_admit(request):
        request.append(name)
        body()

    return plugin(name, distribution, apiserver_admit=apiserver_admit)


def run(*plugins: Plugin, **options: Any) -> list[str]:
    seen: list[str] = []
    Plugins(Specs, plugins, **options).hook.apiserver_admit(request=seen, server=None)
    return seen


def problems(*plugins: Plugin, **options: Any) -> list[str]:
    with pytest.raises(PluginError) as info:
        Plugins(Specs, plugins, **options)
    return info.value.problems


def test_the_lower_number_runs_first_whatever_the_install_order():
    a, b, c = admitter("a", priority=301), admitter("b", priority=101), admitter("c", priority=201)
    assert run(a, b, c) == run(c, b, a) == ["b", "c", "a"]


def test_calls_follow_the_same_order_and_take_every_argument_of_the_hook():
    plugins = Plugins(Specs, [admitter("b", priority=2), admitter("a", priority=1)])
    seen: list[str] = []
    for _, func in plugins.calls("apiserver_admit"):
        func(seen, "server")
    assert seen == [call.plugin.name for call in plugins.calls("apiserver_admit")] == ["a", "b"]


def test_arguments_arrive_by_name_in_any_number_and_order():
    @hookimpl(priority=1)
    def apiserver_admit(server, request):
        return server, request

    @hookimpl(priority=2)
    def nothing():
        return "none taken"

    plugins = Plugins(Specs, [plugin("swapped", apiserver_admit=apiserver_admit)])
    assert plugins.calls("apiserver_admit")[0].func("r", "s") == ("s", "r")
    nothing.apiserver_impl["specname"] = "apiserver_admit"
    plugins = Plugins(Specs, [plugin("nothing", nothing=nothing)])
    assert plugins.calls("apiserver_admit")[0].func("r", "s") == "none taken"


def test_a_hook_that_nobody_implements_has_no_calls():
    assert Plugins(Specs, []).calls("apiserver_admit") == ()


def test_the_operator_can_move_one():
    pair = admitter("a", priority=1), admitter("b", priority=2)
    assert run(*pair, priorities={"a.apiserver_admit": 3}) == run(*pair, priorities={"a.admit": 3}) == ["b", "a"]


def test_the_operators_numbers_are_checked_like_any_others():
    found = problems(admitter("a", priority=1), admitter("b", priority=2, after="a"), priorities={"a.admit": 5})
    assert len(found) == 1
    assert "has 2 but must run after 'a', which has 5" in found[0]


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("admiter.admit", "there is no plugin 'admiter', did you mean 'admitter'?"),
        ("admitter.admitt", "there is no hook 'apiserver_admitt', did you mean 'apiserver_admit'?"),
        ("admitter.resources", "'admitter' does not implement apiserver_resources"),
    ],
)
def test_the_operators_number_must_be_for_something(key, said):
    found = problems(admitter("admitter", priority=1), priorities={key: 7})
    assert said in found[0]


def test_an_escaping_exception_names_its_plugin():
    note = "in plugin 'bad' (demo 1.0, bad), hook apiserver_admit"
    bad = admitter("bad", lambda: 1 / 0, priority=1)
    with pytest.raises(ZeroDivisionError) as info:
        run(bad)
    assert info.value.__notes__ == [note]
    with pytest.raises(ZeroDivisionError) as info:
        Plugins(Specs, [bad]).calls("apiserver_admit")[0].func([], None)
    assert info.value.__notes__ == [note]


def test_what_a_generator_raises_names_its_plugin_too():
    @hookimpl
    def apiserver_resources(server):
        yield "one"
        raise LookupError(server)

    plugins = Plugins(Specs, [plugin("lazy", apiserver_resources=apiserver_resources)])
    with pytest.raises(LookupError) as info:
        list(plugins.collect("apiserver_resources", "server"))
    assert info.value.__notes__ == ["in plugin 'lazy' (demo 1.0, lazy), hook apiserver_resources"]


def test_collect_yields_each_thing_with_its_plugin_and_leaves_out_none():
    @hookimpl
    def some(server):
        return ["x", "y"]

    @hookimpl
    def none(server):
        return None

    pair = [plugin("some", apiserver_resources=some), plugin("none", apiserver_resources=none)]
    plugins = Plugins(Specs, pair)
    assert [(p.name, r) for p, r in plugins.collect("apiserver_resources", 0)] == [("some", "x"), ("some", "y")]
    assert [(p.name, r) for p, r in plugins.call_each("apiserver_resources", 0)] == [("some", ["x", "y"])]


def test_all_problems_come_at_once_with_file_and_line():
    found = problems(
        admitter("a", priority=101),
        admitter("b", priority=101),
        admitter("c", priority=50, after=("a",)),
        admitter("d", priority=301, requires=("ghost",)),
        admitter("e"),
        admitter("f", priority=42, before="c", requires="a"),
        problems=["an earlier one"],
    )
    text = "\n".join(found)
    assert found[0] == "an earlier one"
    for said in (
        "priority 101 is taken twice",
        "has 50 but must run after 'a', which has 101",
        "requires 'ghost', which is not installed or is disabled",
        "write @hookimpl(priority=N) in e",
        "has 42 but must run after 'a', which has 101",
    ):
        assert said in text
    assert len(found) == 6
    assert all(f"{__file__}:" in problem for problem in found[1:])


def test_a_tie_names_the_nearest_free_number_for_the_one_that_can_move():
    builtin = admitter("builtin", distribution="apiserver", priority=1900)
    guests = [admitter("x", priority=1901), admitter("y", priority=1900, before="builtin")]
    tie = next(p for p in problems(builtin, *guests) if "taken twice" in p)
    assert tie.endswith("1899 is free for 'y'")
    ties = problems(admitter("x", priority=7), admitter("y", priority=7, after=("x",)))
    assert ties[0].endswith("8 is free for 'y'")


def test_multiples_of_a_hundred_belong_to_the_built_in_plugins():
    assert run(admitter("own", distribution="apiserver", priority=100)) == ["own"]
    (found,) = problems(admitter("guest", priority=100))
    assert "multiples of 100 belong to the built-in plugins" in found
    assert found.endswith("101 is free")


@pytest.mark.parametrize("number", [0, -5, True, "12", 1.5])
def test_a_priority_is_a_whole_number_above_zero(number):
    assert "is not a whole number above 0" in problems(admitter("odd", priority=number))[0]


def test_a_hook_that_does_not_exist_is_named_with_the_one_meant():
    @hookimpl
    def apiserver_admitt(request): ...

    (found,) = problems(plugin("typo", apiserver_admitt=apiserver_admitt))
    assert "there is no such hook, did you mean 'apiserver_admit'?" in found


def test_an_argument_that_does_not_exist_is_named_with_the_one_meant():
    @hookimpl(priority=3)
    def apiserver_admit(requst): ...

    (found,) = problems(plugin("argument", apiserver_admit=apiserver_admit))
    assert "has no argument 'requst', it passes request, server, did you mean 'request'?" in found


def test_an_unordered_hook_takes_no_order():
    @hookimpl(priority=3)
    def apiserver_resources(server): ...

    (found,) = problems(plugin("needless", apiserver_resources=apiserver_resources))
    assert "is not ordered, drop priority" in found


def test_one_plugin_implements_a_hook_once():
    class Twice:
        @hookimpl(priority=1, specname="apiserver_admit")
        def early(self, request): ...
        @hookimpl(priority=9, specname="apiserver_admit")
        def late(self, request): ...

    (found,) = problems(Plugin("twice", Twice()))
    assert "is implemented twice by one plugin" in found


def test_a_hook_without_its_mark_is_not_skipped_silently():
    def apiserver_admit(request): ...

    (found,) = problems(plugin("unmarked", apiserver_admit=apiserver_admit))
    assert "write @hookimpl of apiserver above it in unmarked" in found


def test_a_mark_of_pluggy_itself_is_not_taken_for_ours():
    @pluggy.HookimplMarker("apiserver")(hookwrapper=True)
    def apiserver_admit(request):
        yield

    (found,) = problems(plugin("wrapper", apiserver_admit=apiserver_admit))
    assert "write @hookimpl of apiserver above it in wrapper" in found


def test_other_members_of_a_plugin_do_not_matter():
    a = admitter("a", priority=1)
    b = admitter("b", priority=2, requires="a")
    b.obj.helper = len  # type: ignore[attr-defined]  # a module made above
    assert run(a, b) == ["a", "b"]


def test_a_plugin_must_implement_something():
    assert "implements no hook" in problems(plugin("empty"))[0]


def test_an_object_with_methods_is_a_plugin_too():
    class Admit:
        @hookimpl(priority=1)
        def apiserver_admit(self, request):
            request.append("object")

    assert run(Plugin("object", Admit())) == ["object"]


def test_the_ordered_hooks_are_those_whose_order_means_something():
    hooks = Plugins(hookspecs, []).hooks
    ordered = {name.removeprefix("apiserver_") for name, hook in hooks.items() if hook.ordered}
    assert ordered == {"filter", "admit", "validate", "authenticator", "authorizer", "delegate"}
    assert {name.removeprefix("apiserver_") for name in hooks} - ordered == {
        "settings", "configure", "connecters", "resources", "routes", "health_checks", "audit", "started", "stopping",
    }  # fmt: skip
    assert all(hook.doc for hook in hooks.values())
