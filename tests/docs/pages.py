"""Pages of the documentation whose code and console blocks can be run.

    ```python hello.py      a file of the page's project; so are toml, yaml, csv and other languages with a name
    ```python               a snippet, for reading; it is compiled only
    ```console              commands after "$ ", each followed by what it prints; "..." stands for anything

In console blocks ``pip install .`` installs the project beside the server and ``apiserver serve`` starts a real server
in the background; kubectl and everything else run in a shell in the project's folder.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from apiserver.testing.process import ServerProcess
from tests.wheels import install_beside, wheel_of

SECONDS = 120.0
ADDRESS = "https://127.0.0.1:6443"
"""Where pages say that a server is; tests have it elsewhere."""
_FENCE = re.compile(r"^```(\w+)(?: +(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LIKE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block. ``line`` is that of its first line, ``name`` "" unless it is a file."""

    language: str
    name: str
    text: str
    line: int


def blocks(page: Path) -> list[Block]:
    """The blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(found[1], found[2] or "", found[3], text.count("\n", 0, found.start()) + 2)
        for found in _FENCE.finditer(text)
    ]


def commands(block: Block) -> Iterator[tuple[str, str]]:
    """The commands of a console block, each with what it is said to print."""
    first, *rest = re.split(r"^\$ ", block.text, flags=re.MULTILINE)
    assert not first, f"line {block.line}: a console block begins with a command"
    for part in rest:
        command, _, printed = part.partition("\n")
        while command.endswith("\\"):
            more, _, printed = printed.partition("\n")
            command = f"{command}\n{more}"
        yield command, printed


class Walk:
    """Goes through a page as a reader does who types everything."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "project"
        self.project.mkdir(parents=True)
        self._folder = folder
        self._site = folder / "site"
        self._server: ServerProcess | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, ex: BaseException | None, tb: TracebackType | None) -> None:
        self._stop()

    def follow(self, block: Block) -> None:
        """Write the file, or type the commands."""
        if block.name:
            (self.project / block.name).write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            compile(block.text, f"line {block.line}", "exec")
        elif block.language == "console":
            for command, expected in commands(block):
                printed = self._type(command)
                assert matches(expected, printed), f"line {block.line}: $ {command}\n{printed}\n--- not:\n{expected}"

    def _type(self, command: str) -> str | None:
        if self._server is not None:
            command = command.replace(ADDRESS, self._server.url)
        words = shlex.split(command.partition("#")[0]) if "$" not in command else []
        if words[:2] == ["pip", "install"]:
            return self._install() if words[-1] == "." else None
        if words[:2] == ["apiserver", "serve"]:
            return self._serve(words[2:])
        if words[:1] == ["export"]:
            return None
        return self._shell(command)

    def _install(self) -> None:
        install_beside(self._site, wheel_of(self.project, self._folder))

    def _serve(self, flags: list[str]) -> None:
        self._stop()
        files = [re.sub("=(.+)", self._absolute, flag) for flag in flags]
        self._server = ServerProcess(*files, environment=self._environment()).__enter__()
        (self.project / ".apiserver").symlink_to(self._server.kubeconfig.parent)

    def _absolute(self, value: re.Match[str]) -> str:
        path = self.project / value[1]
        return f"={path}" if path.exists() else value[0]

    def _stop(self) -> None:
        if self._server is not None:
            self._server.__exit__(None, None, None)
            (self.project / ".apiserver").unlink()
        self._server = None

    def _environment(self) -> dict[str, str]:
        scripts = str(Path(sys.executable).parent)
        found = {**os.environ, "PYTHONPATH": str(self._site), "PATH": f"{scripts}:{os.environ['PATH']}"}
        found |= {"HOME": str(self._folder), "PYTHONDONTWRITEBYTECODE": "1"}
        if self._server is not None:
            found |= {"KUBECONFIG": str(self._server.kubeconfig)}
        return found

    def _shell(self, command: str) -> str:
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.project,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        # "... passed" would also fit what is said of a run with failures.
        assert done.returncode == 0 or not command.startswith("pytest"), done.stdout
        return done.stdout


def matches(expected: str, printed: str | None) -> bool:
    """Whether a command printed what the page says; None = it was not really run."""
    return printed is None or doctest.OutputChecker().check_output(expected, printed, _LIKE)
