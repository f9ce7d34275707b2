"""Plugins and drivers are found through entry points; what can't be loaded is a problem, never left out silently."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from apiserver.installed import Driver, DriverError, Installed, find

Distribute = Callable[..., None]


@pytest.fixture
def distribute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Distribute:
    """Make a distribution that holds modules and declares entry points."""

    def make(name: str, group: str, entries: dict[str, str], **modules: str) -> None:
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        lines = [f"[{group}]", *(f"{key} = {value}" for key, value in entries.items())]
        (info / "entry_points.txt").write_text("\n".join(lines))
        for module, source in modules.items():
            (tmp_path / f"{module}.py").write_text(source)
            monkeypatch.delitem(sys.modules, module, raising=False)

    monkeypatch.syspath_prepend(str(tmp_path))
    return make


def problems_of(found: Installed, *names: str) -> list[str]:
    return [p for p in found.problems if p.startswith(names)]


def test_a_plugin_of_an_installed_distribution_is_found(distribute):
    distribute("guest-dist", "apiserver.filters", {"guest-filter": "guest_module"}, guest_module="X = 1\n")
    (plugin,) = [p for p in find().plugins if p.name == "guest-filter"]
    assert (plugin.distribution, plugin.version, plugin.group) == ("guest-dist", "1.0", "apiserver.filters")
    assert plugin.origin == "guest-dist 1.0, guest_module"
    assert plugin.obj.X == 1  # type: ignore[attr-defined]  # a module made above
    assert not plugin.builtin


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import no_such_module_at_all\n", "ModuleNotFoundError: No module named 'no_such_module_at_all'"),
        ("\n1 / 0\n", "ZeroDivisionError: division by zero"),
        ("\ndef broken(:\n", "SyntaxError: "),
    ],
)
def test_a_broken_import_is_a_problem_with_file_and_line(distribute, tmp_path, source, said):
    distribute("broken-dist", "apiserver.admission", {"broken": "broken_module"}, broken_module=source)
    (problem,) = problems_of(find(), "broken")
    assert "cannot be imported from broken-dist 1.0, broken_module: " + said in problem
    line = source.count("\n", 0, len(source.rstrip())) + 1
    assert problem.endswith(f"({tmp_path / 'broken_module.py'}:{line})")


def test_an_entry_point_to_nowhere_is_a_problem(distribute):
    distribute("lost-dist", "apiserver.resources", {"lost": "lost_module"})
    (problem,) = problems_of(find(), "lost")
    assert "No module named 'lost_module'" in problem


def test_a_name_belongs_to_one_plugin(distribute):
    distribute("first-dist", "apiserver.filters", {"same": "first_module"}, first_module="")
    distribute("second-dist", "apiserver.admission", {"same": "second_module"}, second_module="")
    (problem,) = problems_of(find(), "same")
    assert problem == "same: declared twice, by first-dist 1.0, first_module and by second-dist 1.0, second_module"


def test_a_disabled_plugin_is_not_even_imported(distribute):
    distribute("broken-dist", "apiserver.admission", {"broken": "broken_module"}, broken_module="1 / 0\n")
    found = find(disabled=["broken"])
    assert not problems_of(found, "broken")
    assert "broken" not in [p.name for p in found.plugins]


def test_disabling_what_is_not_there_is_a_problem(distribute):
    distribute("guest-dist", "apiserver.filters", {"guest-filter": "guest_module"}, guest_module="")
    (problem,) = problems_of(find(disabled=["guest-filtre"]), "--disable-plugins")
    assert problem == "--disable-plugins: there is no plugin 'guest-filtre', did you mean 'guest-filter'?"


def driver(distribute: Distribute, **modules: str) -> Driver:
    distribute("store-dist", "apiserver.storage", {"teststore": "store_module"}, **modules)
    return find().drivers["teststore"]


def test_a_storage_driver_is_imported_only_when_it_is_used(distribute):
    found = driver(distribute, store_module="def open_storage(url, options): return url, options\n")
    assert "store_module" not in sys.modules
    opened: Any = found.load()("teststore://x", None)
    assert opened == ("teststore://x", None)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (
            "def open_store(url, options): ...\n",
            "has no function open_storage(url, options), did you mean 'open_store'?",
        ),
        ("1 / 0\n", "cannot be imported from store-dist 1.0, store_module: ZeroDivisionError"),
    ],
)
def test_a_storage_driver_that_cannot_be_used_says_why(distribute, source, said):
    with pytest.raises(DriverError, match="teststore: ") as info:
        driver(distribute, store_module=source).load()
    assert said in str(info.value)


def test_the_stores_of_the_project_are_there():
    assert {"sqlite", "etcd"} <= set(find().drivers)
