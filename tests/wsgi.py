"""Call WSGI apps and build filters without a server, for tests."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import orjson

from apiserver.api.auth import Attributes, Decision, User
from apiserver.api.errors import Unauthorized
from apiserver.api.request import Request
from apiserver.api.server import WsgiApp
from apiserver.api.settings import Config, Setting


@dataclass
class Answer:
    """What an app answered: ``body`` is what it returned, joined; ``result`` the very object."""

    code: int
    headers: list[tuple[str, str]]
    body: bytes
    result: Any
    request: Request

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        return orjson.loads(self.body)

    def header(self, name: str) -> str | None:
        """The values of a header joined, None without it."""
        values = [value for key, value in self.headers if key.lower() == name.lower()]
        return ", ".join(values) if values else None

    def all(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key.lower() == name.lower()]


def environ(path: str, method: str = "GET", headers: Mapping[str, str] | None = None, **more: Any) -> dict[str, Any]:
    """The environ of a request. ``path`` may have a query."""
    target, _, query = path.partition("?")
    made = {
        "REQUEST_METHOD": method, "PATH_INFO": target, "QUERY_STRING": query, "RAW_URI": path, "SCRIPT_NAME": "",
        "SERVER_PROTOCOL": "HTTP/1.1", "wsgi.input": io.BytesIO(), "wsgi.url_scheme": "https",
        "REMOTE_ADDR": "127.0.0.1", "REMOTE_PORT": "50000",
    }  # fmt: skip
    for name, value in (headers or {}).items():
        made["HTTP_" + name.upper().replace("-", "_")] = value
    return {**made, **more}


def call(app: WsgiApp, path: str, method: str = "GET", headers: Mapping[str, str] | None = None, **more: Any) -> Answer:
    """Call ``app`` as a WSGI server does: the last start_response counts, the body is read, then closed."""
    env = environ(path, method, headers, **more)
    started: list[tuple[str, list[tuple[str, str]]]] = []

    def start_response(status: str, sent: list[tuple[str, str]], exc_info: Any = None) -> None:
        assert not started or exc_info, "start_response called twice without exc_info"
        started.append((status, list(sent)))

    result = app(env, start_response)
    body = b"".join(result) if isinstance(result, (list, tuple)) or hasattr(result, "close") else b""
    if hasattr(result, "close"):
        result.close()
    status, sent = started[-1]
    return Answer(int(status[:3]), sent, body, result, Request.of(env))


def answering(body: bytes = b"ok", status: str = "200 OK", *headers: tuple[str, str]) -> WsgiApp:
    """An app that always answers the same."""

    def app(_environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        start_response(status, [("Content-Type", "text/plain"), ("Content-Length", str(len(body))), *headers])
        return [body]

    return app


class FakeLifecycle:
    """Signals to be set by hand; counts requests."""

    def __init__(self) -> None:
        self.signals = {"MuxAndDiscoveryComplete", "HasBeenReady"}
        self.draining = False
        self.running = 0

    def is_set(self, signal: str) -> bool:
        return signal in self.signals

    def request_started(self) -> bool:
        if not self.draining:
            self.running += 1
        return not self.draining

    def request_finished(self) -> None:
        self.running -= 1

    watch_started = request_started
    watch_finished = request_finished


@dataclass
class FakeServer:
    """As much of a server as filters ask for."""

    config: Config
    lifecycle: FakeLifecycle = field(default_factory=FakeLifecycle)
    user: User | None = field(default_factory=lambda: User("alice", groups=("team-a",)))
    decide: Callable[[Attributes], tuple[Decision, str]] = lambda _attributes: (Decision.ALLOW, "")
    audited: bool = False
    events: list[Mapping[str, Any]] = field(default_factory=list)
    resources: tuple[Any, ...] = ()

    def authenticate(self, request: Request) -> User | None:
        if request.environ.get("HTTP_AUTHORIZATION") == "Bearer bad":
            raise Unauthorized
        return self.user

    def resource(self, wanted: Any) -> Any:
        return next((r for r in self.resources if (r.group, r.version, r.plural) == tuple(wanted)), None)

    def authorize(self, attributes: Attributes) -> tuple[Decision, str]:
        return self.decide(attributes)

    def audit(self, event: Mapping[str, Any]) -> None:
        self.events.append(event)


def settings(*plugins: ModuleType) -> Iterable[Setting]:
    """The settings that plugins declare."""
    for plugin in plugins:
        if hasattr(plugin, "apiserver_settings"):
            yield from plugin.apiserver_settings()


def server(*plugins: ModuleType, **values: Any) -> FakeServer:
    """A server with the settings of the core and of ``plugins``; ``values`` are given, underscores for hyphens."""
    from apiserver.settings import CORE

    given = {name.replace("_", "-"): value for name, value in values.items()}
    initial = {setting.name: setting.initial for setting in (*CORE, *settings(*plugins))}
    return FakeServer(Config({**initial, **given}, dict.fromkeys(given, "flag")))


def chain(app: WsgiApp, *plugins: ModuleType, on: FakeServer | None = None) -> WsgiApp:
    """``app`` wrapped in the filters of ``plugins``, the first outermost, behind audit-init."""
    from apiserver_plugins.filters import audit_init

    on = on or server(*plugins)
    for plugin in reversed((audit_init, *plugins)):
        hook = plugin.apiserver_filter
        made = hook(on) if hook.__code__.co_argcount else hook()
        if made is not None:
            app = made(app)
    return app
