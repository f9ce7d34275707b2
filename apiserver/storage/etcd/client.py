"""Calls to etcd: endpoints, failover, deadlines, credentials, and how gRPC's errors become ours.

Called by the other modules of this package. Uses the stubs of the ``etcd3`` module and not its client class, which has
no limit, no remaining count, no failure branch with the stored value and no progress requests.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any
from urllib.parse import urlsplit

import grpc
from etcd3 import etcdrpc

from apiserver.api.storage import StorageError, UnavailableError, ValueTooLargeError

REQUEST_SECONDS = 10.0
"""Deadline of a call, retries on other endpoints included."""

TOO_LARGE = "etcdserver: request is too large"

_CHANNEL_OPTIONS = (
    # A watch may bring a thousand revisions in one message; etcd limits nothing in that direction.
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
    # COMPAT: storagebackend/factory etcd3.go keepaliveTime, keepaliveTimeout.
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 500),
    ("grpc.max_reconnect_backoff_ms", 1000),
    ("grpc.enable_retries", 0),
)
# What gRPC says when it had no connection: the request has not left, so another endpoint may have it.
_NOT_SENT = "failed to connect to all addresses"
_TRY_NEXT = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN)

RANGE = attrgetter("kv.Range")
PUT = attrgetter("kv.Put")
TXN = attrgetter("kv.Txn")
COMPACT = attrgetter("kv.Compact")
LEASE_GRANT = attrgetter("lease.LeaseGrant")


@dataclass(frozen=True)
class Credentials:
    """How to prove to etcd who we are: files for TLS (paths, PEM), name and password for etcd's own users."""

    cafile: str | None = None
    certfile: str | None = None
    keyfile: str | None = None
    username: str | None = None
    password: str | None = None

    def channel_credentials(self) -> Any:
        """:raises UnavailableError: a file can't be read."""
        try:
            contents = [_read(path) for path in (self.cafile, self.keyfile, self.certfile)]
        except OSError as error:
            raise UnavailableError(f"etcd: {error}") from error
        return grpc.ssl_channel_credentials(*contents)


def _read(path: str | None) -> bytes | None:
    if path is None:
        return None
    with open(path, "rb") as file:
        return file.read()


class Endpoint:
    """One etcd server: a channel and its stubs. The channel connects when it is first used, and again when it must."""

    def __init__(self, url: str, credentials: Credentials) -> None:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        self.url = url
        if parts.scheme == "https":
            self.channel = grpc.secure_channel(parts.netloc, credentials.channel_credentials(), _CHANNEL_OPTIONS)
        elif parts.scheme == "http":
            self.channel = grpc.insecure_channel(parts.netloc, _CHANNEL_OPTIONS)
        else:
            raise StorageError(f"etcd: {url}: the scheme must be http or https")
        self.kv = etcdrpc.KVStub(self.channel)
        self.lease = etcdrpc.LeaseStub(self.channel)
        self.watch = etcdrpc.WatchStub(self.channel)
        self.auth = etcdrpc.AuthStub(self.channel)
        self.maintenance = etcdrpc.MaintenanceStub(self.channel)


class Client:
    """Calls go to one endpoint until it fails, then to the next."""

    def __init__(self, servers: Sequence[str], credentials: Credentials) -> None:
        """:param servers: URLs, ``http://host:port`` or ``https://host:port``."""
        if not servers:
            raise StorageError("etcd: no servers")
        self._credentials = credentials
        self._endpoints = [Endpoint(url, credentials) for url in servers]
        self._current = 0
        self._closed = False
        self._lock = threading.Lock()
        self._token: tuple[tuple[str, str], ...] = ()
        if credentials.username:
            self.authenticate()

    @property
    def endpoint(self) -> Endpoint:
        """The one in use."""
        return self._endpoints[self._current]

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        """Of each call: the token, if there is one."""
        return self._token

    def leave(self, endpoint: Endpoint) -> None:
        """``endpoint`` has failed: use the next one from now on."""
        with self._lock:
            if self.endpoint is endpoint:
                self._current = (self._current + 1) % len(self._endpoints)

    def call(
        self, method: Callable[[Endpoint], Any], request: Any, *, write: bool = False, seconds: float = REQUEST_SECONDS
    ) -> Any:
        """Call ``method``, on the next endpoints too if the one in use can't be reached.

        :param write: it may not be sent twice: try another endpoint only if it has certainly not left.
        :raises grpc.RpcError: what etcd itself refuses; see :func:`storage_error`.
        :raises UnavailableError: no endpoint answers; the outcome of a write is not known.
        """
        deadline = time.monotonic() + seconds
        attempts = len(self._endpoints) + 1
        for attempt in range(1, attempts + 1):
            endpoint = self.endpoint
            if self._closed:
                raise UnavailableError("etcd: the storage is closed")
            try:
                return method(endpoint)(request, max(deadline - time.monotonic(), 0.01), self._token or None)
            except ValueError as error:
                raise UnavailableError(f"etcd: {error}") from error
            except grpc.RpcError as error:
                if attempt == attempts or not self._may_retry(endpoint, error, write):
                    raise self._final(error) from error
        raise AssertionError("unreachable")

    def _may_retry(self, endpoint: Endpoint, error: Any, write: bool) -> bool:
        code, details = error.code(), error.details() or ""
        if code is grpc.StatusCode.UNAUTHENTICATED and self._credentials.username:
            self.authenticate()
            return True
        if code is grpc.StatusCode.DEADLINE_EXCEEDED:
            self.leave(endpoint)
            return False
        if code not in _TRY_NEXT:
            return False
        self.leave(endpoint)
        return not write or details.startswith(_NOT_SENT)

    @staticmethod
    def _final(error: Any) -> Exception:
        """``error`` itself if etcd has refused the request, UnavailableError if nobody knows."""
        mapped = storage_error(error)
        refused: Exception = error
        return mapped if mapped is not None else refused

    def authenticate(self) -> None:
        """Get a token for the user name. :raises UnavailableError: etcd doesn't give one."""
        request = etcdrpc.AuthenticateRequest(name=self._credentials.username, password=self._credentials.password)
        try:
            response = self.endpoint.auth.Authenticate(request, REQUEST_SECONDS)
        except grpc.RpcError as error:
            self.leave(self.endpoint)
            raise UnavailableError(f"etcd: {error.details()}") from error
        self._token = (("token", response.token),)

    def close(self) -> None:
        """Close all channels; running calls end with an error."""
        self._closed = True
        for endpoint in self._endpoints:
            endpoint.channel.close()


def storage_error(error: Any) -> StorageError | None:
    """Our error for what gRPC raised; None if the caller knows better (out of range, not found)."""
    code, details = error.code(), error.details() or ""
    if TOO_LARGE in details or "larger than max" in details:
        return ValueTooLargeError(TOO_LARGE)
    if code in (grpc.StatusCode.OUT_OF_RANGE, grpc.StatusCode.NOT_FOUND):
        return None
    return UnavailableError(f"etcd: {details or code.name}")
