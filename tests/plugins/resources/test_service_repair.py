"""Addresses and node ports that leaked, or that nobody noted, and those that two Services have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from apiserver.testing.server import LocalServer
from apiserver_plugins.resources.core_v1.service import repair as module
from apiserver_plugins.resources.core_v1.service.allocation import Allocators
from apiserver_plugins.resources.core_v1.service.nodeports import parse_range
from apiserver_plugins.resources.core_v1.service.repair import LOOKS, Repair

ADDRESSES = "/apis/networking.k8s.io/v1/ipaddresses"
SERVICES = "/api/v1/namespaces/default/services"
Object = dict[str, Any]


@pytest.fixture(scope="module")
def local() -> Iterator[LocalServer]:
    with LocalServer("--controllers=") as server:
        yield server


@pytest.fixture
def repair(local: LocalServer) -> Repair:
    return Repair(local.server, Allocators(local.server))


@pytest.fixture
def no_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "GRACE", -60.0)


def service(name: str, **spec: Any) -> Object:
    return {"metadata": {"name": name}, "spec": {"ports": [{"port": 80}], **spec}}


def make(local: LocalServer, name: str, **spec: Any) -> Object:
    answer = local.post(SERVICES, service(name, **spec))
    assert answer.status == 201, answer.text
    made: Object = answer.json
    return made


def take(local: LocalServer, ip: str, name: str, **changes: Any) -> None:
    """Note an address as taken for a Service, as the allocator does."""
    parent = {"resource": "services", "namespace": "default", "name": name, **changes}
    labels = {"ipaddress.kubernetes.io/ip-family": "IPv4", "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io"}
    body = {"metadata": {"name": ip, "labels": labels}, "spec": {"parentRef": parent}}
    answer = local.post(ADDRESSES, body)
    assert answer.status == 201, answer.text


def reasons(local: LocalServer, name: str) -> set[str]:
    """Of the events about an object."""
    events = local.get("/api/v1/namespaces/default/events").json["items"]
    return {event["reason"] for event in events if event["involvedObject"]["name"] == name}


def test_an_address_that_a_service_has_is_noted_again(local: LocalServer, repair: Repair) -> None:
    ip = make(local, "lost")["spec"]["clusterIP"]
    local.delete(f"{ADDRESSES}/{ip}")
    repair.look()
    held = local.get(f"{ADDRESSES}/{ip}").json
    assert held["spec"]["parentRef"] == {"resource": "services", "namespace": "default", "name": "lost"}
    assert reasons(local, "lost") == {"ClusterIPNotAllocated"}


def test_an_address_for_a_service_that_does_not_exist_is_given_back_after_a_while(
    local: LocalServer, repair: Repair, monkeypatch: pytest.MonkeyPatch
) -> None:
    take(local, "10.96.3.1", "never")
    repair.look()
    assert local.get(f"{ADDRESSES}/10.96.3.1").status == 200
    monkeypatch.setattr(module, "GRACE", -60.0)
    repair.look()
    assert local.get(f"{ADDRESSES}/10.96.3.1").status == 404
    assert reasons(local, "10.96.3.1") == {"IPAddressNotAllocated"}


@pytest.mark.usefixtures("no_grace")
def test_a_second_address_noted_for_a_service_is_given_back(local: LocalServer, repair: Repair) -> None:
    ip = make(local, "one")["spec"]["clusterIP"]
    take(local, "10.96.3.2", "one")
    repair.look()
    assert local.get(f"{ADDRESSES}/10.96.3.2").status == 404
    assert local.get(f"{ADDRESSES}/{ip}").status == 200
    assert reasons(local, "10.96.3.2") == {"IPAddressWrongReference"}


def test_an_address_noted_for_something_else_is_noted_for_its_service(local: LocalServer, repair: Repair) -> None:
    ip = make(local, "robbed")["spec"]["clusterIP"]
    for changes in ({"name": "nobody"}, {"group": "example.com", "resource": "gateways"}):
        local.delete(f"{ADDRESSES}/{ip}")
        take(local, ip, **{"name": "robbed", **changes})
        repair.look()
        parent = local.get(f"{ADDRESSES}/{ip}").json["spec"]["parentRef"]
        assert parent == {"resource": "services", "namespace": "default", "name": "robbed"}


def test_addresses_of_other_managers_are_left_alone(local: LocalServer, repair: Repair) -> None:
    parent = {"resource": "gateways", "group": "example.com", "name": "g"}
    local.post(ADDRESSES, {"metadata": {"name": "10.96.3.3"}, "spec": {"parentRef": parent}})
    repair.look()
    assert local.get(f"{ADDRESSES}/10.96.3.3").status == 200


def test_an_address_outside_of_every_range_is_reported(local: LocalServer) -> None:
    make(local, "outside")
    elsewhere = Allocators(local.server)
    elsewhere.networks = []
    cidrs = "/apis/networking.k8s.io/v1/servicecidrs"
    local.delete(f"{cidrs}/kubernetes")
    Repair(local.server, elsewhere).look()
    local.post(cidrs, {"metadata": {"name": "kubernetes"}, "spec": {"cidrs": ["10.96.0.0/16"]}})
    assert reasons(local, "outside") == {"ClusterIPOutOfRange"}


def test_a_node_port_that_a_service_has_is_taken_again(local: LocalServer, repair: Repair) -> None:
    port = make(local, "np", type="NodePort")["spec"]["ports"][0]["nodePort"]
    pool = Allocators(local.server).ports
    pool.release({port})
    repair.look()
    assert port in pool.taken()
    assert reasons(local, "np") == {"PortNotAllocated"}


def test_a_node_port_that_nobody_has_is_given_back_when_it_was_seen_often_enough(
    local: LocalServer, repair: Repair
) -> None:
    pool = Allocators(local.server).ports
    pool.take(30999, dry_run=False)
    for _ in range(LOOKS):
        repair.look()
        assert 30999 in pool.taken()
    repair.look()
    assert 30999 not in pool.taken()


def test_a_node_port_that_is_used_in_between_is_no_leak(local: LocalServer, repair: Repair) -> None:
    pool = Allocators(local.server).ports
    pool.take(31000, dry_run=False)
    for _ in range(LOOKS):
        repair.look()
    pool.release({31000})
    make(local, "late", type="NodePort", ports=[{"port": 80, "nodePort": 31000}])
    repair.look()
    assert 31000 in pool.taken()
    local.delete(f"{SERVICES}/late")
    assert 31000 not in pool.taken()


def test_a_health_check_port_is_no_leak(local: LocalServer, repair: Repair) -> None:
    made = make(local, "lb", type="LoadBalancer", externalTrafficPolicy="Local")
    for _ in range(LOOKS + 2):
        repair.look()
    assert made["spec"]["healthCheckNodePort"] in Allocators(local.server).ports.taken()
    assert reasons(local, "lb") == set()


@pytest.mark.parametrize(
    ("text", "expected"), [("30000-32767", (30000, 32767)), ("30000+100", (30000, 30100)), ("80", (80, 80))]
)
def test_ranges_of_ports(text: str, expected: tuple[int, int]) -> None:
    assert parse_range(text) == expected
