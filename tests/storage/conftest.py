"""Stores for the tests of this folder: files of SQLite, and one real etcd for the whole run."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from apiserver.api.storage import Storage
from apiserver.storage import etcd, sqlite
from tests.etcd_server import EtcdServer

for name in ("storage_contract", "storage_watch_contract", "watch_reader"):
    pytest.register_assert_rewrite(f"apiserver.testing.{name}")


@pytest.fixture(scope="session")
def etcd_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EtcdServer]:
    """A running etcd that tests share; who stops it starts one of his own."""
    with EtcdServer(tmp_path_factory.mktemp("etcd")) as server:
        yield server


@pytest.fixture(params=["sqlite", "etcd"])
def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Storage]]:
    """Opens instances on one store, of each driver in turn; they are closed at the end."""
    url = f"sqlite://{tmp_path}/store.db"
    open_storage: Callable[..., Storage] = sqlite.open_storage
    if request.param == "etcd":
        url, open_storage = request.getfixturevalue("etcd_server").url, etcd.open_storage
    with contextlib.ExitStack() as opened:
        yield lambda: opened.enter_context(contextlib.closing(open_storage(url, {})))
