"""Start gunicorn with a toy application, and talk to it over plain sockets."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

ROOT = Path(__file__).resolve().parents[2]
OURS = "apiserver.serving.worker.HubWorker"


@dataclass
class Answer:
    """One response; ``closed`` tells that the server ended the connection after it."""

    status: int
    headers: dict[str, str]
    body: bytes
    closed: bool = False


class Client:
    """A socket to the server, with HTTP read by hand."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock, self.data = sock, b""
        sock.settimeout(10)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, ex: BaseException | None, tb: TracebackType | None) -> None:
        self.sock.close()

    def send(self, data: bytes) -> None:
        self.sock.sendall(data)

    def get(self, path: str, *headers: str) -> Answer:
        lines = "".join(f"{line}\r\n" for line in ("Host: localhost", *headers))
        self.send(f"GET {path} HTTP/1.1\r\n{lines}\r\n".encode())
        return self.answer()

    def more(self) -> bytes:
        try:
            data = self.sock.recv(65536)
        except (ConnectionError, ssl.SSLEOFError):
            data = b""
        self.data += data
        return data

    def until(self, end: bytes) -> bytes:
        """Everything up to and with ``end``."""
        while end not in self.data:
            if not self.more():
                raise EOFError(self.data)
        found, _, self.data = self.data.partition(end)
        return found + end

    def exactly(self, size: int) -> bytes:
        while len(self.data) < size:
            if not self.more():
                raise EOFError(self.data)
        found, self.data = self.data[:size], self.data[size:]
        return found

    def chunk(self) -> bytes:
        size = int(self.until(b"\r\n").strip(), 16)
        return self.exactly(size + 2)[:-2]

    def head(self) -> Answer:
        first, *lines = self.until(b"\r\n\r\n").decode("latin-1").split("\r\n")[:-2]
        found = re.fullmatch(r"HTTP/1\.\d (\d{3}) .*", first)
        assert found, first
        fields = (line.split(": ", 1) for line in lines)
        return Answer(int(found[1]), {name.lower(): value for name, value in fields}, b"")

    def answer(self, method: str = "GET") -> Answer:
        answer = self.head()
        if answer.status == 100:
            return answer
        if method == "HEAD" or answer.status in (204, 304):
            pass
        elif "content-length" in answer.headers:
            answer.body = self.exactly(int(answer.headers["content-length"]))
        elif answer.headers.get("transfer-encoding") == "chunked":
            while chunk := self.chunk():
                answer.body += chunk
        else:
            answer.body, answer.closed = self.rest(), True
        return answer

    def rest(self, seconds: float = 10) -> bytes:
        """All until the server closes, which it must."""
        self.sock.settimeout(seconds)
        while self.more():
            pass
        found, self.data = self.data, b""
        return found

    def closed(self, seconds: float = 10) -> bool:
        """Whether the server closes the connection within ``seconds`` without saying anything more."""
        self.sock.settimeout(seconds)
        try:
            return not self.data and not self.more()
        except TimeoutError:
            return False


class Running:
    """A gunicorn with one worker of ``worker`` class that serves ``app`` on a free port."""

    def __init__(
        self,
        folder: Path,
        worker: str = OURS,
        app: str = "app",
        environment: dict[str, str] | None = None,
        **settings: Any,
    ) -> None:
        self.settings = {"threads": 8, "keep_alive": 75, "graceful_timeout": 10, **settings}
        self.log = folder / f"gunicorn-{time.monotonic_ns()}.log"
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.port = self.listener.getsockname()[1]
        flags = [f"--{name.replace('_', '-')}={value}" for name, value in self.settings.items()]
        command = [
            sys.executable, "-m", "gunicorn", f"tests.serving.apps:{app}", "--no-control-socket",
            f"--worker-class={worker}", f"--bind=fd://{self.listener.fileno()}", *flags,
        ]  # fmt: skip
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                command, cwd=ROOT, stdout=log, stderr=log, pass_fds=[self.listener.fileno()],
                env={**os.environ, "PYTHONPATH": str(ROOT), **(environment or {})},
            )  # fmt: skip
        self.listener.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, ex: BaseException | None, tb: TracebackType | None) -> None:
        if self.process.poll() is None:
            children = self.children()
            self.process.send_signal(signal.SIGQUIT)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                for pid in [self.process.pid, *children]:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                self.process.wait(10)

    def children(self) -> list[int]:
        text = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return [int(pid) for pid in text.split()]

    def connect(self) -> Client:
        return Client(socket.create_connection(("127.0.0.1", self.port), timeout=10))

    def connect_tls(self, context: ssl.SSLContext, session: ssl.SSLSession | None = None) -> Client:
        sock = socket.create_connection(("127.0.0.1", self.port), timeout=10)
        return Client(context.wrap_socket(sock, server_hostname="localhost", session=session))

    def get(self, path: str) -> Answer:
        with self.connect() as client:
            return client.get(path)

    def wait_for(self, condition: Any, seconds: float = 10) -> None:
        """Wait until ``condition()`` is true."""
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.02)
