"""Wheels and fresh environments for tests of what gets installed."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "docs" / "plugins" / "examples"
SOURCES = {"apiserver": "apiserver", "apiserver_plugins": "plugins"}
"""Our packages and the folders they lie in."""
SECONDS = 300.0

_UNBUILT = shutil.ignore_patterns("__pycache__", "*.egg-info", "*.pyc", "build", "dist")
_BUILD = "from setuptools import build_meta; print(build_meta.build_wheel('dist'))"


def own_wheel(folder: Path) -> Path:
    """Our own wheel, built in ``folder`` from a copy of the sources, so that nothing left in the tree gets into it."""
    copy = folder / "apiserver-sources"
    copy.mkdir()
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy / name)
    for source in SOURCES.values():
        shutil.copytree(ROOT / source, copy / source, ignore=_UNBUILT)
    return _built(copy)


def wheel_of(project: Path, folder: Path) -> Path:
    """The wheel of the project in ``project``, built from a copy in ``folder``."""
    copy = Path(tempfile.mkdtemp(dir=folder)) / project.name
    return _built(shutil.copytree(project, copy, ignore=_UNBUILT))


def _built(project: Path) -> Path:
    _run(sys.executable, "-c", _BUILD, cwd=project)
    (wheel,) = (project / "dist").glob("*.whl")
    return wheel


class Environment:
    """A virtual environment that holds what is installed into it and nothing else."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder, with_pip=False)
        self.bin = folder / "bin"

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.bin / "python"

    def install(self, *what: Path) -> None:
        """Install wheels with all that they depend on, from the package index that pip is configured for."""
        _run(sys.executable, "-m", "pip", f"--python={self.python}", "install", "-q", *map(str, what))


def install_beside(target: Path, *what: Path) -> None:
    """Install wheels, without what they depend on, into a folder that PYTHONPATH can name."""
    _run(sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--upgrade", f"--target={target}", *map(str, what))


def _run(*command: object, cwd: Path | None = None) -> None:
    done = subprocess.run(
        [str(word) for word in command], cwd=cwd, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.returncode == 0, f"{command}:\n{done.stdout}\n{done.stderr}"
