"""``/healthz``, ``/livez`` and ``/readyz``: all checks at once, or one by its name.

The checks come from the life cycle, from post-start hooks and from plugins; :mod:`apiserver.handlers.routes` puts the
apps on their paths. What went wrong is in the log: who may ask for health need not know it.

COMPAT: k8s.io/apiserver/pkg/server/healthz handleRootHealth, adaptCheckToHandler
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from apiserver.api import logs, metrics
from apiserver.api.errors import PlainError, status_line
from apiserver.api.health import HealthCheck
from apiserver.api.request import Request

LOG = logging.getLogger(__name__)
ENDPOINTS = ("healthz", "livez", "readyz")
TEXT = ("Content-Type", "text/plain; charset=utf-8")
NOSNIFF = ("X-Content-Type-Options", "nosniff")
NOT_FOUND = PlainError(404, "404 page not found")


class Health:
    """The WSGI apps of one endpoint.

    :param endpoint: "healthz", "livez" or "readyz".
    :param checks: all checks there are at the moment, of every endpoint.
    :param passed: called each time when all checks of this endpoint passed.
    """

    def __init__(
        self,
        endpoint: str,
        checks: Callable[[], Iterable[HealthCheck]],
        passed: Callable[[], None] = lambda: None,
    ) -> None:
        self.endpoint = endpoint
        self._checks = checks
        self._passed = passed

    def checks(self) -> Sequence[HealthCheck]:
        """The checks of this endpoint."""
        return [check for check in self._checks() if self.endpoint in check.endpoints]

    def paths(self) -> list[str]:
        """The paths that there are."""
        return [f"/{self.endpoint}", *(f"/{self.endpoint}/{check.name}" for check in self.checks())]

    def all(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """The app of the endpoint itself."""
        query = Request.of(environ).query
        excluded = dict.fromkeys(name for name in query.get("exclude", ()) if name)
        lines, problems = [], {}
        for check in self.checks():
            if check.name in excluded:
                del excluded[check.name]
                lines.append(f"[+]{check.name} excluded: ok")
            elif (problem := self._run(check)) is not None:
                problems[check.name] = problem
                lines.append(f"[-]{check.name} failed: reason withheld")
            else:
                lines.append(f"[+]{check.name} ok")
        if excluded:
            names = ", ".join(f'"{name}"' for name in excluded)
            lines.append(f"warn: some health checks cannot be excluded: no matches for {names}")
        if problems:
            reasons = "\n".join(f"[-]{name} failed: {problem}" for name, problem in problems.items())
            logs.info(LOG, f"{','.join(problems)} check failed: {self.endpoint}", v=2, reasons=reasons)
            lines.append(f"{self.endpoint} check failed")
            return PlainError(500, "\n".join(lines))(environ, start_response)
        self._passed()
        lines.append(f"{self.endpoint} check passed")
        body = "".join(f"{line}\n" for line in lines) if "verbose" in query else "ok"
        return _answer(body, environ, start_response, NOSNIFF)

    def one(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """The app of the paths below the endpoint."""
        name = environ["PATH_INFO"].removeprefix(f"/{self.endpoint}/")
        check = next((check for check in self.checks() if check.name == name), None)
        if check is None:
            return NOT_FOUND(environ, start_response)
        problem = self._run(check)
        if problem is not None:
            return PlainError(500, f"internal server error: {problem}")(environ, start_response)
        return _answer("ok", environ, start_response)

    def _run(self, check: HealthCheck) -> str | None:
        """What is wrong, None when all is well."""
        try:
            check.check()
        except Exception as problem:
            metrics.healthcheck.labels(check.name, self.endpoint).set(0)
            metrics.healthchecks_total.labels(check.name, self.endpoint, "error").inc()
            return str(problem) or type(problem).__name__
        metrics.healthcheck.labels(check.name, self.endpoint).set(1)
        metrics.healthchecks_total.labels(check.name, self.endpoint, "success").inc()
        return None


def _answer(text: str, environ: dict[str, Any], start_response: Any, *headers: tuple[str, str]) -> Iterable[bytes]:
    body = text.encode()
    start_response(status_line(200), [TEXT, *headers, ("Content-Length", str(len(body)))])
    return [body if environ["REQUEST_METHOD"] != "HEAD" else b""]
