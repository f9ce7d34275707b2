"""The wheel holds the two packages with their data, and nothing else."""

from __future__ import annotations

import tomllib
import zipfile

import pytest

from tests.wheels import ROOT, SOURCES, own_wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    return zipfile.ZipFile(own_wheel(tmp_path_factory.mktemp("wheel")))


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
