"""The server that plugin authors use in their tests."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from apiserver import ConfigError, Forbidden, Resource, Setting, User, hookimpl
from apiserver.manager import PluginError
from apiserver.testing.server import LocalServer

MAPS = "/api/v1/namespaces/default/configmaps"


def test_it_serves_what_is_installed_and_forgets_it_afterwards():
    with LocalServer() as server:
        assert server.post(MAPS, {"metadata": {"name": "one"}}).status == 201
        assert server.patch(f"{MAPS}/one", {"data": {"a": "b"}}).json["data"] == {"a": "b"}
        events = list(server.watch(f"{MAPS}?watch=true&timeoutSeconds=1&fieldSelector=metadata.name=one"))
        assert [(event["type"], event["object"]["data"]) for event in events] == [("ADDED", {"a": "b"})]
        assert server.delete(f"{MAPS}/one").status == 200
        assert server.put(f"{MAPS}/one", {"metadata": {"name": "one"}}).status == 404
    with LocalServer() as server:
        names = [item["metadata"]["name"] for item in server.get(MAPS).json["items"]]
        assert "one" not in names


def test_plugins_need_not_be_installed():
    @hookimpl
    def apiserver_resources():
        yield Resource("demo.example.com", "v1", "Demo", "demos", schema={"type": "object"}, namespaced=False)

    @hookimpl(priority=9999)
    def apiserver_validate(request):
        raise request.forbidden("no more demos")

    kinds, rules = (SimpleNamespace(**{f.__name__: f}) for f in (apiserver_resources, apiserver_validate))
    with LocalServer(demo_kinds=kinds, demo_rules=rules) as server:
        answer = server.post("/apis/demo.example.com/v1/demos", {"metadata": {"name": "x"}})
        assert answer.status == 403
        assert answer.json["message"] == 'demos.demo.example.com "x" is forbidden: no more demos'


def test_requests_are_whose_they_say():
    ada = User("ada")
    with LocalServer("--authorization-mode=RBAC") as server:
        assert server.get(MAPS, user=ada).status == 403
        assert server.get(MAPS, user=None).status == 403
        assert server.get(MAPS, user=None, headers={"Authorization": "Bearer x"}).status == 401
        assert server.get(MAPS).headers["content-type"] == "application/json"


def test_what_keeps_a_server_from_starting_is_raised():
    @hookimpl
    def apiserver_settings():
        yield Setting("demo-size", "int")

    @hookimpl
    def apiserver_configure(config):
        raise ConfigError("--demo-size: too small")

    @hookimpl
    def apiserver_started(server):
        raise Forbidden("not today")

    sized = SimpleNamespace(apiserver_settings=apiserver_settings, apiserver_configure=apiserver_configure)
    with pytest.raises(ConfigError, match="too small"), LocalServer(sized=sized):
        pass
    with pytest.raises(PluginError, match="implements no hook"), LocalServer(empty=SimpleNamespace()):
        pass
    late = SimpleNamespace(apiserver_started=apiserver_started)
    with pytest.raises(RuntimeError, match="not today"), LocalServer(late=late):
        pass


def test_a_path_may_be_percent_encoded() -> None:
    with LocalServer() as server:
        path = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
        assert server.post(path, {"metadata": {"name": "a:\u00e9"}}).status == 201
        assert server.get(f"{path}/a%3A%C3%A9").json["metadata"]["name"] == "a:\u00e9"
