"""The paths of every server that are no resources: health, version, metrics, OpenAPI and the index.

Called once by :mod:`apiserver.server` while the server is built.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from apiserver.api.health import HealthCheck
from apiserver.api.names import GroupResource
from apiserver.api.server import Route
from apiserver.handlers import health, index, metrics, version
from apiserver.handlers.openapi import OpenAPI

if TYPE_CHECKING:
    from apiserver.server import Server

LAST = "shutdown"
"""The check that stands after all others."""


def standard_routes(server: Server) -> list[Route]:
    """The routes, for a server whose resources are installed."""
    minor = server.minor
    openapi = OpenAPI(server.endpoints, minor, version.git_version(minor))
    endpoints = _health(server)
    return [
        Route("/", index.app(lambda: _paths(server, endpoints)), methods=("GET",), listed=False),
        Route("/version", version.app(minor), methods=("GET",)),
        Route("/version/", version.app(minor), methods=("GET",), listed=False),
        Route("/metrics", metrics.app(lambda: _objects(server))),
        *(Route(f"/{one.endpoint}", one.all) for one in endpoints),
        *(Route(f"/{one.endpoint}/", one.one, prefix=True, listed=False) for one in endpoints),
        *openapi.routes(),
    ]


def _health(server: Server) -> list[health.Health]:
    def checks() -> list[HealthCheck]:
        found = [*server.health_checks, *server.lifecycle.hook_checks()]
        return sorted(found, key=lambda check: check.name == LAST)

    lifecycle = server.lifecycle
    return [
        health.Health(endpoint, checks, *([lifecycle.been_ready] if endpoint == "readyz" else ()))
        for endpoint in health.ENDPOINTS
    ]


def _paths(server: Server, endpoints: Sequence[health.Health]) -> Iterator[str]:
    for delegate in server.delegates():
        yield from delegate.paths()
    for endpoint in endpoints:
        yield from endpoint.paths()


def _objects(server: Server) -> dict[GroupResource, int]:
    return {
        store.resource.group_resource: len(store.cache) for store in server.installation.stores() if store.cache.ready
    }
