"""Fixtures that all tests share: a real server on each store, namespaces of one's own, a real etcd."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.etcd_server import EtcdServer
from tests.server import ServerProcess

STORES = ("sqlite", "etcd")
_numbers = itertools.count()


@pytest.fixture(scope="session")
def etcd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EtcdServer]:
    """One etcd for the tests of this process; each server in it has a prefix of its own."""
    with EtcdServer(tmp_path_factory.mktemp("etcd")) as server:
        yield server


def store_arguments(store: str, request: pytest.FixtureRequest) -> list[str]:
    """The flags that choose a store."""
    if store == "sqlite":
        return []
    etcd: EtcdServer = request.getfixturevalue("etcd")
    return [f"--etcd-servers={etcd.endpoint}", f"--etcd-prefix=/test-{os.getpid()}-{next(_numbers)}"]


@pytest.fixture(params=STORES, scope="session")
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A running server, once for each store; tests use namespaces of their own in it."""
    with ServerProcess(tmp_path_factory.mktemp("server"), *store_arguments(request.param, request)) as running:
        yield running


@pytest.fixture
def namespace(server: ServerProcess) -> str:
    """A new namespace in ``server``."""
    return server.namespace(f"test-{os.getpid()}-{next(_numbers)}")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder; short, since it holds sockets."""
    return tmp_path
