"""Updates that start from the watch cache."""

from __future__ import annotations

import pytest

from apiserver.api.names import GroupResource
from apiserver.testing.server import LocalServer

PATH = "/api/v1/namespaces/default/configmaps"


@pytest.mark.parametrize("query", ["", "?dryRun=All"])
def test_a_change_that_changes_nothing_in_an_old_cached_object_is_compared_with_the_stored_one(
    monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    with LocalServer() as server:
        assert server.post(PATH, {"metadata": {"name": "a"}, "data": {"x": "old"}}).status == 201
        store = server.server.store(GroupResource("", "configmaps"))
        server.get(f"{PATH}/a")
        old = store.cache.peek(f"{store.prefix}default/a")
        changed = server.patch(f"{PATH}/a", {"data": {"x": "new"}}).json
        monkeypatch.setattr(store.cache, "peek", lambda _key: old)
        store.codec.forget(f"{store.prefix}default/a")
        back = server.patch(f"{PATH}/a{query}", {"data": {"x": "old"}})
        assert back.status == 200
        assert back.json["data"] == {"x": "old"}
        if not query:
            assert int(back.json["metadata"]["resourceVersion"]) > int(changed["metadata"]["resourceVersion"])
            assert server.get(f"{PATH}/a").json["data"] == {"x": "old"}


def test_the_next_write_starts_from_the_last_one_even_if_the_cache_does_not_have_it_yet(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with LocalServer() as server:
        assert server.post(PATH, {"metadata": {"name": "a"}, "data": {"x": "0"}}).status == 201
        store = server.server.store(GroupResource("", "configmaps"))
        tries = []
        monkeypatch.setattr(store.cache, "peek", lambda _key: None)
        monkeypatch.setattr(store, "_live", tries.append)
        for number in "123":
            answer = server.patch(f"{PATH}/a", {"data": {"x": number}})
            assert (answer.status, answer.json["data"]) == (200, {"x": number})
        assert tries == []
        assert server.delete(f"{PATH}/a").status == 404
        monkeypatch.undo()
        assert server.delete(f"{PATH}/a").status == 200
        assert server.patch(f"{PATH}/a", {"data": {"x": "4"}}).status == 404
