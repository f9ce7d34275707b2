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
        back = server.patch(f"{PATH}/a{query}", {"data": {"x": "old"}})
        assert back.status == 200
        assert back.json["data"] == {"x": "old"}
        if not query:
            assert int(back.json["metadata"]["resourceVersion"]) > int(changed["metadata"]["resourceVersion"])
            assert server.get(f"{PATH}/a").json["data"] == {"x": "old"}
