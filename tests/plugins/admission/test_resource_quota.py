"""ResourceQuota: refusals and charges, over HTTP on both stores, with several writers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import STORES, store_arguments
from tests.plugins.controllers.owning import eventually
from tests.server import ServerProcess

Object = dict[str, Any]


class Quotas:
    """A namespace with quotas whose use is known."""

    def __init__(self, server: ServerProcess, namespace: str) -> None:
        self.server = server
        self.base = f"/api/v1/namespaces/{namespace}"

    def limit(self, hard: dict[str, str], name: str = "q", **spec: Any) -> None:
        path = f"{self.base}/resourcequotas"
        made = self.server.post(path, {"metadata": {"name": name}, "spec": {"hard": hard, **spec}})
        assert made.status_code == 201, made.text
        eventually(lambda: self.used(name) is not None and self.used(name).keys() == hard.keys())

    def used(self, name: str = "q") -> Any:
        found = self.server.get(f"{self.base}/resourcequotas/{name}").json()
        return found.get("status", {}).get("used")

    def settled(self, expected: dict[str, str], name: str = "q") -> None:
        eventually(lambda: self.used(name) == expected)
        assert self.used(name) == expected

    def post(self, plural: str, body: Object, query: str = "") -> tuple[int, str]:
        answer = self.server.post(f"{self.base}/{plural}{query}", body)
        return answer.status_code, answer.json().get("message", "")

    def secret(self, name: str, query: str = "") -> tuple[int, str]:
        return self.post("secrets", {"metadata": {"name": name}}, query)

    def pod(self, name: str, requests: Object | None = None, **spec: Any) -> tuple[int, str]:
        container = {"name": "c", "image": "i", "resources": {"requests": requests or {}}}
        return self.post("pods", {"metadata": {"name": name}, "spec": {"containers": [container], **spec}})


@pytest.fixture
def quotas(server: ServerProcess, namespace: str) -> Quotas:
    return Quotas(server, namespace)


def test_what_is_more_than_is_left_is_refused_and_what_is_deleted_makes_room(quotas: Quotas) -> None:
    quotas.limit({"count/secrets": "1"})
    refusal = (
        'secrets "b" is forbidden: exceeded quota: q, requested: count/secrets=1, used: count/secrets=1, '
        "limited: count/secrets=1"
    )
    assert quotas.secret("a", "?dryRun=All")[0] == 201
    assert quotas.secret("a") == (201, "")
    assert quotas.used() == {"count/secrets": "1"}, "charged by the write itself"
    assert quotas.secret("b") == (403, refusal)
    assert quotas.secret("b", "?dryRun=All") == (403, refusal)
    quotas.server.delete(f"{quotas.base}/secrets/a").raise_for_status()
    quotas.settled({"count/secrets": "0"})
    assert quotas.secret("b") == (201, "")


def test_pods_have_to_say_what_is_limited(quotas: Quotas) -> None:
    quotas.limit({"pods": "2", "requests.cpu": "500m", "limits.memory": "1Gi"})
    assert quotas.pod("p") == (
        403,
        'pods "p" is forbidden: failed quota: q: must specify limits.memory for: c; requests.cpu for: c',
    )
    quotas.server.delete(f"{quotas.base}/resourcequotas/q").raise_for_status()
    quotas.limit({"pods": "2", "requests.cpu": "500m"}, "r")
    assert quotas.pod("p", {"cpu": "600m"}) == (
        403,
        'pods "p" is forbidden: exceeded quota: r, requested: requests.cpu=600m, used: requests.cpu=0, '
        "limited: requests.cpu=500m",
    )
    assert quotas.pod("p", {"cpu": "0.4"}) == (201, "")
    assert quotas.pod("q", {"cpu": "200m"})[0] == 403
    assert quotas.pod("q", {"cpu": "100m"})[0] == 201
    assert quotas.used("r") == {"pods": "2", "requests.cpu": "500m"}


def test_updates_are_charged_with_the_difference(quotas: Quotas) -> None:
    quotas.limit({"services": "5", "services.nodeports": "1"})
    service = {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}], "selector": {"a": "b"}}}
    assert quotas.post("services", service)[0] == 201
    path = f"{quotas.base}/services/s"
    assert quotas.server.patch(path, {"spec": {"type": "NodePort"}}).status_code == 200
    assert quotas.used() == {"services": "1", "services.nodeports": "1"}
    ports = {"spec": {"ports": [{"port": 80, "name": "a"}, {"port": 81, "name": "b"}]}}
    refused = quotas.server.patch(path, ports)
    assert (refused.status_code, refused.json()["message"]) == (
        403,
        'services "s" is forbidden: exceeded quota: q, requested: services.nodeports=1, used: services.nodeports=1, '
        "limited: services.nodeports=1",
    )
    assert quotas.server.patch(path, {"metadata": {"labels": {"a": "b"}}}).status_code == 200


def test_a_quota_counts_what_its_scopes_say(quotas: Quotas) -> None:
    quotas.limit({"pods": "1"}, scopes=["Terminating"])
    assert quotas.pod("a") == (201, "")
    assert quotas.pod("b", activeDeadlineSeconds=60) == (201, "")
    assert quotas.pod("c", activeDeadlineSeconds=60)[0] == 403
    assert quotas.pod("c") == (201, "")
    changed = quotas.server.patch(f"{quotas.base}/pods/c", {"spec": {"activeDeadlineSeconds": 60}})
    assert (changed.status_code, changed.json().get("message", "")) == (
        403,
        'pods "c" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1',
    )


def test_each_of_several_quotas_has_to_have_room(quotas: Quotas) -> None:
    quotas.limit({"secrets": "5"}, "wide")
    quotas.limit({"count/secrets": "1"}, "narrow")
    assert quotas.secret("a") == (201, "")
    assert quotas.secret("b")[0] == 403
    assert quotas.used("wide") == {"secrets": "1"}
    assert quotas.used("narrow") == {"count/secrets": "1"}


@pytest.mark.parametrize("store", STORES)
def test_writers_in_several_processes_never_get_more_than_there_is(
    store: str, folder: Path, request: pytest.FixtureRequest
) -> None:
    with ServerProcess(folder, "--workers=2", *store_arguments(store, request)) as server:
        quotas = Quotas(server, server.namespace("crowded"))
        quotas.limit({"count/secrets": "9", "pods": "1"})

        def create(i: int) -> int:
            with server.connect() as client:
                body = {"metadata": {"name": f"s{i}"}}
                return client.post(f"{quotas.base}/secrets", json=body).status_code

        with ThreadPoolExecutor(12) as pool:
            statuses = list(pool.map(create, range(60)))
        # The namespace has one already: the certificates of the server.
        there = len(server.get(f"{quotas.base}/secrets").json()["items"])
        assert there == 9
        assert sorted(set(statuses)) == [201, 403]
        quotas.settled({"count/secrets": "9", "pods": "0"})
