"""The storage driver on etcd: :class:`EtcdStorage`.

The registry writes and the watch cache reads through it (:class:`apiserver.api.storage.Storage`). Keys are passed as
they are: the prefix (``/registry``) is the caller's. Each write is one transaction guarded by the mod revision, whose
failure branch brings what is stored.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import grpc
from etcd3 import etcdrpc

from apiserver.api.storage import (
    CompactedError,
    FutureRevisionError,
    KeyExistsError,
    KeyValue,
    ListPage,
    RevisionMismatchError,
    StorageError,
    StorageWatch,
    UnavailableError,
)
from apiserver.storage.etcd.client import COMPACT, RANGE, REQUEST_SECONDS, TXN, Client, Credentials
from apiserver.storage.etcd.leases import Leases
from apiserver.storage.etcd.watch import MARKER, EtcdWatch, range_end

HEALTH_SECONDS = 2.0
"""COMPAT: --etcd-healthcheck-timeout default."""

_PAGE = 5000
_LIST_SECONDS = 30.0
_LEASE_NOT_FOUND = "requested lease not found"


def open_storage(url: str, options: Mapping[str, object]) -> EtcdStorage:
    """Connect to the etcd of ``etcd://host:port[,host:port]``.

    :param options: ``servers`` (list of URLs, or one string with commas; goes before the URL's), ``cafile``,
        ``certfile``, ``keyfile`` (paths of PEM files), ``username``, ``password``.
    :raises StorageError: no servers are named, or with a scheme that isn't http or https.
    :raises UnavailableError: a file can't be read, or etcd refuses the user. Otherwise nothing is sent yet.
    """
    servers = options.get("servers") or url.partition("://")[2].rstrip("/")
    if isinstance(servers, str):
        servers = [part.strip() for part in servers.split(",") if part.strip()]
    elif not isinstance(servers, (list, tuple)):
        raise StorageError(f"etcd: servers: {servers!r} is no list of URLs")
    text = {name: str(value) for name in Credentials.__dataclass_fields__ if (value := options.get(name))}
    if "cafile" in text or "certfile" in text:
        servers = [server if "://" in server else f"https://{server}" for server in servers]
    return EtcdStorage(Client(servers, Credentials(**text)))


class EtcdStorage:
    """A store in etcd. See :class:`apiserver.api.storage.Storage` for what the methods do."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._leases = Leases(client)
        self._lock = threading.Lock()
        self._watches: set[EtcdWatch] = set()
        self._compacted = 0
        self._closed = False

    def create(self, key: str, value: bytes, *, ttl: int | None = None) -> int:
        """Store a new key; returns its revision."""
        response = self._put(key, value, 0, ttl)
        if not response.succeeded:
            raise KeyExistsError(key)
        return int(response.header.revision)

    def update(self, key: str, value: bytes, expected_revision: int, *, ttl: int | None = None) -> int:
        """Replace the value if the key's mod revision is ``expected_revision``; returns the new revision."""
        if expected_revision <= 0:
            raise RevisionMismatchError(key, self.get(key))
        return self._guarded(key, self._put(key, value, expected_revision, ttl))

    def delete(self, key: str, expected_revision: int) -> int:
        """Delete if the key's mod revision is ``expected_revision``; returns the revision of the deletion."""
        if expected_revision <= 0:
            raise RevisionMismatchError(key, self.get(key))
        deletion = etcdrpc.RequestOp(request_delete_range=etcdrpc.DeleteRangeRequest(key=key.encode()))
        return self._guarded(key, self._call(TXN, _guard(key, expected_revision, deletion), write=True))

    def _put(self, key: str, value: bytes, expected_revision: int, ttl: int | None) -> Any:
        """The transaction's response. A lease that etcd has forgotten is replaced, once."""
        for last in (False, True):
            lease = self._leases.lease_for(ttl) if ttl else 0
            put = etcdrpc.RequestOp(request_put=etcdrpc.PutRequest(key=key.encode(), value=value, lease=lease))
            try:
                return self._client.call(TXN, _guard(key, expected_revision, put), write=True)
            except grpc.RpcError as error:
                if last or not lease or _LEASE_NOT_FOUND not in (error.details() or ""):
                    raise UnavailableError(f"etcd: {error.details()}") from error
                self._leases.forget(lease)
        raise AssertionError("unreachable")

    @staticmethod
    def _guarded(key: str, response: Any) -> int:
        if not response.succeeded:
            found = response.responses[0].response_range.kvs
            raise RevisionMismatchError(key, _key_value(found[0]) if found else None)
        return int(response.header.revision)

    def get(self, key: str, *, revision: int | None = None) -> KeyValue | None:
        """The newest value, or the one at ``revision``."""
        response = self._range(etcdrpc.RangeRequest(key=key.encode(), revision=revision or 0))
        return _key_value(response.kvs[0]) if response.kvs else None

    def list(self, prefix: str, *, start: str | None = None, limit: int = 0, revision: int | None = None) -> ListPage:
        """Keys with ``prefix`` in bytewise order; a list without limit is read in parts, all of one revision."""
        encoded = prefix.encode()
        first = max(encoded, start.encode()) if start is not None else encoded
        items: list[KeyValue] = []
        at = revision or 0
        while True:
            part = limit or _PAGE
            request = etcdrpc.RangeRequest(key=first or b"\0", range_end=range_end(encoded), limit=part, revision=at)
            if b"\0" != request.range_end <= request.key:
                # Nothing can be there; what is left to do is to check the revision.
                nothing = self._range(etcdrpc.RangeRequest(key=b"\0", limit=1, keys_only=True, revision=at))
                return ListPage(items, at or int(nothing.header.revision), False, 0)
            response = self._range(request, seconds=_LIST_SECONDS)
            at = at or int(response.header.revision)
            items += [_key_value(kv) for kv in response.kvs]
            remaining = response.count - len(response.kvs)
            if limit or remaining <= 0:
                break
            first = response.kvs[-1].key + b"\0"
        return ListPage([item for item in items if not item.key.endswith(MARKER)], at, remaining > 0, remaining)

    def watch(self, prefix: str, from_revision: int) -> StorageWatch:
        """All changes of keys with ``prefix`` with a revision > ``from_revision``."""
        watch = EtcdWatch(self._client, prefix, from_revision, self._watch_closed)
        with self._lock:
            if self._closed:
                raise UnavailableError("etcd: the storage is closed")
            self._watches.add(watch)
        return watch

    def _watch_closed(self, watch: EtcdWatch) -> None:
        with self._lock:
            self._watches.discard(watch)

    def request_progress(self) -> None:
        """Send a request for progress on each stream of this process."""
        with self._lock:
            watches = list(self._watches)
        for watch in watches:
            watch.request_progress()

    def current_revision(self) -> int:
        """The newest revision, from the header of a linearizable read of nothing."""
        return int(self._range(_NOTHING).header.revision)

    def compact(self, revision: int) -> None:
        """Forget superseded values up to and including ``revision``."""
        try:
            self._client.call(COMPACT, etcdrpc.CompactionRequest(revision=revision))
        except grpc.RpcError as error:
            if "future revision" in (error.details() or ""):
                raise FutureRevisionError(self.current_revision()) from error
            if "has been compacted" not in (error.details() or ""):
                raise UnavailableError(f"etcd: {error.details()}") from error
        self._compacted = max(self._compacted, revision)

    def compacted_revision(self) -> int:
        """The newest revision that has been compacted; 0 = none.

        etcd doesn't tell it; whether a revision can still be read it does tell, so this is a binary search (some
        thirty small reads the first time).
        """
        gone, readable = self._compacted - 1, self.current_revision()
        gone = max(gone, 0)
        while readable - gone > 1:
            middle = (gone + readable) // 2
            if self._is_readable(middle):
                readable = middle
            else:
                gone = middle
        self._compacted = max(self._compacted, readable if gone else 0)
        return self._compacted

    def _is_readable(self, revision: int) -> bool:
        try:
            self._client.call(RANGE, etcdrpc.RangeRequest(key=b"\0", count_only=True, revision=revision))
        except grpc.RpcError:
            return False
        return True

    def check(self) -> None:
        """Raise :class:`UnavailableError` when etcd doesn't answer a linearizable read within two seconds."""
        self._call(RANGE, _NOTHING, seconds=HEALTH_SECONDS)

    def close(self) -> None:
        """End watches and close the connections."""
        with self._lock:
            self._closed = True
            watches = list(self._watches)
        for watch in watches:
            watch.close()
        self._client.close()

    def _range(self, request: Any, seconds: float = REQUEST_SECONDS) -> Any:
        try:
            return self._client.call(RANGE, request, seconds=seconds)
        except grpc.RpcError as error:
            details = error.details() or ""
            if "has been compacted" in details:
                raise CompactedError(self._compaction_after(request.revision)) from error
            if "future revision" in details:
                raise FutureRevisionError(self.current_revision()) from error
            raise UnavailableError(f"etcd: {details}") from error

    def _compaction_after(self, revision: int) -> int:
        return self._compacted if revision < self._compacted else self.compacted_revision()

    def _call(self, method: Any, request: Any, **options: Any) -> Any:
        try:
            return self._client.call(method, request, **options)
        except grpc.RpcError as error:
            raise UnavailableError(f"etcd: {error.details()}") from error


_NOTHING = etcdrpc.RangeRequest(key=b"\0", keys_only=True, limit=1)


def _guard(key: str, expected_revision: int, operation: Any) -> Any:
    """``operation`` if the key's mod revision is as expected, otherwise a read of the key."""
    compare = etcdrpc.Compare(
        result=etcdrpc.Compare.EQUAL,
        target=etcdrpc.Compare.MOD,
        key=key.encode(),
        mod_revision=expected_revision,
    )
    read = etcdrpc.RequestOp(request_range=etcdrpc.RangeRequest(key=key.encode()))
    return etcdrpc.TxnRequest(compare=[compare], success=[operation], failure=[read] if expected_revision else [])


def _key_value(raw: Any) -> KeyValue:
    return KeyValue(raw.key.decode(), raw.value, raw.mod_revision, raw.create_revision)
