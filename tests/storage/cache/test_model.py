"""The cache against a model that remembers everything: any order of writes, lists, pages, watches and mishaps."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import orjson
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from apiserver.api.errors import Expired
from apiserver.api.rest import ListOptions
from apiserver.api.storage import UnavailableError
from apiserver.storage.cache import CacheSettings, Feed
from tests.storage.cache.kit import PREFIX, PlainCodec, Reader, Source, Unequal, where
from tests.storage.cache.memory import MemoryStorage

State = dict[str, dict[str, Any]]

KEYS = st.sampled_from([f"{space}/{name}" for space in ("a", "b", "a-b") for name in ("x", "y", "z")])
LABELS = st.fixed_dictionaries({}, optional={"l": st.sampled_from("12"), "m": st.sampled_from("12")})
CHANGES = st.tuples(KEYS, st.none() | LABELS, st.sampled_from(["red", "blue"]))
LABEL_SELECTORS = st.sampled_from([None, where(l="1"), where(l="1", m="2"), Unequal("m", "1")])
FIELD_SELECTORS = st.sampled_from([None, where(**{"spec.color": "red"}), where(**{"metadata.name": "x"})])
SCOPES = st.sampled_from(["", "a/", "b/", "a/x"])


def matches(obj: Mapping[str, Any], options: ListOptions) -> bool:
    metadata = obj["metadata"]
    fields = {
        "metadata.name": metadata["name"],
        "metadata.namespace": metadata["namespace"],
        "spec.color": obj["color"],
    }
    label, field = options.label_selector, options.field_selector
    return (label is None or label.matches(metadata.get("labels", {}))) and (field is None or field.matches(fields))


def stamped(obj: dict[str, Any], revision: int) -> dict[str, Any]:
    return {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(revision)}}


class Watch:
    """What a reader has seen, put together as an informer does."""

    def __init__(self, reader: Reader, scope: str, options: ListOptions, known: State) -> None:
        self.reader = reader
        self.scope = scope
        self.options = options
        self.known = known
        self.revision = 0

    def follow(self, model: CacheModel) -> None:
        for event in self.reader.poll():
            assert event["type"] in ("ADDED", "MODIFIED", "DELETED", "BOOKMARK"), event
            metadata = event["object"]["metadata"]
            revision = int(metadata["resourceVersion"])
            if event["type"] == "BOOKMARK":
                assert revision >= self.revision
                continue
            key = f"{metadata['namespace']}/{metadata['name']}"
            if event["type"] == "ADDED":
                assert key not in self.known
                self.known[key] = event["object"]
                continue
            assert revision > self.revision, "out of order"
            self.revision = revision
            before = self.known.pop(key)
            if event["type"] == "DELETED":
                assert {**before, "metadata": {**before["metadata"], "resourceVersion": str(revision)}} == event[
                    "object"
                ]
            else:
                self.known[key] = event["object"]
        if not self.reader.ended:
            assert self.known == model.selected(model.current(), self.scope, self.options)


class CacheModel(RuleBasedStateMachine):
    tokens = Bundle("tokens")
    watches = Bundle("watches")

    def __init__(self) -> None:
        super().__init__()
        self.store = MemoryStorage()
        self.feed = Feed(
            self.store,
            settings=CacheSettings(
                lowest_capacity=4, highest_capacity=8, fresh_seconds=0.0, page=2, snapshots=2, retry_seconds=0.0
            ),
        )
        self.feed.start()
        self.cache = self.feed.cache(PREFIX, PlainCodec())
        self.states: dict[int, State] = {1: {}}
        self.open: list[Watch] = []
        self.number = 0

    def teardown(self) -> None:
        self.feed.stop()

    def current(self) -> State:
        return self.states[self.store.revision]

    def selected(self, state: State, scope: str, options: ListOptions) -> State:
        inside = {
            k: v for k, v in state.items() if (k.startswith(scope) if scope.endswith("/") or not scope else k == scope)
        }
        return {k: v for k, v in inside.items() if matches(v, options)}

    @rule(
        changes=st.lists(st.tuples(KEYS, st.none() | LABELS, st.sampled_from(["red", "blue"])), min_size=1, max_size=6)
    )
    def write(self, changes: list[tuple[str, dict[str, str] | None, str]]) -> None:
        """One batch: None deletes."""
        stored: list[tuple[str, bytes | None]] = []
        state = dict(self.current())
        revision = self.store.revision
        for key, labels, color in changes:
            if labels is None and key not in state:
                continue
            revision += 1
            self.number += 1
            if labels is None:
                del state[key]
                stored.append((PREFIX + key, None))
            else:
                space, _, name = key.partition("/")
                obj = {
                    "metadata": {"name": name, "namespace": space, "labels": labels},
                    "color": color,
                    "n": self.number,
                }
                stored.append((PREFIX + key, orjson.dumps(obj)))
                state[key] = {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(revision)}}
            self.states[revision] = dict(state)
        if stored:
            self.store.put_many(stored)

    @rule(key=KEYS)
    def get(self, key: str) -> None:
        found = self.cache.get(PREFIX + key)
        assert (found.decode() if found else None) == self.current().get(key)

    @rule(
        target=tokens,
        scope=st.sampled_from(["", "a/", "b/"]),
        label=LABEL_SELECTORS,
        field=FIELD_SELECTORS,
        limit=st.integers(0, 4),
        age=st.integers(0, 12),
        exact=st.booleans(),
    )
    def list(self, scope: str, label: Any, field: Any, limit: int, age: int, exact: bool) -> Any:
        revision = max(self.store.revision - age, self.store.compacted, 1)
        old = {"resource_version": str(revision), "resource_version_match": "Exact"} if exact else {}
        options = ListOptions(label_selector=label, field_selector=field, limit=limit, **old)
        return self.page(scope, options, revision if exact else self.store.revision, "")

    @rule(target=tokens, token=consumes(tokens))
    def next_page(self, token: Any) -> Any:
        if token is None:
            return None
        scope, options, revision, start = token
        try:
            return self.page(scope, options, revision, start)
        except Expired as error:
            assert revision < self.store.compacted
            again = ListOptions(
                options.label_selector, options.field_selector, limit=2, continue_token=error.continue_token
            )
            return self.page(scope, again, self.store.revision, start)

    def page(self, scope: str, options: ListOptions, revision: int, start: str) -> Any:
        result = self.cache.list(PREFIX + scope, options)
        assert result.resource_version == str(revision)
        everything = self.selected(self.states[revision], scope, options)
        expected = [key for key in sorted(everything) if key > start]
        got = [obj.key.removeprefix(PREFIX) for obj in result.items]
        limit = options.limit
        assert got == (expected[:limit] if limit else expected)
        assert [obj.decode() for obj in result.items] == [everything[key] for key in got]
        if not result.continue_token:
            assert result.remaining is None
            assert len(got) == len(expected)
            return None
        if options.label_selector is None and options.field_selector is None:
            assert result.remaining == len(expected) - len(got) > 0
        following = ListOptions(
            options.label_selector, options.field_selector, limit=limit, continue_token=result.continue_token
        )
        return scope, following, revision, got[-1]

    @rule(
        target=watches,
        scope=SCOPES,
        label=LABEL_SELECTORS,
        field=FIELD_SELECTORS,
        age=st.none() | st.integers(0, 12),
        bookmarks=st.booleans(),
    )
    def watch(self, scope: str, label: Any, field: Any, age: int | None, bookmarks: bool) -> Watch:
        """With an age from that version on, as after a list; else from the initial state."""
        revision = None if age is None else max(self.store.revision - age, self.store.compacted, 1)
        options = ListOptions(
            label,
            field,
            resource_version="" if revision is None else str(revision),
            allow_watch_bookmarks=bookmarks,
            send_initial_events=True if revision is None and bookmarks else None,
        )
        known = {} if revision is None else self.selected(self.states[revision], scope, options)
        reader = Reader(self.cache.watch(PREFIX + scope, options, Source()))
        return self.opened(Watch(reader, scope, options, known))

    def opened(self, watch: Watch) -> Watch:
        self.open.append(watch)
        return watch

    @rule(watch=consumes(watches))
    def close(self, watch: Watch) -> None:
        watch.reader.stream.close()
        if watch in self.open:
            self.open.remove(watch)

    @rule()
    def compact(self) -> None:
        self.cache.wait_until_newest()
        self.store.compact(max(self.store.revision - 3, self.store.compacted))

    @rule()
    def lose_the_watch(self) -> None:
        self.store.break_watches(UnavailableError("a test"))
        while self.store.broken:
            time.sleep(0.0002)

    @rule()
    def forget(self) -> None:
        """History goes while the feed is behind: it must begin anew."""
        self.store.hold(True)
        self.write([("a/x", {}, "red"), ("b/x", {"l": "1"}, "blue")])
        self.store.compact(self.store.revision)
        self.store.hold(False)
        self.cache.wait_until_newest()
        resets = self.feed.resets
        for watch in self.open:
            watch.reader.until(lambda reader: reader.ended, 2.0)
        self.open.clear()
        assert resets

    @invariant()
    def watches_know_the_state(self) -> None:
        if not self.open:
            return
        self.cache.load()
        self.cache.wait_until_newest()
        for watch in self.open:
            watch.follow(self)
        time.sleep(0)


CacheModel.TestCase.settings = settings(
    max_examples=40, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
)
TestTheCacheAgreesWithTheModel = CacheModel.TestCase
