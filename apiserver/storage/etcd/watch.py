"""Watches on etcd: one stream each, resumed where it broke off.

Opened by the driver, iterated by the watch cache in its own thread. gRPC adds one thread per stream, which sends what
:meth:`EtcdWatch._requests` yields: the watch itself, then a request for progress every few seconds and whenever
somebody asks. A stream without answers is given up after a while and opened again, on the next endpoint.

etcd older than 3.4.31 and 3.5.13 answers a request for progress with a revision that may be ahead of events still on
their way. There the number isn't believed: if it is ahead of what came, a key under the watched prefix is written,
whose event can't overtake the others.
"""

from __future__ import annotations

import logging
import queue
import re
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import grpc
from etcd3 import etcdrpc
from etcd3.etcdrpc.kv_pb2 import Event

from apiserver.api.storage import CompactedError, EventType, StorageEvent, UnavailableError, WatchBatch
from apiserver.storage.etcd.client import PUT, Client, Endpoint

logger = logging.getLogger(__name__)

MARKER = "!apiserver-progress"
"""Last part of the key that is written to learn how far a watch is; watches and lists don't show it."""

_PROGRESS_SECONDS = 2.0
_AGAIN_SECONDS = 0.1
_MARK_SECONDS = 0.1
_SILENCE_SECONDS = 10.0
_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 2.0
_STATUS_SECONDS = 2.0
_FATAL = (grpc.StatusCode.PERMISSION_DENIED, grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.UNIMPLEMENTED)


def progress_is_ordered(version: str) -> bool:
    """Whether that etcd never reports a revision before its events. COMPAT: FeatureSupportChecker."""
    match = re.match(r"(\d+)\.(\d+)\.(\d+)", version)
    numbers = tuple(map(int, match.groups())) if match else (0, 0, 0)
    return numbers >= (3, 5, 13) or (3, 4, 31) <= numbers < (3, 5, 0)


def range_end(prefix: bytes) -> bytes:
    """The end of the range of all keys with ``prefix``, as etcd writes it: one zero byte for no end."""
    stripped = prefix.rstrip(b"\xff")
    return stripped[:-1] + bytes([stripped[-1] + 1]) if stripped else b"\0"


class EtcdWatch:
    """One watch. Iterate it from one thread."""

    def __init__(
        self, client: Client, prefix: str, from_revision: int, closed: Callable[[EtcdWatch], None] | None = None
    ) -> None:
        """:param closed: told when the watch has ended."""
        self._client = client
        self._prefix = prefix
        self._position = from_revision
        self._told = closed
        self._closed = threading.Event()
        self._outbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._call: Any = None
        self._heard = 0.0
        self._reading = True
        self._owed = False
        self._marked = 0.0
        self._marking: Any = None
        self._ordered = False

    def __iter__(self) -> Iterator[WatchBatch]:
        pause = _FIRST_PAUSE
        try:
            while not self._closed.is_set():
                endpoint = self._client.endpoint
                try:
                    for response in self._open(endpoint):
                        self._heard = time.monotonic()
                        pause = _FIRST_PAUSE
                        batch = self._batch(response)
                        if batch is not None:
                            self._reading = False
                            yield batch
                            self._reading = True
                            self._heard = time.monotonic()
                        if self._closed.is_set():
                            return
                except (grpc.RpcError, ValueError) as error:
                    self._consider(endpoint, error)
                finally:
                    self._end_call()
                self._closed.wait(pause)
                pause = min(pause * 2, _LONGEST_PAUSE)
        finally:
            self.close()

    def _open(self, endpoint: Endpoint) -> Iterator[Any]:
        status = endpoint.maintenance.Status(
            etcdrpc.StatusRequest(), _STATUS_SECONDS, metadata=self._client.metadata or None
        )
        self._ordered = progress_is_ordered(status.version)
        self._heard = time.monotonic()
        # The server ends the stream when it has lost its leader. COMPAT: clientv3.WithRequireLeader.
        metadata = (*self._client.metadata, ("hasleader", "true"))
        call = endpoint.watch.Watch(self._requests(self._outbox), metadata=metadata)
        self._call = call
        if self._closed.is_set():
            call.cancel()
        return iter(call)

    def _requests(self, outbox: queue.SimpleQueue[Any]) -> Iterator[Any]:
        """What is sent on the stream; runs in gRPC's thread."""
        prefix = self._prefix.encode()
        create = etcdrpc.WatchCreateRequest(
            key=prefix or b"\0", range_end=range_end(prefix), start_revision=self._position + 1, prev_kv=True
        )
        yield etcdrpc.WatchRequest(create_request=create)
        progress = etcdrpc.WatchRequest(progress_request=etcdrpc.WatchProgressRequest())
        while True:
            try:
                # etcd sends no progress while the watch still reads its past, so it is asked again.
                if outbox.get(timeout=_AGAIN_SECONDS if self._owed else _PROGRESS_SECONDS) is None:
                    return
            except queue.Empty:
                if self._is_silent() and self._call is not None:
                    logger.warning("etcd does not answer on the watch of %s, opening another", self._prefix)
                    self._call.cancel()
                    return
            yield progress

    def _is_silent(self) -> bool:
        """Whether etcd owes an answer for too long; while our own reader is busy nobody knows."""
        return self._reading and time.monotonic() - self._heard > _SILENCE_SECONDS

    def _consider(self, endpoint: Endpoint, error: Any) -> None:
        """Go on elsewhere, or raise what can't get better."""
        if self._closed.is_set():
            return
        code = error.code() if isinstance(error, grpc.RpcError) else None
        details = error.details() if isinstance(error, grpc.RpcError) else str(error)
        if code in _FATAL:
            raise UnavailableError(f"etcd: {details}") from error
        if code is grpc.StatusCode.UNAUTHENTICATED:
            try:
                self._client.authenticate()
            except UnavailableError as refused:
                logger.warning("%s", refused)
        logger.info("watch of %s at revision %d interrupted: %s", self._prefix, self._position, details)
        self._client.leave(endpoint)

    def _batch(self, response: Any) -> WatchBatch | None:
        if response.canceled:
            if response.compact_revision:
                raise CompactedError(response.compact_revision)
            raise UnavailableError(f"etcd: watch canceled: {response.cancel_reason}")
        if response.events:
            return self._events(response.events)
        if response.created:
            return None
        return self._progress(response.header.revision)

    def _events(self, raw: Any) -> WatchBatch:
        events = [_event(event) for event in raw if not event.kv.key.endswith(_MARKER_BYTES)]
        self._position = raw[-1].kv.mod_revision
        if len(events) < len(raw):
            self._owed = False
        return WatchBatch(events, self._position)

    def _progress(self, revision: int) -> WatchBatch | None:
        if self._ordered:
            self._position = max(self._position, revision)
        elif revision > self._position:
            self._mark()
            return None
        self._owed = False
        return WatchBatch((), self._position)

    def _mark(self) -> None:
        """Write the key whose event tells how far the watch is, without waiting for the answer."""
        now = time.monotonic()
        if now - self._marked < _MARK_SECONDS or (self._marking is not None and not self._marking.done()):
            return
        self._marked = now
        request = etcdrpc.PutRequest(key=self._prefix.encode() + _MARKER_BYTES)
        # gRPC cancels a call that nobody holds.
        self._marking = PUT(self._client.endpoint).future(
            request, _STATUS_SECONDS, metadata=self._client.metadata or None
        )

    def request_progress(self) -> None:
        """Have etcd report how far this watch is; before the iteration begins, as soon as it does."""
        self._owed = True
        self._outbox.put(True)

    def _end_call(self) -> None:
        call, self._call = self._call, None
        if call is not None:
            call.cancel()
        # What is asked from now on is for the next stream.
        ended, self._outbox = self._outbox, queue.SimpleQueue()
        ended.put(None)

    def close(self) -> None:
        """End the iteration, from any thread."""
        self._closed.set()
        self._end_call()
        if self._told is not None:
            self._told(self)


_MARKER_BYTES = MARKER.encode()


def _event(raw: Any) -> StorageEvent:
    """:raises CompactedError: etcd knows that there was a previous value but has it no more."""
    kv, previous = raw.kv, raw.prev_kv
    deletion = raw.type == Event.DELETE
    had_previous = previous.mod_revision > 0
    if not had_previous and (deletion or kv.create_revision != kv.mod_revision):
        raise CompactedError(kv.mod_revision - 1)
    return StorageEvent(
        EventType.DELETE if deletion else EventType.PUT,
        kv.key.decode(),
        None if deletion else kv.value,
        previous.value if had_previous else None,
        kv.mod_revision,
        previous.mod_revision,
    )
