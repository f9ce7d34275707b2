"""Which servers there are: each keeps a key with its address, which vanishes soon after the server does.

The keys and what is in them are kube-apiserver's, so that both can run on one store. Used by
:mod:`apiserver_plugins.controllers.kubernetes_service`.

COMPAT: pkg/controlplane/reconcilers/lease.go storageLeases
"""

from __future__ import annotations

import time
from typing import Any

import orjson

from apiserver.api.server import Server
from apiserver.api.storage import KeyExistsError, KeyValue, RevisionMismatchError

PREFIX = "masterleases"
TTL = 15
"""Seconds that a key lives."""
RENEW = 10.0
"""Seconds after which it is written again."""


class Leases:
    """The keys of all servers; ``address`` is this one's.

    The worker processes of a server have one key: the first that finds it old renews it, the others see that.
    """

    def __init__(self, server: Server, address: str) -> None:
        self._storage = server.storage
        self._prefix = f"/{server.config.text('etcd-prefix').strip('/')}/{PREFIX}/"
        self._key = self._prefix + address
        self._seen = (0, 0.0)

    def renew(self) -> None:
        """Write our key if it is not there or old. :raises StorageError: the store can't be reached."""
        current = self._storage.get(self._key)
        now = time.monotonic()
        if current is not None:
            revision, since = self._seen
            if current.mod_revision != revision:
                self._seen = current.mod_revision, now
                return
            if now - since < RENEW:
                return
        try:
            self._seen = self._write(current), now
        except (KeyExistsError, RevisionMismatchError):
            # Another process of this server did it.
            return

    def _write(self, current: KeyValue | None) -> int:
        value = self._value(current)
        if current is None:
            return self._storage.create(self._key, value, ttl=TTL)
        return self._storage.update(self._key, value, current.mod_revision, ttl=TTL)

    def _value(self, current: KeyValue | None) -> bytes:
        try:
            generation = orjson.loads(current.value)["metadata"]["generation"] if current is not None else 0
        except (ValueError, KeyError, TypeError):
            generation = 0
        endpoints: dict[str, Any] = {
            "kind": "Endpoints",
            "apiVersion": "v1",
            # COMPAT: upstream has to change something, or nothing would be written
            "metadata": {"generation": generation + 1, "creationTimestamp": None},
            "subsets": [{"addresses": [{"ip": self._key.removeprefix(self._prefix)}]}],
        }
        return orjson.dumps(endpoints)

    def addresses(self) -> list[str]:
        """The addresses of all servers that live. :raises StorageError: the store can't be reached."""
        return [item.key.removeprefix(self._prefix) for item in self._storage.list(self._prefix).items]

    def remove(self) -> None:
        """This server ends: give our key up. :raises StorageError: the store can't be reached."""
        current = self._storage.get(self._key)
        if current is not None:
            try:
                self._storage.delete(self._key, current.mod_revision)
            except RevisionMismatchError:
                # Another process wrote or removed it: it has its own reasons.
                return
