"""Words that the tests of the watch cache share."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from apiserver.api.encoded import EncodedObject
from apiserver.api.rest import ListOptions, ListResult
from apiserver.api.stream import WatchStream
from apiserver.storage.cache import JSONCodec, ResourceCache
from tests.storage.cache.memory import MemoryStorage

PREFIX = "/registry/things/"


class PlainCodec(JSONCodec):
    """Things have one selectable field, ``spec.color``."""

    def __init__(self) -> None:
        super().__init__(lambda obj: {"spec.color": obj.get("color", "")})


@dataclass(frozen=True)
class Equal:
    """A selector of pairs that must all be there."""

    equalities: tuple[tuple[str, str], ...]

    def matches(self, values: Mapping[str, str]) -> bool:
        return all(values.get(key) == value for key, value in self.equalities)


@dataclass(frozen=True)
class Unequal:
    """A selector that no index helps with."""

    key: str
    value: str
    equalities: tuple[tuple[str, str], ...] = ()

    def matches(self, values: Mapping[str, str]) -> bool:
        return values.get(self.key) != self.value


def where(**pairs: str) -> Equal:
    return Equal(tuple(pairs.items()))


class Source:
    """Frames as JSON lines; counts how many are built."""

    key: object = "json"

    def __init__(self) -> None:
        self.built = 0

    def frame(self, kind: str, obj: EncodedObject) -> bytes:
        self.built += 1
        return b'{"type":"%s","object":%s}\n' % (kind.encode(), obj.data)

    def bookmark(self, resource_version: int, initial_events_end: bool) -> bytes:
        metadata: dict[str, Any] = {"resourceVersion": str(resource_version)}
        if initial_events_end:
            metadata["annotations"] = {"k8s.io/initial-events-end": "true"}
        return orjson.dumps({"type": "BOOKMARK", "object": {"metadata": metadata}}) + b"\n"

    def error(self, status: Mapping[str, Any]) -> bytes:
        return orjson.dumps({"type": "ERROR", "object": status}) + b"\n"


def value(name: str, namespace: str = "ns", **more: Any) -> bytes:
    """A stored object; ``labels`` go into its metadata."""
    metadata = {"name": name, "namespace": namespace}
    if "labels" in more:
        metadata["labels"] = more.pop("labels")
    return orjson.dumps({"kind": "Thing", "apiVersion": "v1", "metadata": metadata, **more})


def put(store: MemoryStorage, name: str, namespace: str = "ns", **more: Any) -> int:
    return store.put(f"{PREFIX}{namespace}/{name}", value(name, namespace, **more))


def remove(store: MemoryStorage, name: str, namespace: str = "ns") -> int:
    return store.put(f"{PREFIX}{namespace}/{name}", None)


def names(result: ListResult) -> list[str]:
    return [obj.name for obj in result.items]


class Reader:
    """Consumes a stream as a server does."""

    def __init__(self, stream: WatchStream) -> None:
        self.stream = stream
        self.events: list[dict[str, Any]] = []
        self.ended = False
        self.wakes = 0
        stream.subscribe(self._woken)

    def _woken(self, _stream: WatchStream) -> None:
        self.wakes += 1

    def poll(self, ahead: float = 0.0) -> list[dict[str, Any]]:
        """What is there now, or would be in ``ahead`` seconds if nothing happens until then."""
        got: list[dict[str, Any]] = []
        while not self.ended:
            frames = self.stream.take(time.monotonic() + ahead)
            if frames is None:
                self.ended = True
                break
            got += [orjson.loads(line) for frame in frames for line in frame.splitlines()]
            if not frames and self.stream.next_timer() > time.monotonic():
                break
        self.events += got
        return got

    def until(self, done: Callable[[Reader], bool], seconds: float = 5.0) -> Reader:
        deadline = time.monotonic() + seconds
        while True:
            self.poll()
            if done(self):
                return self
            assert time.monotonic() < deadline, f"did not come: {self.seen()}"
            time.sleep(0.002)

    def count(self, count: int) -> list[str]:
        """Wait for so many events; returns all."""
        self.until(lambda reader: len(reader.events) >= count)
        return self.seen()

    def end(self) -> list[str]:
        """Wait for the end."""
        self.until(lambda reader: reader.ended)
        return self.seen()

    def seen(self) -> list[str]:
        """``ADDED a@5``, ``BOOKMARK 7``, ``ERROR ...``."""
        return [shown(event) for event in self.events]


def shown(event: Mapping[str, Any]) -> str:
    kind, obj = event["type"], event["object"]
    if kind == "ERROR":
        return f"ERROR {obj['code']} {obj['message']}"
    metadata = obj["metadata"]
    if kind == "BOOKMARK":
        end = " end" if metadata.get("annotations") else ""
        return f"BOOKMARK {metadata['resourceVersion']}{end}"
    return f"{kind} {metadata['name']}@{metadata['resourceVersion']}"


def watch(cache: ResourceCache, scope: str = PREFIX, source: Source | None = None, **options: Any) -> Reader:
    return Reader(cache.watch(scope, ListOptions(**options), source or Source()))


def listed(cache: ResourceCache, prefix: str = PREFIX, **options: Any) -> ListResult:
    return cache.list(prefix, ListOptions(**options))


NEVER = math.inf
