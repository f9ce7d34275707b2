"""Measures each request: how many, how long, how large, how many long-running ones are open.

At ``-v=6`` it also logs what was asked for and how long the filters and admission plugins took.

COMPAT: endpoints/filters WithLatencyTrackers; endpoints/metrics MonitorRequest, which upstream calls for routes that
exist only, so that nobody can make up label values.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from typing import Any

from apiserver import hookimpl
from apiserver.api import logs, metrics
from apiserver.api.names import GroupVersionResource
from apiserver.api.request import ENVIRON_KEY, Request
from apiserver.api.requestinfo import reported_verb, scope
from apiserver.api.server import Filter, Server, WsgiApp

LOG = logging.getLogger(__name__)
VERBOSITY = 6
DECISION = "authorization.k8s.io/decision"
PATHS = frozenset(("/healthz", "/livez", "/readyz", "/metrics", "/version"))
"""Paths that are no resources and have a series of their own."""
REMEMBERED = 10_000
"""Kinds of requests whose series are found without looking at the resource."""
VERBS = frozenset((
    "GET", "LIST", "WATCH", "POST", "PUT", "PATCH", "APPLY", "DELETE", "DELETECOLLECTION", "CONNECT", "PROXY",
))  # fmt: skip


class Recorder:
    """Turns what is known about a request at its end into counts."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._series: dict[tuple[str | int, ...], metrics.RequestSeries] = {}

    def labels(self, request: Request) -> metrics.Labels | None:
        """The labels of a request; None for a route that does not exist."""
        info = request.info
        if info is None:
            return None
        verb = reported_verb(info, request.method, request.environ.get("CONTENT_TYPE", ""))
        verb = verb if verb in VERBS else "other"
        if not info.is_resource:
            return metrics.Labels(verb, "", "", "", info.path, "") if info.path in PATHS else None
        resource = self._server.resource(GroupVersionResource(info.group, info.version, info.resource))
        if resource is None:
            return None
        if info.subresource and all(info.subresource != declared.name for declared in resource.subresources):
            return None
        return metrics.Labels(verb, info.group, info.version, info.resource, info.subresource, scope(info))

    def end(self, request: Request) -> None:
        """Count a request that is over.

        COMPAT: who was refused by authentication or authorization leaves no trace here
        """
        info, code = request.info, request.status_code
        if info is None or not code or (code in (401, 403) and request.annotations.get(DECISION) != "allow"):
            return
        environ = request.environ
        dry_run = _dry_run(request) if "dryRun" in environ["QUERY_STRING"] else ""
        more = environ.get("CONTENT_TYPE", "") if info.verb == "patch" else "" if info.is_resource else info.path
        key = (
            environ["REQUEST_METHOD"], info.verb, info.group, info.version, info.resource, info.subresource,
            scope(info), more, dry_run, code,
        )  # fmt: skip
        found = self._series.get(key)
        if found is None:
            labels = self.labels(request)
            if labels is None:
                # Not remembered: there is no end of what does not exist, and it may come to exist.
                return
            found = metrics.requests.series(labels, dry_run, code)
            if len(self._series) < REMEMBERED:
                self._series[key] = found
        found.record(time.monotonic() - request.received, request.response_size)

    def begin_long_running(self, request: Request) -> None:
        """Count an open long-running request until it ends."""
        labels = self.labels(request)
        if labels is not None:
            gauge = metrics.longrunning_requests.labels(*labels, metrics.COMPONENT)
            gauge.inc()
            request.on_end.append(lambda _request: gauge.dec())


def _dry_run(request: Request) -> str:
    """COMPAT: endpoints/metrics cleanDryRun"""
    values = request.query.get("dryRun", [])
    return ",".join(sorted(set(values))) if all(value == "All" for value in values) else "invalid"


def _log(request: Request) -> None:
    times = {stage: f"{seconds * 1e6:.0f}µs" for stage, seconds in (request.times or {}).items()}
    logs.info(LOG, "Served", v=VERBOSITY, auditID=request.audit_id, RequestInfo=request.info, times=times)


@hookimpl(priority=700, requires=["audit-init", "request-received", "request-info"])
def apiserver_filter(server: Server) -> Filter:
    """The filter."""
    recorder = Recorder(server)
    end, begin_long_running, level = recorder.end, recorder.begin_long_running, logs.level(VERBOSITY)

    def wrap(inner: WsgiApp) -> WsgiApp:
        def app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
            request = environ[ENVIRON_KEY]
            request.on_end.append(end)
            if request.info.long_running:
                begin_long_running(request)
            if LOG.isEnabledFor(level):
                request.times = {}
                request.on_end.append(_log)
            return inner(environ, start_response)

        return app

    return wrap
