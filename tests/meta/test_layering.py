"""Imports follow the design: downward in the core, public names only in plugins."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LONGEST = 500
"""Lines of a module: beyond this it has more than one subject. Suites in apiserver.testing are lists of tests."""


def sources(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


def imported(path: Path) -> Iterator[str]:
    """The modules that a file imports; of relative imports, those that leave the package."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            if node.module == "apiserver":
                yield from (f"apiserver.{alias.name}" for alias in node.names if alias.name.islower())


def test_import_contracts_are_kept():
    command = [str(Path(sys.executable).with_name("lint-imports"))]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


def test_plugins_import_nothing_of_the_core_but_its_public_names():
    offences = [
        f"{path.relative_to(ROOT)}: {module}"
        for path in sources("plugins")
        for module in imported(path)
        if module.partition(".")[0] == "apiserver"
        and module not in ("apiserver", "apiserver.hookimpl")
        and not module.startswith(("apiserver.api", "apiserver.cel"))
    ]
    assert offences == []


def test_modules_are_short_enough_to_have_one_subject():
    long = {
        str(path.relative_to(ROOT)): lines
        for folder in ("apiserver", "plugins")
        for path in sources(folder)
        if path.parent.name != "testing"
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > LONGEST
    }
    assert long == {}


@pytest.mark.parametrize("folder", ["apiserver", "plugins"])
def test_every_module_says_what_it_is_for(folder):
    silent = [
        str(path.relative_to(ROOT))
        for path in sources(folder)
        if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert silent == []


@pytest.mark.parametrize("folder", ["apiserver", "plugins"])
def test_every_folder_with_modules_is_a_package(folder):
    """A folder without ``__init__.py`` would be missing from the wheel."""
    assert [str(p.parent) for p in sources(folder) if not (p.parent / "__init__.py").is_file()] == []


def test_objects_are_never_deep_copied():
    """Decoding the bytes again is ten times faster."""
    assert [
        str(path.relative_to(ROOT))
        for folder in ("apiserver", "plugins")
        for path in sources(folder)
        if "deepcopy(" in path.read_text(encoding="utf-8")
    ] == []
