"""A whole server inside a test: real filters, registry and store, no process, no socket, no TLS.

    from apiserver.testing.server import LocalServer

    def test_parties_need_a_host():
        with LocalServer(parties=apiserver_parties) as server:
            answer = server.post("/apis/party.example.com/v1/namespaces/default/parties", {"metadata": {"name": "x"}})
            assert answer.status == 422
            assert answer.json["message"].endswith("spec: Required value")

Plugins are modules or objects, by plugin name; they need not be installed. All that is installed is there, too.
"""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self
from urllib.parse import unquote_to_bytes

from apiserver.api.auth import MASTERS, Authenticator, User
from apiserver.api.request import Request
from apiserver.configure import configure
from apiserver.markers import hookimpl
from apiserver.opening import open_storage
from apiserver.ordering import Plugin
from apiserver.server import Server, build

START_SECONDS = 30.0
ADMIN = User("admin", groups=(MASTERS,))
_USER = "apiserver.testing.user"

MEDIA = {
    "json": "application/json-patch+json",
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
}
"""The content types of patches."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server answered. ``headers`` are by lower-case name, several of one name joined by ``, ``."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body, decoded."""
        return json.loads(self.body)

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode()


class _Authentication:
    """Knows the users that tests say they are."""

    def authenticate(self, request: Request) -> User | None:
        """The user of :meth:`LocalServer.request`."""
        user: User | None = request.environ.get(_USER)
        return user

    @hookimpl(priority=1)
    def apiserver_authenticator(self) -> Authenticator:
        """First of all, so that no other is asked."""
        return self


class LocalServer:
    """A context manager: built and started on entering, once ``/readyz`` answers 200.

    :param flags: of ``apiserver serve``, such as ``--authorization-mode=RBAC``.
    :param plugins: modules or objects by plugin name, underscores for hyphens.
    :raises PluginError: / :raises ConfigError: on entering, as ``apiserver serve`` would end with them.
    """

    def __init__(self, *flags: str, **plugins: object) -> None:
        self._flags = flags
        named = {"testing": _Authentication(), **{name.replace("_", "-"): obj for name, obj in plugins.items()}}
        self._plugins = [Plugin(name, obj, target=str(getattr(obj, "__name__", ""))) for name, obj in named.items()]
        self._failed: list[str] = []

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory(prefix="apiserver-")
        with contextlib.ExitStack() as if_it_fails:
            if_it_fails.callback(self._folder.cleanup)
            # It does not listen, so it has no address to tell.
            quiet = ("--etcd-compaction-interval=0", "--endpoint-reconciler-type=none")
            flags = (f"--data-dir={self._folder.name}", *quiet, *self._flags)
            setup = configure(flags, {}, self._plugins)
            storage = open_storage(setup)
            if_it_fails.callback(storage.close)
            self.server: Server = build(setup, storage)
            if_it_fails.pop_all()
        # A worker process would end; a test fails.
        self.server.lifecycle._fatal = self._failed.append
        self.server.start()
        try:
            self._wait_until_ready()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, ex: BaseException | None, tb: TracebackType | None) -> None:
        self._stop()

    def _wait_until_ready(self) -> None:
        ends = time.monotonic() + START_SECONDS
        while (answer := self.get("/readyz?verbose")).status != 200 or self._failed:
            if self._failed or time.monotonic() > ends:
                raise RuntimeError("\n".join(["the server did not start", *self._failed, answer.text]))
            time.sleep(0.01)

    def _stop(self) -> None:
        self.server.begin_shutdown()
        self.server.close()
        self._folder.cleanup()

    # -- requests -----------------------------------------------------------------------------------------------------

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        user: User | None = ADMIN,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """One request through all filters.

        :param path: with its query.
        :param body: bytes as they are, anything else as JSON; None = no body.
        :param user: who asks; None = nobody, so that authenticators look at ``headers``.
        """
        status, found, parts = self._call(method, path, body, user, headers)
        try:
            content = b"".join(parts)
        finally:
            getattr(parts, "close", _nothing)()
        joined: dict[str, str] = {}
        for key, value in found:
            name = key.lower()
            joined[name] = f"{joined[name]}, {value}" if name in joined else value
        return Answer(int(status[0][:3]), joined, content)

    def get(self, path: str, **options: Any) -> Answer:
        """GET; ``options`` as for :meth:`request`."""
        return self.request("GET", path, **options)

    def post(self, path: str, body: Any, **options: Any) -> Answer:
        """POST."""
        return self.request("POST", path, body, **options)

    def put(self, path: str, body: Any, **options: Any) -> Answer:
        """PUT."""
        return self.request("PUT", path, body, **options)

    def patch(self, path: str, body: Any, kind: str = "merge", **options: Any) -> Answer:
        """PATCH; ``kind`` is json, merge, strategic or apply."""
        headers = {"Content-Type": MEDIA[kind], **(options.pop("headers", None) or {})}
        return self.request("PATCH", path, body, headers=headers, **options)

    def delete(self, path: str, body: Any = None, **options: Any) -> Answer:
        """DELETE."""
        return self.request("DELETE", path, body, **options)

    def watch(self, path: str, user: User | None = ADMIN) -> Iterator[dict[str, Any]]:
        """The events of a watch, until the server ends it or nobody asks for more.

        :param path: with the query of the watch, such as ``/api/v1/pods?watch=true&timeoutSeconds=5``.
        """
        status, _, parts = self._call("GET", path, None, user, None)
        try:
            waiting = b""
            for part in parts:
                assert status[0].startswith("200"), part
                *lines, waiting = (waiting + part).split(b"\n")
                yield from map(json.loads, lines)
        finally:
            getattr(parts, "close", _nothing)()

    def _call(
        self, method: str, path: str, body: Any, user: User | None, headers: Mapping[str, str] | None
    ) -> tuple[list[str], Sequence[tuple[str, str]], Any]:
        content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        target, _, query = path.partition("?")
        environ: dict[str, Any] = {
            "REQUEST_METHOD": method,
            "SCRIPT_NAME": "",
            "PATH_INFO": unquote_to_bytes(target).decode("latin-1"),
            "QUERY_STRING": query,
            "RAW_URI": path,
            "SERVER_PROTOCOL": "HTTP/1.1",
            "SERVER_NAME": "localhost",
            "SERVER_PORT": "443",
            "REMOTE_ADDR": "127.0.0.1",
            "REMOTE_PORT": "50000",
            "HTTP_HOST": "localhost",
            "wsgi.url_scheme": "https",
            "wsgi.input": io.BytesIO(content),
            "wsgi.errors": io.StringIO(),
            "wsgi.version": (1, 0),
            "wsgi.multithread": True,
            "wsgi.multiprocess": False,
            "wsgi.run_once": False,
            _USER: user,
        }
        if body is not None:
            environ["CONTENT_LENGTH"] = str(len(content))
            environ["CONTENT_TYPE"] = "application/json"
        for name, value in (headers or {}).items():
            key = name.upper().replace("-", "_")
            environ[key if key == "CONTENT_TYPE" else f"HTTP_{key}"] = value
        status: list[str] = []
        found: list[tuple[str, str]] = []

        def start_response(line: str, lines: list[tuple[str, str]], _exc_info: Any = None) -> Callable[[bytes], None]:
            status[:], found[:] = [line], lines
            return _nothing

        return status, found, self.server(environ, start_response)


def _nothing(*_args: Any) -> None:
    """Closes what needs no closing."""
