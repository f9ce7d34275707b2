"""Fixtures that all tests share: a real server on each store, namespaces of one's own, a real etcd."""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests import server as server_module
from tests.etcd_server import EtcdServer
from tests.server import GTHREAD, GTHREAD_SETTINGS, OURS, GunicornProcess, ServerProcess

STORES = ("sqlite", "etcd")
_numbers = itertools.count()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--worker-class", choices=(OURS, GTHREAD), default=OURS, help="gunicorn's worker class of servers under test"
    )


def pytest_configure(config: pytest.Config) -> None:
    server_module.worker_class = config.getoption("--worker-class")
    config.addinivalue_line("markers", "hub: about the phases of a graceful stop, which only our worker class has")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--worker-class") != OURS:
        ours = [item for item in items if item.get_closest_marker("hub")]
        config.hook.pytest_deselected(items=ours)
        items[:] = [item for item in items if item not in set(ours)]


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


@pytest.fixture(scope="session")
def servers(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], ServerProcess]]:
    """Running servers by kind: a store, or ``gthread``. Each is started when it is first asked for."""
    with contextlib.ExitStack() as stack:

        def start(kind: str) -> ServerProcess:
            folder = tmp_path_factory.mktemp("server")
            if kind == GTHREAD:
                return stack.enter_context(GunicornProcess(folder, Path(sys.executable).parent, GTHREAD_SETTINGS))
            return stack.enter_context(ServerProcess(folder, *store_arguments(kind, request)))

        yield functools.cache(start)


@pytest.fixture(params=STORES, scope="session")
def server(request: pytest.FixtureRequest, servers: Callable[[str], ServerProcess]) -> ServerProcess:
    """A running server, once for each store; tests use namespaces of their own in it."""
    return servers(request.param)


@pytest.fixture
def namespace(server: ServerProcess) -> str:
    """A new namespace in ``server``."""
    return server.namespace(f"test-{os.getpid()}-{next(_numbers)}")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder; short, since it holds sockets."""
    return tmp_path
