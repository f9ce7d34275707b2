"""ServiceCIDRs: the one of the settings, further ones, and what happens to those that are deleted."""

from __future__ import annotations

from typing import Any

import pytest

from apiserver.testing.server import LocalServer
from apiserver_plugins.controllers import default_service_cidr
from apiserver_plugins.controllers.service_cidr_controller import GRACE, look
from tests.plugins.controllers.owning import eventually
from tests.server import ServerProcess

CIDRS = "/apis/networking.k8s.io/v1/servicecidrs"
ADDRESSES = "/apis/networking.k8s.io/v1/ipaddresses"
SERVICES = "/api/v1/namespaces/default/services"
Object = dict[str, Any]


def cidr(name: str, *ranges: str) -> Object:
    return {"metadata": {"name": name}, "spec": {"cidrs": list(ranges)}}


def service(name: str, ip: str = "") -> Object:
    spec: Object = {"ports": [{"port": 80}]}
    return {"metadata": {"name": name}, "spec": {**spec, "clusterIP": ip} if ip else spec}


def ensure(local: LocalServer) -> None:
    """One round of the controller that keeps the default range, which sees all writes up to here."""
    local.get(CIDRS)
    default_service_cidr.ensure(local.server)


def looked(local: LocalServer, seconds: float) -> None:
    """One round of the other controller, ``seconds`` after everything."""
    local.get(CIDRS)
    local.get(ADDRESSES)
    look(local.server, lambda _time: seconds)


def condition(obj: Object) -> tuple[str, str]:
    """Status and message of Ready."""
    for found in obj.get("status", {}).get("conditions", ()):
        if found["type"] == "Ready":
            return found["status"], found["message"]
    return "", ""


def test_the_range_of_the_settings_is_an_object(server: ServerProcess) -> None:
    found = server.get(f"{CIDRS}/kubernetes").json()
    assert found["spec"]["cidrs"] == ["10.96.0.0/16"]
    assert condition(found) == ("True", "Kubernetes default Service CIDR is ready")


def test_another_range_becomes_ready_and_its_addresses_can_be_had(server: ServerProcess, namespace: str) -> None:
    services = f"/api/v1/namespaces/{namespace}/services"
    refused = server.post(services, service("early", "10.200.0.9"))
    assert refused.status_code == 422
    name = f"more-{namespace}"
    server.post(CIDRS, cidr(name, "10.200.0.0/24")).raise_for_status()
    assert eventually(lambda: condition(server.get(f"{CIDRS}/{name}").json())[0] == "True")
    made = server.post(services, service("web", "10.200.0.9"))
    assert made.status_code == 201, made.text
    assert server.get(f"{ADDRESSES}/10.200.0.9").json()["spec"]["parentRef"]["name"] == "web"
    server.delete(f"{CIDRS}/{name}").raise_for_status()
    held = "There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR"
    assert eventually(lambda: condition(server.get(f"{CIDRS}/{name}").json()) == ("False", held))
    late = server.post(services, service("late", "10.200.0.10"))
    assert late.status_code == 422
    server.delete(f"{services}/web").raise_for_status()
    assert eventually(lambda: server.get(f"{CIDRS}/{name}").status_code == 404)


def test_addresses_come_from_further_ranges_when_the_first_is_full() -> None:
    with LocalServer("--service-cluster-ip-range=10.50.0.0/30", "--controllers=") as local:
        # One of two is the service kubernetes's.
        local.post(SERVICES, service("a", "10.50.0.2"))
        assert eventually(lambda: local.get(f"{ADDRESSES}/10.50.0.1").status == 200)
        full = local.post(SERVICES, service("b"))
        assert full.status == 500
        assert full.json["message"] == ("Internal error occurred: failed to allocate a serviceIP: range is full")
        local.post(CIDRS, cidr("more", "10.60.0.0/28"))
        made = local.post(SERVICES, service("b"))
        assert made.status == 201, made.text
        assert made.json["spec"]["clusterIP"].startswith("10.60.0.")
        outside = local.post(SERVICES, service("c", "10.70.0.1"))
        assert "the provided network does not match the current range" in outside.text


def test_a_range_that_is_deleted_waits_for_the_other_servers_to_notice() -> None:
    with LocalServer("--controllers=") as local:
        local.post(CIDRS, cidr("more", "10.60.0.0/28"))
        looked(local, 0.0)
        made = local.get(f"{CIDRS}/more").json
        assert made["metadata"]["finalizers"] == ["networking.k8s.io/service-cidr-finalizer"]
        local.delete(f"{CIDRS}/more")
        looked(local, GRACE / 2)
        assert local.get(f"{CIDRS}/more").status == 200
        looked(local, GRACE * 2)
        assert local.get(f"{CIDRS}/more").status == 404


def test_a_range_within_another_may_go_although_its_addresses_are_in_use() -> None:
    with LocalServer("--controllers=") as local:
        local.post(CIDRS, cidr("part", "10.96.0.0/24"))
        looked(local, 0.0)
        assert eventually(lambda: local.get(f"{ADDRESSES}/10.96.0.1").status == 200)
        local.delete(f"{CIDRS}/part")

        def gone() -> bool:
            looked(local, GRACE * 2)
            return bool(local.get(f"{CIDRS}/part").status == 404)

        assert eventually(gone)


def test_a_second_family_is_added_to_the_range_of_the_settings() -> None:
    ranges = "10.96.0.0/16,fd00:1::/112"
    with LocalServer(f"--service-cluster-ip-range={ranges}", "--controllers=") as local:
        local.delete(f"{CIDRS}/kubernetes")
        local.post(CIDRS, cidr("kubernetes", "10.96.0.0/16"))
        ensure(local)
        assert local.get(f"{CIDRS}/kubernetes").json["spec"]["cidrs"] == ranges.split(",")


@pytest.mark.parametrize("ranges", [("10.50.0.0/16",), ("fd00:1::/112", "10.96.0.0/16")])
def test_another_range_than_that_of_the_settings_is_reported_and_left_alone(ranges: tuple[str, ...]) -> None:
    with LocalServer("--controllers=") as local:
        local.delete(f"{CIDRS}/kubernetes")
        made = local.post(CIDRS, cidr("kubernetes", *ranges)).json

        def reported() -> list[str]:
            ensure(local)
            events = local.get("/api/v1/namespaces/default/events").json["items"]
            return [e["message"] for e in events if e["reason"] == "KubernetesDefaultServiceCIDRInconsistent"]

        (message,) = eventually(reported)
        assert local.get(f"{CIDRS}/kubernetes").json == made
        assert message == (
            f"The default ServiceCIDR [{' '.join(ranges)}] does not match the controller flag configurations "
            "[10.96.0.0/16]"
        )
