"""A real server for tests: ``apiserver serve`` in a process of its own, on a free port, on either store.

    with ServerProcess(tmp_path) as server:
        server.get("/api/v1/namespaces")

The process is stopped by its pid at the end; what it printed is in ``server.log``.
"""

from __future__ import annotations

import json
import os
import re
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

START_SECONDS = 90.0
STOP_SECONDS = 60.0
TOKENS = 'admin-token,admin,admin-uid,"system:masters"\nalice-token,alice,alice-uid\n'
OURS = "hub"
GTHREAD = "gthread"
GTHREAD_SETTINGS = {
    "APISERVER_THREADS": "100",
    # A thread finds out late that the client of its watch has gone; the end must not wait for that.
    "GUNICORN_CMD_ARGS": "--worker-class=gthread --graceful-timeout=3",
}
worker_class = OURS
"""What servers are started with, unless a test chooses: the option ``--worker-class`` of the suite."""

_LINE = re.compile(r"https://[^\s,]+")


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


class ServerProcess:
    """One server with one data directory.

    :param arguments: further flags of ``apiserver serve``.
    :param environment: variables beside ours.
    :param python: the interpreter whose ``apiserver`` is started.
    """

    def __init__(
        self,
        directory: Path,
        *arguments: str,
        environment: Mapping[str, str] | None = None,
        python: str | Path = sys.executable,
    ) -> None:
        self.directory = directory
        self.data = directory / "data"
        self.log = directory / "server.log"
        self.tokens = directory / "tokens.csv"
        self.url = ""
        self._arguments = arguments
        self._environment = dict(environment or {})
        self._python = str(python)
        self._process: subprocess.Popen[bytes] | None = None
        self._client: httpx.Client | None = None
        self._port = "0"

    # -- process --------------------------------------------------------------

    def start(self) -> Self:
        """Start and wait until ``/readyz`` answers 200. Started again, it takes the same port."""
        self.directory.mkdir(parents=True, exist_ok=True)
        if not self.tokens.exists():
            self.tokens.write_text(TOKENS)
        command, environment = self._command(self._port)
        with self.log.open("ab") as log:
            begin = log.tell()
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env={**os.environ, **environment}
            )
        deadline = time.monotonic() + START_SECONDS
        self.url = self._wait_for_url(begin, deadline)
        self._port = self.url.rpartition(":")[2]
        while not self._ready():
            self._check(deadline)
        return self

    def _command(self, port: str) -> tuple[list[str], dict[str, str]]:
        """What to start, and what its environment holds beside ours."""
        if worker_class == GTHREAD:
            return self._gunicorn(Path(self._python).parent, port, GTHREAD_SETTINGS)
        command = [self._python, "-m", "apiserver", "serve", f"--data-dir={self.data}", f"--secure-port={port}"]
        return [*command, f"--token-auth-file={self.tokens}", *self._arguments], self._environment

    def _gunicorn(self, scripts: Path, port: str, settings: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
        """The same server under the gunicorn of the folder ``scripts``: what are flags above, by environment."""
        command = [str(scripts / "gunicorn"), "-c", "python:apiserver.serving.gunicorn_conf", "apiserver.wsgi:app"]
        flags = (f"--data-dir={self.data}", f"--secure-port={port}", f"--token-auth-file={self.tokens}")
        pairs = (flag.removeprefix("--").partition("=") for flag in (*flags, *self._arguments))
        ours = {f"APISERVER_{name.replace('-', '_').upper()}": value for name, _, value in pairs}
        return command, {**settings, **ours, **self._environment}

    def _wait_for_url(self, begin: int, deadline: float) -> str:
        while True:
            found = _LINE.search(self.log.read_bytes()[begin:].decode(errors="replace"))
            if found:
                return found[0]
            self._check(deadline)

    def _ready(self) -> bool:
        try:
            return self.client.get("/readyz").status_code == 200
        except httpx.HTTPError:
            return False

    def _check(self, deadline: float) -> None:
        assert self._process is not None
        if self._process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"the server did not start:\n{self.log.read_text()[-4000:]}")
        time.sleep(0.02)

    @property
    def pid(self) -> int:
        """Of the main process (gunicorn's arbiter)."""
        assert self._process is not None
        return self._process.pid

    def workers(self) -> list[int]:
        """The pids of the worker processes."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text()
        return [int(pid) for pid in children.split()]

    def stop(self, sig: int = signal.SIGTERM) -> int:
        """Send ``sig`` and wait for the end; returns the exit status."""
        if self._process is None:
            return 0
        if self._process.poll() is None:
            self._process.send_signal(sig)
        try:
            return self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(STOP_SECONDS)
            raise
        finally:
            self._process = None

    def kill(self) -> None:
        """Kill everything at once, as a crash of the machine's process table would."""
        assert self._process is not None
        pids = [self.pid, *self.workers()]
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        self._process.wait(STOP_SECONDS)
        self._process = None
        while any(_lives(pid) for pid in pids):  # its sockets are open until then
            time.sleep(0.005)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, ex: BaseException | None, tb: TracebackType | None) -> None:
        if self._client is not None:
            self._client.close()
        self.stop()

    # -- requests -------------------------------------------------------------

    @property
    def ca(self) -> Path:
        """The CA certificate."""
        return self.data / "pki" / "ca.crt"

    @property
    def kubeconfig(self) -> Path:
        """For kubectl, as administrator."""
        return self.data / "admin.kubeconfig"

    @property
    def context(self) -> ssl.SSLContext:
        """Verifies this server."""
        return ssl.create_default_context(cafile=str(self.ca))

    def connect(self, token: str | None = "admin-token", **options: Any) -> httpx.Client:
        """A client of this server; the caller closes it."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        options = {"timeout": 30.0, **options}
        return httpx.Client(base_url=self.url, verify=self.context, headers=headers, **options)

    @property
    def client(self) -> httpx.Client:
        """A client as administrator."""
        if self._client is None:
            self._client = self.connect()
        return self._client

    def get(self, path: str, **options: Any) -> httpx.Response:
        """GET as administrator."""
        return self.client.get(path, **options)

    def post(self, path: str, body: Any, **options: Any) -> httpx.Response:
        """POST JSON as administrator."""
        return self.client.post(path, json=body, **options)

    def put(self, path: str, body: Any, **options: Any) -> httpx.Response:
        """PUT JSON as administrator."""
        return self.client.put(path, json=body, **options)

    def patch(self, path: str, body: Any, kind: str = "merge", **options: Any) -> httpx.Response:
        """PATCH as administrator; ``kind`` is merge, json, strategic or apply."""
        media = {
            "merge": "application/merge-patch+json",
            "json": "application/json-patch+json",
            "strategic": "application/strategic-merge-patch+json",
            "apply": "application/apply-patch+yaml",
        }[kind]
        return self.client.patch(path, content=json.dumps(body), headers={"Content-Type": media}, **options)

    def delete(self, path: str, body: Any = None, **options: Any) -> httpx.Response:
        """DELETE as administrator."""
        return self.client.request("DELETE", path, json=body, **options)

    def watch(self, path: str, **query: Any) -> Iterator[dict[str, Any]]:
        """The events of a watch, until the server ends it."""
        params = {"watch": "true", "timeoutSeconds": 20, **query}
        with self.connect(timeout=httpx.Timeout(30.0)) as client, client.stream("GET", path, params=params) as answer:
            assert answer.status_code == 200, answer.read()
            for line in answer.iter_lines():
                yield json.loads(line)

    def namespace(self, name: str) -> str:
        """Make a namespace; returns its name."""
        answer = self.post("/api/v1/namespaces", {"metadata": {"name": name}})
        assert answer.status_code in (201, 409), answer.text
        return name


class GunicornProcess(ServerProcess):
    """A server under a gunicorn that is started by hand.

    :param scripts: the folder in which this gunicorn is.
    :param settings: by environment variable.
    """

    def __init__(self, directory: Path, scripts: Path, settings: Mapping[str, str] | None = None) -> None:
        super().__init__(directory, environment=settings)
        self._scripts = scripts

    def _command(self, port: str) -> tuple[list[str], dict[str, str]]:
        return self._gunicorn(self._scripts, port, {})
