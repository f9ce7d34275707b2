"""Leases for keys with a time to live, shared by keys that are written close together.

Called by the driver for each write with a ``ttl``. A lease per key would cost etcd a write of its own and memory; keys
whose ends lie within a minute (or 5 % of their life, if that is less) share one. COMPAT: etcd3 leaseManager.
"""

from __future__ import annotations

import threading
import time

from etcd3 import etcdrpc

from apiserver.storage.etcd.client import LEASE_GRANT, Client

REUSE_SECONDS = 60
REUSE_PART = 0.05
KEYS_PER_LEASE = 1000


class Leases:
    """The lease in use."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._lock = threading.Lock()
        self._lease = 0
        self._expires = 0.0
        self._keys = 0

    def lease_for(self, ttl: int) -> int:
        """The id of a lease that lives ``ttl`` seconds, and a little more at most."""
        extra = min(int(ttl * REUSE_PART), REUSE_SECONDS)
        with self._lock:
            now = time.monotonic()
            self._keys += 1
            if self._keys <= KEYS_PER_LEASE and now + ttl < self._expires < now + ttl + extra:
                return self._lease
            response = self._client.call(LEASE_GRANT, etcdrpc.LeaseGrantRequest(TTL=ttl + extra))
            self._lease = int(response.ID)
            self._expires = now + ttl + extra
            self._keys = 1
            return self._lease

    def forget(self, lease: int) -> None:
        """etcd doesn't know ``lease`` (any more): don't use it again."""
        with self._lock:
            if self._lease == lease:
                self._expires = 0.0
