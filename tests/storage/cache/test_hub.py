"""A watch on the cache in the worker's hands: a big initial state must not pile up before a slow reader."""

from __future__ import annotations

import math
import time
from typing import Any, cast

from apiserver.api.rest import ListOptions
from apiserver.serving.limits import Limits
from apiserver.serving.watch import Watch
from apiserver.storage.cache import ResourceCache
from tests.storage.cache.kit import PREFIX, Source, value
from tests.storage.cache.memory import MemoryStorage


class Hub:
    """Notes what a watch asks for."""

    def __init__(self) -> None:
        self.limits = Limits(watch_backlog=50_000)
        self.turns = 0
        self.when = math.inf
        self.end = ""

    def enqueue(self, watch: Watch) -> None:
        self.turns += 1

    def adopt(self, watch: Watch) -> None: ...

    def listen(self, watch: Watch, interest: int) -> None: ...

    def schedule(self, watch: Watch, when: float) -> None:
        watch.timer = when
        self.when = when

    def finished(self, watch: Watch) -> None:
        self.end = "finished"

    def dropped(self, watch: Watch, reason: str) -> None:
        self.end = reason


class Narrow:
    """A socket that takes so many bytes and then no more for a while."""

    closed = False

    def __init__(self) -> None:
        self.room = 0
        self.sent = b""

    def send(self, data: bytes | memoryview) -> int:
        count = min(self.room, len(data))
        self.room -= count
        self.sent += bytes(data[:count])
        return count


def test_a_slow_reader_gets_a_big_initial_state_piece_by_piece(store: MemoryStorage, cache: ResourceCache) -> None:
    cache.load()
    store.put_many([(f"{PREFIX}ns/n{number:04}", value(f"n{number:04}", pad="x" * 100)) for number in range(2000)])
    hub, conn = Hub(), Narrow()
    stream = cache.watch(PREFIX, ListOptions(), Source())
    watch = Watch(hub, cast("Any", conn), stream, chunked=False, keep_alive=False)
    watch.begin(b"head\n")
    for _ in range(10_000):
        if conn.sent.count(b"\n") == 2001:
            break
        watch.turn(time.monotonic())
        assert sum(map(len, watch._out)) < 100_000
        conn.room = 5_000
        watch.turn(time.monotonic(), writable=True)
    assert hub.end == ""
    assert conn.sent.count(b"ADDED") == 2000
