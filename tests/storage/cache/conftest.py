"""A store in memory, a feed on it, and short words for what tests do with them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from apiserver.storage.cache import CacheSettings, Feed, ResourceCache
from tests.storage.cache.kit import PREFIX, PlainCodec
from tests.storage.cache.memory import MemoryStorage


@pytest.fixture
def store() -> MemoryStorage:
    return MemoryStorage()


@pytest.fixture
def settings() -> CacheSettings:
    """Small, so that bounds are met; tests that need others make their own feed."""
    return CacheSettings(fresh_timeout=0.3, load_timeout=2.0, page=3)


@pytest.fixture
def feed(store: MemoryStorage, settings: CacheSettings) -> Iterator[Feed]:
    feed = Feed(store, "/registry/", settings)
    feed.start()
    yield feed
    feed.stop()


@pytest.fixture
def cache(feed: Feed) -> ResourceCache:
    return feed.cache(PREFIX, PlainCodec())
