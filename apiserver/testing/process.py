"""``apiserver serve`` in a process of its own, for tests of programs that talk to a server.

    from apiserver.testing.process import ServerProcess

    with ServerProcess() as server:
        subprocess.run(["kubectl", f"--kubeconfig={server.kubeconfig}", "get", "namespaces"], check=True)

or, as a pytest fixture for a whole session, in a ``conftest.py``::

    pytest_plugins = ["apiserver.testing.fixtures"]

The server listens on a free port of 127.0.0.1 and keeps everything in a folder that goes with it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

START_SECONDS = 60.0
STOP_SECONDS = 90.0
_LINE = re.compile(r"^Serving the Kubernetes API on (\S+), ")


class ServerProcess:
    """A context manager: on entering the server is started, and waited for until it is ready.

    :param flags: of ``apiserver serve``, beside ``--data-dir`` and ``--secure-port``.
    :param environment: variables beside those of this process.
    :raises RuntimeError: on entering, with what the server wrote, when it does not start.
    """

    url: str
    """Where it is, such as ``https://127.0.0.1:41234``."""

    def __init__(self, *flags: str, environment: Mapping[str, str] | None = None) -> None:
        self._flags = flags
        self._environment = dict(environment or {})

    @property
    def kubeconfig(self) -> Path:
        """The kubeconfig of an administrator."""
        return self._data / "admin.kubeconfig"

    @property
    def ca(self) -> Path:
        """The certificate that the server's is signed with."""
        return self._data / "pki" / "ca.crt"

    @property
    def log(self) -> str:
        """What the server has logged so far."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    @property
    def pid(self) -> int:
        """Of the main process, which starts worker processes."""
        return self._process.pid

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory(prefix="apiserver-")
        self._data = Path(self._folder.name, "data")
        self._log = Path(self._folder.name, "log")
        command = [sys.executable, "-m", "apiserver", "serve", f"--data-dir={self._data}", "--secure-port=0"]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [*command, *self._flags],
                env={**os.environ, **self._environment},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        # A server that neither gets ready nor ends would otherwise be waited for without end.
        watchdog = threading.Timer(START_SECONDS, self._process.kill)
        watchdog.start()
        try:
            assert self._process.stdout is not None
            found = next((match for line in self._process.stdout if (match := _LINE.match(line))), None)
        finally:
            watchdog.cancel()
        if found is None:
            self._process.wait()
            text = self.log
            self._close()
            raise RuntimeError(f"the server did not start:\n{text[-4000:]}")
        self.url = found[1]
        return self

    def __exit__(self, kind: type[BaseException] | None, ex: BaseException | None, tb: TracebackType | None) -> None:
        self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        finally:
            self._process.kill()
            self._close()

    def _close(self) -> None:
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._folder.cleanup()
