"""Node ports: a bitmap under one key, written only if nobody else wrote it meanwhile.

The key and the object in it are kube-apiserver's, so both can share a store.

COMPAT: pkg/registry/core/service/portallocator; .../allocator/storage
"""

from __future__ import annotations

import base64
import secrets
from collections.abc import Callable
from typing import Any

import orjson

from apiserver.api.server import Server
from apiserver.api.storage import KeyExistsError, KeyValue, RevisionMismatchError
from apiserver_plugins.resources.core_v1.service.addresses import AllocationError

_KEY = "ranges/servicenodeports"
_TRIES = 64


def parse_range(text: str) -> tuple[int, int]:
    """First and last port of ``a-b``, ``a+n`` or ``a``. COMPAT: util/net.ParsePortRange"""
    for separator in "-+":
        first, found, second = text.partition(separator)
        if found:
            return int(first), int(second) + (int(first) if separator == "+" else 0)
    return int(text), int(text)


class PortPool:
    """The node ports of the cluster.

    :param first: / :param last: the range, inclusive.
    """

    def __init__(self, server: Server, first: int, last: int) -> None:
        self._server = server
        self.first, self.last = first, last
        self.count = last - first + 1
        # COMPAT: the lower band is left to ports that people choose, until the rest is used up
        self._static = 0 if self.count < 32 else min(max(16, self.count // 32), 128)

    @property
    def range(self) -> str:
        """``30000-32767``"""
        return f"{self.first}-{self.last}"

    def take(self, port: int, dry_run: bool) -> None:
        """Take one certain port. :raises AllocationError: it is taken, or out of range."""
        if not self.first <= port <= self.last:
            raise AllocationError(f"provided port is not in the valid range. The range of valid ports is {self.range}")

        def change(used: int) -> tuple[int, int]:
            if used >> (port - self.first) & 1:
                raise AllocationError("provided port is already allocated")
            return used | 1 << (port - self.first), port

        self._change(change, dry_run)

    def take_any(self, avoid: set[int], dry_run: bool) -> int:
        """Take any port but those in ``avoid``. :raises AllocationError: there is none left."""

        def change(used: int) -> tuple[int, int]:
            for port in avoid:
                if self.first <= port <= self.last:
                    used |= 1 << (port - self.first)
            offset = self._free(used)
            return used | 1 << offset, self.first + offset

        return self._change(change, dry_run)

    def release(self, ports: set[int]) -> None:
        """Give ports back."""
        mine = [port - self.first for port in ports if self.first <= port <= self.last]
        if mine:
            self._change(lambda used: (used & ~sum(1 << offset for offset in mine), 0), dry_run=False)

    def taken(self) -> set[int]:
        """The ports that are taken now."""
        used = self._used(self._server.storage.get(self._key()))
        return {self.first + offset for offset in range(self.count) if used >> offset & 1}

    def restore(self, ports: set[int]) -> None:
        """Take ports that are in use, whether they are taken or not; what is out of range is passed over."""
        mine = sum(1 << (port - self.first) for port in ports if self.first <= port <= self.last)
        self._change(lambda used: (used | mine, 0), dry_run=False)

    def _free(self, used: int) -> int:
        upper = self.count - self._static
        for _ in range(_TRIES if upper > 0 else 0):
            offset = self._static + secrets.randbelow(upper)
            if not used >> offset & 1:
                return offset
        order: list[int] = [*range(self._static, self.count), *range(self._static)]
        for offset in order:
            if not used >> offset & 1:
                return offset
        raise AllocationError("range is full")

    def _change(self, change: Callable[[int], tuple[int, int]], dry_run: bool) -> int:
        storage, key = self._server.storage, self._key()
        current = storage.get(key)
        while True:
            used, result = change(self._used(current))
            if dry_run or used == self._used(current):
                return result
            value = self._encode(used)
            try:
                if current is None:
                    storage.create(key, value)
                else:
                    storage.update(key, value, current.mod_revision)
            except RevisionMismatchError as ex:
                current = ex.current
            except KeyExistsError:
                current = storage.get(key)
            else:
                return result

    def _key(self) -> str:
        return f"/{self._server.config.text('etcd-prefix').strip('/')}/{_KEY}"

    def _used(self, current: KeyValue | None) -> int:
        if current is None:
            return 0
        held: dict[str, Any] = orjson.loads(current.value)
        # COMPAT: the bitmap of another range is not ours; upstream's repair loop would write it anew
        if held.get("range") != self.range:
            return 0
        return int.from_bytes(base64.b64decode(held.get("data") or ""), "big")

    def _encode(self, used: int) -> bytes:
        data = used.to_bytes((used.bit_length() + 7) // 8, "big")
        held = {
            "kind": "RangeAllocation",
            "apiVersion": "v1",
            "metadata": {"creationTimestamp": None},
            "range": self.range,
            "data": base64.b64encode(data).decode(),
        }
        return orjson.dumps(held)
