"""The service ``kubernetes``, where it is served, and the leases that say which servers there are."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import orjson
import pytest

from apiserver.api.server import Server
from apiserver.api.settings import Config
from apiserver.api.storage import KeyExistsError, KeyValue, ListPage, RevisionMismatchError
from apiserver.testing.server import LocalServer
from apiserver_plugins.controllers import server_leases
from apiserver_plugins.controllers.kubernetes_endpoints import Publisher
from apiserver_plugins.controllers.kubernetes_service import advertised
from apiserver_plugins.controllers.server_leases import RENEW, TTL, Leases
from tests.etcd_server import EtcdServer
from tests.plugins.controllers.owning import eventually
from tests.server import ServerProcess

DEFAULT = "/api/v1/namespaces/default"
SERVICE = f"{DEFAULT}/services/kubernetes"
ENDPOINTS = f"{DEFAULT}/endpoints/kubernetes"
SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"


def addresses(server: ServerProcess) -> list[str]:
    """What the Endpoints say, if the EndpointSlice says the same."""
    slice_ = server.get(f"{SLICES}/kubernetes")
    endpoints = server.get(ENDPOINTS)
    if slice_.status_code != 200 or endpoints.status_code != 200:
        return []
    told = [ip for endpoint in slice_.json()["endpoints"] for ip in endpoint["addresses"]]
    return told if told == [a["ip"] for a in endpoints.json()["subsets"][0]["addresses"]] else []


def says(server: ServerProcess, *expected: str) -> bool:
    return addresses(server) == list(expected)


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("one")
    with ServerProcess(folder, "--workers=2", "--advertise-address=10.1.2.3") as server:
        yield server


def test_the_service_has_the_first_address_and_shows_where_it_is_served(one: ServerProcess) -> None:
    assert eventually(lambda: addresses(one)) == ["10.1.2.3"]
    service = one.get(SERVICE).json()
    assert service["metadata"]["labels"] == {"component": "apiserver", "provider": "kubernetes"}
    port = int(one.url.rpartition(":")[2])
    assert service["spec"]["clusterIP"] == "10.96.0.1"
    (entry,) = service["spec"]["ports"]
    assert entry == {"name": "https", "port": 443, "protocol": "TCP", "targetPort": port}
    slice_ = one.get(f"{SLICES}/kubernetes").json()
    assert slice_["metadata"]["labels"] == {"kubernetes.io/service-name": "kubernetes"}
    assert slice_["addressType"] == "IPv4"
    assert slice_["ports"] == [{"name": "https", "port": port, "protocol": "TCP"}]
    assert slice_["endpoints"] == [{"addresses": ["10.1.2.3"], "conditions": {"ready": True}}]
    endpoints = one.get(ENDPOINTS).json()
    assert endpoints["metadata"]["labels"] == {"endpointslice.kubernetes.io/skip-mirror": "true"}
    assert endpoints["subsets"][0]["ports"] == [{"name": "https", "port": port, "protocol": "TCP"}]


def test_what_is_deleted_or_changed_comes_back(one: ServerProcess) -> None:
    assert eventually(lambda: addresses(one))
    first = one.get(SERVICE).json()["metadata"]["uid"]
    one.delete(SERVICE).raise_for_status()
    one.delete(f"{SLICES}/kubernetes").raise_for_status()
    one.patch(ENDPOINTS, {"subsets": [{"addresses": [{"ip": "10.9.9.9"}]}]}).raise_for_status()
    assert eventually(lambda: one.get(SERVICE).json()["metadata"].get("uid", first) != first)
    assert one.get(SERVICE).json()["spec"]["clusterIP"] == "10.96.0.1"
    assert eventually(lambda: addresses(one) == ["10.1.2.3"])


def test_a_slice_of_the_service_that_nobody_keeps_is_removed(one: ServerProcess) -> None:
    body = {
        "metadata": {"name": "stale", "labels": {"kubernetes.io/service-name": "kubernetes"}},
        "addressType": "IPv6",
        "endpoints": [{"addresses": ["2001:db8::1"]}],
    }
    one.post(SLICES, body).raise_for_status()
    assert eventually(lambda: one.get(f"{SLICES}/stale").status_code == 404)


def test_without_a_reconciler_there_is_the_service_alone(tmp_path: Path) -> None:
    flags = ("--endpoint-reconciler-type=none", "--advertise-address=10.1.2.3")
    with ServerProcess(tmp_path, *flags) as server:
        assert eventually(lambda: server.get(SERVICE).status_code == 200)
        assert server.get(ENDPOINTS).status_code == 404


def test_several_servers_are_all_told_until_they_end(tmp_path: Path, etcd: EtcdServer) -> None:
    shared = (f"--etcd-servers={etcd.endpoint}", "--etcd-prefix=/several-servers")
    with ServerProcess(tmp_path / "a", *shared, "--advertise-address=10.1.0.1") as first:
        with ServerProcess(tmp_path / "b", *shared, "--advertise-address=10.1.0.2") as second:
            for server in (first, second):
                assert eventually(partial(says, server, "10.1.0.1", "10.1.0.2"))
        assert eventually(lambda: addresses(first) == ["10.1.0.1"])


def test_a_second_family_is_told_when_all_servers_have_it() -> None:
    with LocalServer("--service-cluster-ip-range=10.96.0.0/16,fd00:1::/112") as local:
        publisher = Publisher(local.server, ["IPv4", "IPv6"], 6443)

        def told() -> dict[str, list[str]]:
            items = local.get(SLICES).json["items"]
            return {i["metadata"]["name"]: [e["addresses"][0] for e in i.get("endpoints") or ()] for i in items}

        publisher.publish(["10.1.0.1", "2001:db8::1"])
        assert told() == {"kubernetes": ["10.1.0.1"], "kubernetes-v6": ["2001:db8::1"]}
        publisher.publish(["10.1.0.1", "2001:db8::1", "10.1.0.2"])
        assert told() == {"kubernetes": ["10.1.0.1", "10.1.0.2"], "kubernetes-v6": []}


def test_ports_are_set_right_once_and_then_left_to_whoever_changed_them() -> None:
    with LocalServer() as local:

        def ports() -> list[int]:
            return [local.get(f"{SLICES}/kubernetes").json["ports"][0]["port"]]

        first, second = (Publisher(local.server, ["IPv4"], port) for port in (1001, 1002))
        for publisher, port in ((first, 1001), (second, 1002), (first, 1002)):
            publisher.publish(["10.1.0.1"])
            assert ports() == [port]


# -- leases -----------------------------------------------------------------------------------------------------------


class Store:
    """The guarded writes of a driver, with the times to live that were asked for."""

    def __init__(self) -> None:
        self.keys: dict[str, KeyValue] = {}
        self.revision = 0
        self.ttls: list[int | None] = []

    def get(self, key: str) -> KeyValue | None:
        return self.keys.get(key)

    def list(self, prefix: str) -> ListPage:
        items = [self.keys[key] for key in sorted(self.keys) if key.startswith(prefix)]
        return ListPage(items, self.revision, False, 0)

    def create(self, key: str, value: bytes, *, ttl: int | None = None) -> int:
        if key in self.keys:
            raise KeyExistsError
        return self._put(key, value, ttl)

    def update(self, key: str, value: bytes, expected_revision: int, *, ttl: int | None = None) -> int:
        if self.keys[key].mod_revision != expected_revision:
            raise RevisionMismatchError(key, self.keys[key])
        return self._put(key, value, ttl)

    def delete(self, key: str, expected_revision: int) -> int:
        del self.keys[key]
        return self.revision

    def _put(self, key: str, value: bytes, ttl: int | None) -> int:
        self.revision += 1
        self.ttls.append(ttl)
        self.keys[key] = KeyValue(key, value, self.revision, self.revision)
        return self.revision


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


def leases(store: Store, address: str) -> Leases:
    server = SimpleNamespace(storage=store, config=Config({"etcd-prefix": "/registry"}))
    return Leases(cast(Server, server), address)


def test_a_lease_is_what_kube_apiserver_writes() -> None:
    store = Store()
    leases(store, "10.1.0.1").renew()
    written: dict[str, Any] = orjson.loads(store.keys["/registry/masterleases/10.1.0.1"].value)
    assert written["kind"] == "Endpoints"
    assert written["subsets"] == [{"addresses": [{"ip": "10.1.0.1"}]}]
    assert store.ttls == [TTL]


def test_the_processes_of_a_server_renew_their_lease_once_in_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, store = Clock(), Store()
    monkeypatch.setattr(server_leases, "time", clock)
    first, second = leases(store, "10.1.0.1"), leases(store, "10.1.0.1")
    writes = []
    for _ in range(24):
        for process in (first, second):
            process.renew()
        writes.append(store.revision)
        clock.now += 2.5
    # A minute: each time it is RENEW seconds old, by whichever process.
    assert store.revision == 60 / RENEW
    assert max(writes.count(revision) for revision in set(writes)) * 2.5 < TTL


def test_a_process_takes_over_in_time_when_the_other_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, store = Clock(), Store()
    monkeypatch.setattr(server_leases, "time", clock)
    first, second = leases(store, "10.1.0.1"), leases(store, "10.1.0.1")
    first.renew()
    for _ in range(20):
        before = store.revision
        clock.now += 2.4
        second.renew()
        if store.revision > before:
            break
    assert clock.now - 1000.0 < TTL


def test_a_lease_that_was_removed_is_written_again_at_once() -> None:
    store = Store()
    first, second = leases(store, "10.1.0.1"), leases(store, "10.1.0.1")
    first.renew()
    second.remove()
    assert first.addresses() == []
    first.renew()
    leases(store, "10.1.0.2").renew()
    assert first.addresses() == ["10.1.0.1", "10.1.0.2"]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"advertise-address": "10.1.2.3", "bind-address": "0.0.0.0"}, "10.1.2.3"),
        ({"advertise-address": "", "bind-address": "10.4.5.6"}, "10.4.5.6"),
    ],
)
def test_the_address_that_is_told(settings: dict[str, str], expected: str) -> None:
    assert advertised(Config(settings)) == expected


def test_an_address_that_is_no_help_is_not_told() -> None:
    assert advertised(Config({"advertise-address": "127.0.0.1", "bind-address": "::"})) not in ("127.0.0.1", "::")
