"""The parts of the cache by themselves: ordered objects, window, tokens, waiting, snapshots."""

from __future__ import annotations

import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apiserver.api.encoded import EncodedObject
from apiserver.api.errors import BadRequest, Timeout
from apiserver.api.storage import UnavailableError
from apiserver.storage.cache import CacheSettings
from apiserver.storage.cache.contents import Contents
from apiserver.storage.cache.continuation import decode_token, encode_token
from apiserver.storage.cache.events import CacheEvent
from apiserver.storage.cache.freshness import Freshness
from apiserver.storage.cache.newest import NewestRevision
from apiserver.storage.cache.objects import CHUNK, SortedObjects, prefix_end
from apiserver.storage.cache.snapshots import Snapshot, Snapshots
from apiserver.storage.cache.window import EventWindow

KEYS = st.text("ab/", min_size=1, max_size=4)


def obj(key: str, revision: int = 1) -> EncodedObject:
    return EncodedObject(b"{", b"}", revision, key)


def keys(objects: SortedObjects) -> list[str]:
    return [each.key for each in objects]


@given(st.lists(st.tuples(KEYS, st.booleans())), KEYS, KEYS, st.integers(0, 5))
def test_ordered_objects_are_a_sorted_map(changes: list[tuple[str, bool]], start: str, end: str, limit: int) -> None:
    objects, model = SortedObjects(), dict[str, int]()
    for revision, (key, keep) in enumerate(changes):
        before, known = objects, keys(objects)
        if keep:
            model[key] = revision
            objects = objects.put(obj(key, revision))
        else:
            model.pop(key, None)
            objects = objects.remove(key)
        assert keys(before) == known
    assert [(each.key, each.revision) for each in objects] == sorted(model.items())
    assert len(objects) == len(model)
    inside = [key for key in sorted(model) if start <= key < end]
    assert [each.key for each in objects.range(start, end)] == inside
    assert [each.key for each in objects.range(start, end, limit)] == (inside[:limit] if limit else inside)
    assert [each.key for each in objects.iterate(start, end)] == inside
    assert objects.count(start, end) == len(inside)
    found = objects.get(start)
    assert (found.revision if found else None) == model.get(start)


@pytest.mark.parametrize("order", ["up", "down", "mixed"])
def test_ordered_objects_stay_ordered_over_many_chunks(order: str) -> None:
    numbers = list(range(CHUNK * 5))
    if order == "down":
        numbers.reverse()
    elif order == "mixed":
        numbers.sort(key=lambda number: number * 7919 % 1009)
    objects = SortedObjects()
    for number in numbers:
        objects = objects.put(obj(f"k{number:05}"))
    expected = [f"k{number:05}" for number in range(CHUNK * 5)]
    assert keys(objects) == expected
    assert [each.key for each in objects.range("k00100", "k01000", 700)] == expected[100:800]
    assert objects.count("k00100", "k01000") == 900
    for number in numbers[10:]:
        objects = objects.remove(f"k{number:05}")
    assert len(keys(objects)) == len(objects) == 10
    assert objects.remove("no") is objects


def test_the_end_of_a_prefix_comes_after_everything_below_it() -> None:
    assert prefix_end("/a/") == "/a0"
    assert "/a/\U0010ffff" < prefix_end("/a/") <= "/a0"


def event(revision: int, time: float = 0.0) -> CacheEvent:
    return CacheEvent(f"k{revision}", obj(f"k{revision}", revision), None, revision, time)


def test_a_window_grows_while_events_are_fresh_and_shrinks_later() -> None:
    window = EventWindow(0, lowest=4, highest=16, fresh=75.0)
    for revision in range(1, 41):
        window.add(event(revision, time=revision))
    assert window.capacity == 16
    assert (len(window), window.start) == (16, 24)
    assert window.since(23) is None
    assert [each.revision for each in window.since(24) or ()] == list(range(25, 41))
    assert [each.revision for each in window.since(38) or ()] == [39, 40]
    assert window.since(40) == []
    for revision in range(41, 200):
        window.add(event(revision, time=revision * 100.0))
    assert window.capacity == 4
    assert (len(window), window.start) == (4, 195)


def test_all_changes_of_a_revision_appear_at_once() -> None:
    contents = Contents(CacheSettings(), [obj("a", 3)], 5)
    events = contents.change([("a", obj("a", 6), 6), ("b", obj("b", 6), 6), ("old", obj("old", 5), 5), ("no", None, 7)])
    assert [each.key for each in events] == ["a", "b"]
    assert contents.state.revision == 7
    assert keys(contents.state.objects) == ["a", "b"]
    assert contents.window.since(5) == events
    before = contents.at(5)
    assert before is not None
    assert [(each.key, each.revision) for each in before] == [("a", 3)]
    assert contents.at(4) is None


def test_a_window_can_be_extended_into_the_past() -> None:
    window = EventWindow(10, lowest=4, highest=16, fresh=0.0)
    window.add(event(11))
    window.extend_back(5, [event(revision) for revision in range(6, 11)])
    assert window.start == 5
    assert [each.revision for each in window.since(7) or ()] == [8, 9, 10, 11]
    for revision in range(12, 30):
        window.add(event(revision, time=9.0))
    assert len(window) <= window.capacity
    assert window.since(29) == []


@given(st.text("aZ-0\u00e9\U0001f600", min_size=1), st.integers(-1, 1 << 62))
def test_tokens_are_read_as_they_were_written(name: str, revision: int) -> None:
    name += "\0"
    revision = revision or 1
    token = encode_token(f"ns/{name}", revision)
    assert "=" not in token
    assert decode_token(token) == (f"ns/{name}", revision)


@pytest.mark.parametrize(
    ("token", "why"),
    [
        ("garbage", "invalid character '\\u0081' looking for beginning of value"),
        ("a b", "illegal base64 data at input byte 1"),
        ("abcde", "illegal base64 data at input byte 4"),
        ("YQ==", "illegal base64 data at input byte 2"),
        ("", "unexpected end of JSON input"),
        ("e30", 'server does not recognize this encoded version ""'),
        (encode_token("a", 0), "incorrect encoded start resourceVersion (version meta.k8s.io/v1)"),
        (encode_token("", 5), "encoded start key empty (version meta.k8s.io/v1)"),
        (encode_token("../secrets/x", 5), "../secrets/x"),
        (encode_token("//x", 5), "//x"),
        (encode_token("a/../../x", 5), "a/../../x"),
    ],
)
def test_bad_tokens_are_refused(token: str, why: str) -> None:
    with pytest.raises(BadRequest) as raised:
        decode_token(token)
    assert raised.value.message == f"invalid continue token: continue key is not valid: {why}"


def test_waiting_ends_when_the_revision_has_been_seen() -> None:
    asked: list[int] = []
    freshness = Freshness(lambda: asked.append(1))
    freshness.advance(5)
    freshness.wait(5)
    assert asked == []
    threads = [threading.Thread(target=freshness.wait, args=(revision, 5.0)) for revision in (6, 7, 8, 8)]
    for thread in threads:
        thread.start()
    while len(asked) < 4:
        time.sleep(0.001)
    freshness.advance(7)
    threads[0].join(5.0)
    threads[1].join(5.0)
    assert threads[2].is_alive()
    freshness.advance(9)
    for thread in threads:
        thread.join(5.0)
        assert not thread.is_alive()


def test_waiting_in_vain_leaves_nothing_behind() -> None:
    freshness = Freshness(lambda: None)
    for _ in range(3):
        with pytest.raises(Timeout):
            freshness.wait(5, timeout=0.01)
    assert freshness._waiting == []


def test_snapshots_are_few_and_not_old() -> None:
    snapshots = Snapshots(2)
    for revision in (1, 2):
        snapshots.keep(Snapshot(SortedObjects(), revision))
    assert snapshots.get(1) is not None
    snapshots.keep(Snapshot(SortedObjects(), 3))
    assert snapshots.get(2) is None
    assert snapshots.get(1) is not None
    brief = Snapshots(2, seconds=0.0)
    brief.keep(Snapshot(SortedObjects(), 1))
    brief.expire()
    assert len(brief) == 0


def test_requests_that_wait_share_the_question_for_the_revision() -> None:
    asked = 0
    written = 0

    def ask() -> int:
        nonlocal asked
        asked += 1
        answer = written
        time.sleep(0.005)
        return answer

    newest = NewestRevision(ask)
    too_old: list[int] = []

    def run() -> None:
        nonlocal written
        for _ in range(10):
            written += 1
            before = written
            if newest() < before:
                too_old.append(before)

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert too_old == []
    assert asked < 60


def test_a_failing_question_fails_all_that_wait_for_it_and_no_other() -> None:
    answers: list[Exception | int] = [1, UnavailableError("away"), 7]
    release = threading.Event()

    def ask() -> int:
        release.wait(5.0)
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    newest = NewestRevision(ask)
    results: list[str] = []

    def run() -> None:
        try:
            results.append(str(newest()))
        except UnavailableError as error:
            results.append(str(error))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
        time.sleep(0.02)
    release.set()
    for thread in threads:
        thread.join()
    assert sorted(results) == ["1", "away", "away", "away"]
    assert newest() == 7
