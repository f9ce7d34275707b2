"""The wheel holds the two packages with their data, and nothing else."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = {"apiserver": "apiserver", "apiserver_plugins": "plugins"}
UNBUILT = shutil.ignore_patterns("__pycache__", "*.egg-info", "*.pyc")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """A wheel built from a copy of the sources, so that nothing left in the tree gets into it."""
    copy = tmp_path_factory.mktemp("wheel")
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy / name)
    for folder in SOURCES.values():
        shutil.copytree(ROOT / folder, copy / folder, ignore=UNBUILT)
    build = "from setuptools import build_meta; print(build_meta.build_wheel('dist'))"
    subprocess.run([sys.executable, "-c", build], cwd=copy, check=True, capture_output=True, text=True, timeout=120)
    (path,) = (copy / "dist").glob("*.whl")
    return zipfile.ZipFile(path)


def test_the_wheel_holds_every_file_of_both_packages_and_nothing_else(wheel):
    wanted = {
        f"{package}/{path.relative_to(ROOT / folder)}"
        for package, folder in SOURCES.items()
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    held = {name for name in wheel.namelist() if not name.split("/")[0].endswith(".dist-info")}
    assert held == wanted


def test_the_wheel_names_license_entry_points_and_top_level_packages(wheel):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    info = f"apiserver-{project['version']}.dist-info"
    assert f"{info}/licenses/LICENSE" in wheel.namelist()
    assert wheel.read(f"{info}/top_level.txt").decode().split() == ["apiserver", "apiserver_plugins"]
    entry_points = wheel.read(f"{info}/entry_points.txt").decode()
    assert "[console_scripts]\napiserver = apiserver.cli:main\n" in entry_points
    for group, entries in project["entry-points"].items():
        assert not entries or f"[{group}]\n" in entry_points
    assert "License-Expression: Apache-2.0\n" in wheel.read(f"{info}/METADATA").decode()
