"""The real kubectl in tests, in the minors that are installed beside them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO

SECONDS = 60.0
KUBECTLS = {
    "1.37": Path(sys.executable).parent / "kubectl",
    "1.36": Path(sys.prefix) / "kubectl-1.36" / "bin" / "kubectl",
}


class Kubectl:
    """kubectl of one minor, for one server and namespace.

    :param cache: an empty folder for what it remembers of the server.
    """

    def __init__(self, program: Path, kubeconfig: Path, namespace: str, cache: Path) -> None:
        assert program.exists(), f"{program} is missing: make test installs it"
        self._command = [str(program), f"--kubeconfig={kubeconfig}", f"--namespace={namespace}"]
        self._command.append(f"--cache-dir={cache}")

    def _run(self, arguments: Sequence[str], text: str | None) -> subprocess.CompletedProcess[str]:
        command = [*self._command, *arguments]
        return subprocess.run(command, input=text, capture_output=True, text=True, timeout=SECONDS, check=False)

    def run(self, *arguments: str, text: str | None = None, ok: bool = True) -> str:
        """Run it; returns what it printed."""
        done = self._run(arguments, text)
        assert (done.returncode == 0) == ok, f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr

    def answer(self, *arguments: str, text: str | None = None) -> str:
        """Run it; returns what it printed, without warnings."""
        done = self._run(arguments, text)
        assert done.returncode == 0, f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def start(self, *arguments: str, output: int | IO[str] = subprocess.PIPE) -> subprocess.Popen[str]:
        """Run it in the background.

        :param output: where what it prints goes.
        """
        return subprocess.Popen([*self._command, *arguments], stdout=output, stderr=subprocess.STDOUT, text=True)
