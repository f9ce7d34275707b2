"""The handlers over HTTP: on each store with our worker class, and with gunicorn's gthread."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.conftest import STORES
from tests.server import GTHREAD, ServerProcess


@pytest.fixture(params=(*STORES, GTHREAD), scope="session")
def server(request: pytest.FixtureRequest, servers: Callable[[str], ServerProcess]) -> ServerProcess:
    """A running server; tests use namespaces of their own in it."""
    return servers(request.param)


@pytest.fixture
def configmaps(namespace: str) -> str:
    """The path of the ConfigMaps of a new namespace, one of which is there by itself."""
    return f"/api/v1/namespaces/{namespace}/configmaps"


@pytest.fixture
def secrets(namespace: str) -> str:
    """The path of the Secrets of a new namespace, of which there are none."""
    return f"/api/v1/namespaces/{namespace}/secrets"


@pytest.fixture
def deployments(namespace: str) -> str:
    """The path of the Deployments of a new namespace."""
    return f"/apis/apps/v1/namespaces/{namespace}/deployments"


@pytest.fixture
def leases(namespace: str) -> str:
    """The path of the Leases of a new namespace."""
    return f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"
