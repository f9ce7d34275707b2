"""The real kubectl in tests, in the minors that are installed beside them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

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

    def run(self, *arguments: str, text: str | None = None, ok: bool = True) -> str:
        """Run it; returns what it printed."""
        done = subprocess.run(
            [*self._command, *arguments], input=text, capture_output=True, text=True, timeout=SECONDS, check=False
        )
        assert (done.returncode == 0) == ok, f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Run it in the background."""
        return subprocess.Popen(
            [*self._command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
