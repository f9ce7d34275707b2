"""Get and list: which state they show."""

from __future__ import annotations

import pytest

from apiserver.api import errors
from apiserver.storage.cache import ResourceCache
from apiserver.storage.cache.continuation import encode_token
from tests.storage.cache.kit import PREFIX, Unequal, listed, names, put, remove, where
from tests.storage.cache.memory import MemoryStorage


def test_a_read_without_a_version_sees_every_write_before_it(store: MemoryStorage, cache: ResourceCache) -> None:
    for number in range(200):
        revision = put(store, "a", number=number)
        found = cache.get(f"{PREFIX}ns/a")
        assert found is not None
        assert found.revision == revision
        assert found.decode() | {"number": number} == found.decode()
        assert listed(cache).resource_version == str(revision)


def test_an_object_shows_its_revision_as_resource_version(store: MemoryStorage, cache: ResourceCache) -> None:
    revision = put(store, "a")
    put(store, "b")
    assert [obj.decode()["metadata"]["resourceVersion"] for obj in listed(cache).items] == [
        str(revision),
        str(revision + 1),
    ]


def test_what_is_not_there_is_none(store: MemoryStorage, cache: ResourceCache) -> None:
    assert cache.get(f"{PREFIX}ns/a") is None
    cache.load()
    put(store, "a")
    revision = remove(store, "a")
    assert cache.get(f"{PREFIX}ns/a") is None
    assert listed(cache) == ([], str(revision), "", None)


def test_any_age_does_not_ask_the_store(store: MemoryStorage, cache: ResourceCache) -> None:
    put(store, "a")
    cache.load()
    store.go_away()
    assert names(listed(cache, resource_version="0")) == ["a"]
    found = cache.get(f"{PREFIX}ns/a", "0")
    assert found is not None


def test_a_version_in_the_future_is_waited_for(store: MemoryStorage, cache: ResourceCache) -> None:
    cache.load()
    store.hold(True)
    revision = put(store, "a")
    with pytest.raises(errors.Timeout) as raised:
        cache.get(f"{PREFIX}ns/a", str(revision))
    assert raised.value.message == f"Timeout: Too large resource version: {revision}, current: {revision - 1}"
    assert raised.value.retry_after == 1
    with pytest.raises(errors.Timeout):
        listed(cache, resource_version=str(revision))
    with pytest.raises(errors.Timeout):
        listed(cache, resource_version=str(revision), resource_version_match="Exact")
    store.hold(False)
    assert names(listed(cache, resource_version=str(revision))) == ["a"]


@pytest.mark.parametrize("text", ["abc", "-1", "1.5", " 1", "99999999999999999999999"])
def test_a_version_that_is_no_number_is_refused(cache: ResourceCache, text: str) -> None:
    with pytest.raises(errors.UnknownError, match=r"strconv\.ParseUint"):
        cache.get(f"{PREFIX}ns/a", text)
    with pytest.raises(errors.BadRequest, match="invalid resource version: resourceVersion: Invalid value: "):
        listed(cache, resource_version=text)


def test_lists_are_in_key_order_and_by_namespace(store: MemoryStorage, cache: ResourceCache) -> None:
    for namespace, name in [("b", "z"), ("a", "y"), ("a-b", "x"), ("a", "B"), ("a", "a-1"), ("a", "a")]:
        put(store, name, namespace)
    assert [obj.key[len(PREFIX) :] for obj in listed(cache).items] == ["a-b/x", "a/B", "a/a", "a/a-1", "a/y", "b/z"]
    assert names(listed(cache, f"{PREFIX}a/")) == ["B", "a", "a-1", "y"]
    assert names(listed(cache, f"{PREFIX}none/")) == []


def test_selectors_select(store: MemoryStorage, cache: ResourceCache) -> None:
    for number in range(20):
        put(store, f"n{number:02}", labels={"parity": str(number % 2), "number": str(number)}, color=f"c{number % 5}")
    assert names(listed(cache, label_selector=where(number="7"))) == ["n07"]
    assert names(listed(cache, label_selector=where(parity="1", number="7"))) == ["n07"]
    assert names(listed(cache, label_selector=where(parity="0", number="7"))) == []
    assert names(listed(cache, f"{PREFIX}other/", label_selector=where(number="7"))) == []
    assert len(listed(cache, label_selector=where(parity="1")).items) == 10
    assert len(listed(cache, label_selector=Unequal("number", "7")).items) == 19
    assert names(listed(cache, field_selector=where(**{"spec.color": "c3"}))) == ["n03", "n08", "n13", "n18"]
    assert names(listed(cache, field_selector=where(**{"metadata.name": "n04"}))) == ["n04"]
    assert names(listed(cache, field_selector=where(**{"metadata.name": "n04", "metadata.namespace": "ns"}))) == ["n04"]
    assert names(listed(cache, field_selector=where(**{"metadata.namespace": "x"}))) == []
    assert (
        names(listed(cache, f"{PREFIX}ns/", field_selector=where(**{"metadata.name": "n04", "spec.color": "c1"}))) == []
    )


def test_the_label_index_follows_changes(store: MemoryStorage, cache: ResourceCache) -> None:
    for number in range(10):
        put(store, f"n{number}", labels={"l": "x" if number < 2 else "y"})
    assert names(listed(cache, label_selector=where(l="x"))) == ["n0", "n1"]
    put(store, "n0", labels={"l": "y"})
    assert names(listed(cache, label_selector=where(l="x"))) == ["n1"]
    put(store, "n1")
    assert names(listed(cache, label_selector=where(l="x"))) == []
    put(store, "n5", labels={"l": "x", "m": "1"})
    remove(store, "n6")
    assert names(listed(cache, label_selector=where(l="x"))) == ["n5"]
    assert names(listed(cache, label_selector=where(m="1"))) == ["n5"]
    remove(store, "n5")
    assert names(listed(cache, label_selector=where(l="x"))) == []


def pages(cache: ResourceCache, limit: int, **options: object) -> list[tuple[list[str], str, int | None]]:
    found, token = [], ""
    while True:
        result = listed(cache, limit=limit, continue_token=token, **({} if token else options))
        found.append((names(result), result.resource_version, result.remaining))
        token = result.continue_token
        if not token:
            return found


def test_pages_tell_what_remains(store: MemoryStorage, cache: ResourceCache) -> None:
    for name in "abcde":
        revision = put(store, name)
    version = str(revision)
    assert pages(cache, 2) == [(["a", "b"], version, 3), (["c", "d"], version, 1), (["e"], version, None)]
    assert pages(cache, 5) == [(["a", "b", "c", "d", "e"], version, None)]
    assert pages(cache, -1) == [(["a", "b", "c", "d", "e"], version, None)]


def test_a_token_without_a_limit_gives_the_rest(store: MemoryStorage, cache: ResourceCache) -> None:
    for name in "abcde":
        put(store, name)
    first = listed(cache, limit=2)
    assert names(listed(cache, continue_token=first.continue_token)) == ["c", "d", "e"]


def test_the_limit_is_ignored_at_any_age(store: MemoryStorage, cache: ResourceCache) -> None:
    for name in "abc":
        put(store, name)
    cache.load()
    assert names(listed(cache, limit=1, resource_version="0")) == ["a", "b", "c"]


def test_pages_with_selectors_do_not_count(store: MemoryStorage, cache: ResourceCache) -> None:
    for number in range(6):
        put(store, f"n{number}", labels={"parity": str(number % 2)})
    first = listed(cache, limit=2, label_selector=where(parity="0"))
    assert (names(first), first.remaining) == (["n0", "n2"], None)
    second = listed(cache, limit=2, label_selector=where(parity="0"), continue_token=first.continue_token)
    # What follows does not match, but the page can't know.
    assert (names(second), second.continue_token) == (["n4"], "")


def test_every_page_shows_the_state_of_the_first(store: MemoryStorage, cache: ResourceCache) -> None:
    for number in range(10):
        revision = put(store, f"n{number}", v=1)
    result = listed(cache, limit=3)
    seen = [*result.items]
    for number in range(10):
        put(store, f"n{number}", v=2)
        put(store, f"m{number}", v=2)
        remove(store, f"n{9 - number}")
    while result.continue_token:
        result = listed(cache, limit=3, continue_token=result.continue_token)
        assert result.resource_version == str(revision)
        seen += result.items
    assert [obj.name for obj in seen] == [f"n{number}" for number in range(10)]
    assert all(obj.decode()["v"] == 1 for obj in seen)


@pytest.mark.parametrize("match", ["", "Exact"])
def test_a_version_with_a_limit_means_exactly_that_version(
    store: MemoryStorage, cache: ResourceCache, match: str
) -> None:
    cache.load()
    old = put(store, "a")
    put(store, "b")
    options = {"limit": 10} if not match else {"resource_version_match": match}
    assert names(listed(cache, resource_version=str(old), **options)) == ["a"]
    assert listed(cache, resource_version=str(old), **options).resource_version == str(old)
    assert names(listed(cache, resource_version=str(old))) == ["a", "b"]
    assert names(listed(cache, resource_version=str(old), resource_version_match="NotOlderThan", limit=9)) == ["a", "b"]


def test_exact_versions_older_than_the_cache_come_from_the_store(store: MemoryStorage, cache: ResourceCache) -> None:
    put(store, "a", labels={"x": "1"})
    put(store, "b")
    old = put(store, "c", "other", labels={"x": "1"})
    remove(store, "a")
    put(store, "d")
    cache.load()
    exact = {"resource_version": str(old), "resource_version_match": "Exact"}
    assert names(listed(cache, **exact)) == ["a", "b", "c"]
    assert names(listed(cache, f"{PREFIX}ns/", **exact)) == ["a", "b"]
    assert names(listed(cache, label_selector=where(x="1"), **exact)) == ["a", "c"]
    page = listed(cache, limit=1, **exact)
    assert (names(page), page.remaining) == (["a"], 2)
    assert names(listed(cache, limit=5, continue_token=page.continue_token)) == ["b", "c"]
    store.compact(old + 1)
    with pytest.raises(errors.Expired, match="The resourceVersion for the provided list is too old"):
        listed(cache, **exact)


def test_an_expired_token_comes_back_with_one_to_go_on_with(store: MemoryStorage, cache: ResourceCache) -> None:
    for name in "abcde":
        put(store, name)
    cache.load()
    token = encode_token("ns/b\0", store.revision - 1)
    store.compact(store.revision)
    with pytest.raises(errors.Expired, match="The provided continue parameter is too old") as raised:
        listed(cache, limit=2, continue_token=token)
    put(store, "bb")
    status = raised.value.status()
    assert (status["code"], status["reason"]) == (410, "Expired")
    page = listed(cache, limit=2, continue_token=status["metadata"]["continue"])
    assert (names(page), page.resource_version) == (["bb", "c"], str(store.revision))
    assert names(listed(cache, limit=9, continue_token=page.continue_token)) == ["d", "e"]
