"""Both drivers pass the contract that is published for drivers."""

from __future__ import annotations

from pathlib import Path

import pytest

from apiserver.storage import etcd, sqlite
from apiserver.testing.storage_contract import OpenStorage, StorageContract
from tests.etcd_server import EtcdServer


class TestSqlite(StorageContract):
    @pytest.fixture
    def open_storage(self, tmp_path: Path) -> OpenStorage:
        return lambda: sqlite.open_storage(f"sqlite://{tmp_path}/store.db", {})


class TestEtcd(StorageContract):
    @pytest.fixture
    def open_storage(self, etcd_server: EtcdServer) -> OpenStorage:
        return lambda: etcd.open_storage(etcd_server.url, {})
