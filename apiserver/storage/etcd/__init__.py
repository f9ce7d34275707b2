"""The storage driver on etcd (3.4 or newer), for servers of a set and for production.

Entry point ``etcd`` of the group ``apiserver.storage``. :func:`open_storage` is called in each worker process after
the fork, because gRPC starts threads. How it works is told in :mod:`apiserver.storage.etcd.driver`.
"""

from __future__ import annotations

from apiserver.storage.etcd.driver import EtcdStorage, open_storage

__all__ = ["EtcdStorage", "open_storage"]
