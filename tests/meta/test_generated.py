"""Generated pages and golden order files are in step with the code."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

import pytest

from apiserver import hookspecs
from apiserver.installed import PLUGIN_GROUPS, STORAGE_GROUP
from apiserver.manager import hooks_of
from tests.meta.generate import ROOT, generated


@pytest.fixture(scope="module")
def files() -> dict[Path, str]:
    return generated()


def test_every_generated_file_is_in_step(files):
    stale = [
        str(path.relative_to(ROOT))
        for path, text in files.items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    ]
    assert not stale, f"run `make docs` and look at the diff: {', '.join(stale)}"


def test_no_order_file_is_left_over(files):
    assert set((ROOT / "tests/meta/order").glob("*.txt")) <= set(files)


def test_every_hook_is_in_the_reference(files):
    page = files[ROOT / "docs/plugins/hooks.md"]
    for hook in hooks_of(hookspecs).values():
        assert f"\n## {hook.name}\n" in page
        for parameter in hook.parameters:
            assert f":param {parameter}:" in hook.doc or f"``{parameter}" in hook.doc, f"{hook.name}: {parameter}"


def test_examples_in_the_hooks_documentation_exist(files):
    page = files[ROOT / "docs/plugins/hooks.md"]
    named = {line.split("`")[1] for line in page.splitlines() if line.startswith("Example: ")}
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []


FOLDERS = {
    "apiserver.filters": ("filters", "authentication", "authorization"),
    "apiserver.admission": ("admission",),
    "apiserver.resources": ("resources", "delegates", "controllers"),
}
"""Where the plugins of each group lie: authenticators and authorizers serve a filter, the others resources."""


@pytest.mark.parametrize("group", PLUGIN_GROUPS)
def test_a_built_in_plugin_is_named_after_its_file_and_lies_in_its_kinds_folder(group):
    for entry in importlib.metadata.entry_points(group=group):
        if entry.dist is not None and entry.dist.name == "apiserver":
            assert entry.value.split(".")[:1] == ["apiserver_plugins"], entry
            assert entry.value.split(".")[1] in FOLDERS[group], entry
            assert entry.name == entry.value.rpartition(".")[2].replace("_", "-"), entry


def test_every_file_in_a_kinds_folder_with_hooks_is_an_entry_point():
    """A plugin file that nobody declares is code that never runs."""
    declared = {
        entry.value
        for group in (*PLUGIN_GROUPS, STORAGE_GROUP)
        for entry in importlib.metadata.entry_points(group=group)
    }
    forgotten = [
        module
        for path in sorted((ROOT / "plugins").rglob("*.py"))
        if "@hookimpl" in path.read_text(encoding="utf-8")
        and (module := ".".join(("apiserver_plugins", *path.relative_to(ROOT / "plugins").with_suffix("").parts)))
        not in declared
    ]
    assert not forgotten, f"no entry point in pyproject.toml, or the environment needs a new install: {forgotten}"
