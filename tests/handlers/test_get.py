"""GET of one object."""

from __future__ import annotations

import pytest

from tests.handlers.kit import created, deployment, named, refused
from tests.server import ServerProcess


def test_an_object_is_read_as_it_was_written(server: ServerProcess, configmaps: str) -> None:
    made = created(server, configmaps, named("a", data={"x": "1"}))
    answer = server.get(f"{configmaps}/a")
    assert (answer.status_code, answer.json()) == (200, made)
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["Cache-Control"] == "no-cache, private"
    assert answer.headers["Audit-Id"]


def test_a_change_is_read_at_once(server: ServerProcess, configmaps: str) -> None:
    created(server, configmaps, named("a"))
    for number in range(20):
        changed = server.patch(f"{configmaps}/a", {"data": {"n": str(number)}}).json()
        assert server.get(f"{configmaps}/a").json() == changed


def test_what_is_not_there_is_not_found(server: ServerProcess, configmaps: str, deployments: str) -> None:
    status = refused(server.get(f"{configmaps}/a"), 404, "NotFound")
    assert status["message"] == 'configmaps "a" not found'
    assert status["details"] == {"name": "a", "kind": "configmaps"}
    status = refused(server.get(f"{deployments}/a"), 404, "NotFound")
    assert status["message"] == 'deployments.apps "a" not found'
    assert status["details"] == {"name": "a", "group": "apps", "kind": "deployments"}


def test_a_namespace_that_is_not_there_holds_nothing(server: ServerProcess) -> None:
    status = refused(server.get("/api/v1/namespaces/nowhere/configmaps/a"), 404, "NotFound")
    assert status["message"] == 'configmaps "a" not found'


@pytest.mark.parametrize("version", ["", "own"])
def test_any_version_that_is_new_enough_will_do(server: ServerProcess, configmaps: str, version: str) -> None:
    made = created(server, configmaps, named("a"))
    version = made["metadata"]["resourceVersion"] if version == "own" else version
    assert server.get(f"{configmaps}/a", params={"resourceVersion": version}).json() == made


def test_version_zero_is_content_with_what_the_cache_has(server: ServerProcess, configmaps: str) -> None:
    made = created(server, configmaps, named("a"))
    assert server.get(f"{configmaps}/a").json() == made  # from here on the cache has it
    assert server.get(f"{configmaps}/a", params={"resourceVersion": "0"}).json() == made


def test_a_version_is_a_number(server: ServerProcess, configmaps: str) -> None:
    created(server, configmaps, named("a"))
    assert server.get(f"{configmaps}/a?resourceVersion=abc").status_code == 500


def test_exports_are_gone(server: ServerProcess, configmaps: str) -> None:
    created(server, configmaps, named("a"))
    status = refused(server.get(f"{configmaps}/a?export=true"), 400, "BadRequest")
    assert status["message"] == "the export parameter, deprecated since v1.14, is no longer supported"


def test_one_object_is_not_watched_under_its_own_path(server: ServerProcess, configmaps: str) -> None:
    made = created(server, configmaps, named("a"))
    assert server.get(f"{configmaps}/a?watch=true").json() == made


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "BREW"])
def test_other_methods_are_not_allowed(server: ServerProcess, configmaps: str, method: str) -> None:
    created(server, configmaps, named("a"))
    assert server.client.request(method, f"{configmaps}/a").status_code == 405


def test_a_subresource_is_read_under_its_object(server: ServerProcess, deployments: str) -> None:
    made = created(server, deployments, deployment("web"))
    assert server.get(f"{deployments}/web/status").json() == made
    scale = server.get(f"{deployments}/web/scale").json()
    assert (scale["kind"], scale["apiVersion"]) == ("Scale", "autoscaling/v1")
    assert scale["spec"] == {"replicas": 1}
    assert scale["status"] == {"replicas": 0, "selector": "app=web"}
    assert scale["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]


def test_unknown_paths_are_not_found(server: ServerProcess, configmaps: str) -> None:
    created(server, configmaps, named("a"))
    assert server.get("/nothing").text == "404 page not found\n"
    assert server.get("/apis/nothing.example.com/v1/things").text == "404 page not found\n"
    for path in (f"{configmaps}/a/nothing", "/api/v1/nothing", "/api/v7/configmaps"):
        status = refused(server.get(path), 404, "NotFound")
        assert status["message"] == "the server could not find the requested resource"


def test_who_says_nobody_is_nobody(server: ServerProcess, configmaps: str) -> None:
    for token in (None, "wrong-token"):
        with server.connect(token=token) as client:
            status = refused(client.get(configmaps), 401, "Unauthorized")
            assert status["message"] == "Unauthorized"
