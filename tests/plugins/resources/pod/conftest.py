"""A server inside the tests, with pods in it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from apiserver.testing.server import LocalServer
from tests.plugins.resources.pod.cluster import Cluster, connecters

_numbers = itertools.count()


@pytest.fixture(scope="session")
def running() -> Iterator[LocalServer]:
    """A server without kubelets, whose plugin serves ``pods/exec`` and ``pods/log`` in the namespace ``served``."""
    with LocalServer("--disable-admission-plugins=ServiceAccount", connecters=connecters) as server:
        yield server


@pytest.fixture
def cluster(running: LocalServer) -> Cluster:
    """A namespace of its own."""
    return Cluster(running, f"test-{next(_numbers)}")


@pytest.fixture
def unserved(running: LocalServer, monkeypatch: pytest.MonkeyPatch) -> Any:
    """As if no plugin served connections."""
    monkeypatch.setattr(running.server, "_connecters", {})
    return running
