"""Services: defaults, families, addresses and ports, validation, changes."""

from __future__ import annotations

import copy
from typing import Any, cast

import pytest

from apiserver.api.errors import Invalid
from apiserver.api.rest import Context, WriteOptions
from apiserver.api.server import Server
from apiserver_plugins.resources.core_v1.service.addresses import ADDRESSES
from apiserver_plugins.resources.core_v1.service.allocation import Allocators
from apiserver_plugins.resources.core_v1.services import ServiceStatusStrategy, ServiceStrategy
from tests.plugins.resources.fake_server import FakeServer

Object = dict[str, Any]


class Registry:
    """Creates and updates Services as the registry does."""

    def __init__(self, **settings: Any) -> None:
        self.server = FakeServer(**settings)
        self.server.serve("networking.k8s.io", "ipaddresses")
        self.strategy = ServiceStrategy(Allocators(cast(Server, self.server)))

    @property
    def ips(self) -> list[str]:
        return sorted(name for _, name in self.server.stores[ADDRESSES].objects)

    def create(self, ctx: Context, spec: Object, name: str = "web", dry_run: bool = False) -> Object:
        obj: Object = {"metadata": {"name": name, "namespace": "ns"}, "spec": copy.deepcopy(spec)}
        self.strategy.default(obj)
        finish = self.strategy.begin_create(ctx, obj, WriteOptions(dry_run=dry_run))
        return self._finish(ctx, obj, None, finish, dry_run)

    def update(self, ctx: Context, old: Object, change: Object, dry_run: bool = False) -> Object:
        obj = copy.deepcopy(old)
        obj["spec"].update(copy.deepcopy(change))
        obj["spec"] = {k: v for k, v in obj["spec"].items() if v is not None}
        self.strategy.default(obj)
        finish = self.strategy.begin_update(ctx, obj, copy.deepcopy(old), WriteOptions(dry_run=dry_run))
        return self._finish(ctx, obj, old, finish, dry_run)

    def _finish(self, ctx: Context, obj: Object, old: Object | None, finish: Any, dry_run: bool) -> Object:
        if old is None:
            self.strategy.prepare_for_create(ctx, obj)
            errors = self.strategy.validate(ctx, obj)
        else:
            self.strategy.prepare_for_update(ctx, obj, old)
            errors = self.strategy.validate_update(ctx, obj, old)
        finish(not errors and not dry_run)
        if errors:
            raise Refused(sorted(map(str, errors)))
        return obj


class Refused(Exception):
    @property
    def texts(self) -> list[str]:
        return list(self.args[0])


def refusal(call: Any, *arguments: Any, **options: Any) -> list[str]:
    with pytest.raises((Refused, Invalid)) as caught:
        call(*arguments, **options)
    if isinstance(caught.value, Refused):
        return caught.value.texts
    assert isinstance(caught.value, Invalid)
    return sorted(map(str, caught.value.errors))


@pytest.fixture
def registry() -> Registry:
    return Registry()


PLAIN = {"ports": [{"port": 80}], "selector": {"app": "web"}}


def test_a_plain_service_gets_an_address_and_defaults(registry: Registry, ctx: Context) -> None:
    spec = registry.create(ctx, PLAIN)["spec"]
    ip = spec.pop("clusterIP")
    assert spec == {
        "clusterIPs": [ip], "internalTrafficPolicy": "Cluster", "ipFamilies": ["IPv4"], "ipFamilyPolicy": "SingleStack",
        "ports": [{"port": 80, "protocol": "TCP", "targetPort": 80}], "selector": {"app": "web"},
        "sessionAffinity": "None", "type": "ClusterIP",
    }  # fmt: skip
    assert registry.ips == [ip]
    address = registry.server.stores[ADDRESSES].objects["", ip]
    assert address["spec"]["parentRef"] == {"resource": "services", "namespace": "ns", "name": "web"}


def test_a_headless_service_needs_no_address(registry: Registry, ctx: Context) -> None:
    spec = registry.create(ctx, {**PLAIN, "clusterIP": "None"})["spec"]
    assert (spec["clusterIPs"], spec["ipFamilies"], registry.ips) == (["None"], ["IPv4"], [])


def test_a_headless_service_without_selector_names_both_families(registry: Registry, ctx: Context) -> None:
    spec = registry.create(ctx, {"clusterIP": "None"})["spec"]
    assert (spec["ipFamilies"], spec["ipFamilyPolicy"]) == (["IPv4", "IPv6"], "RequireDualStack")


def test_an_external_name_has_no_address(registry: Registry, ctx: Context) -> None:
    spec = registry.create(ctx, {"type": "ExternalName", "externalName": "db.example.com"})["spec"]
    assert spec == {"type": "ExternalName", "externalName": "db.example.com", "sessionAffinity": "None"}


def test_two_families_give_two_addresses(ctx: Context) -> None:
    registry = Registry(**{"service-cluster-ip-range": ("10.96.0.0/16", "fd00::/112")})
    spec = registry.create(ctx, {**PLAIN, "ipFamilyPolicy": "PreferDualStack"})["spec"]
    assert spec["ipFamilies"] == ["IPv4", "IPv6"]
    assert spec["clusterIPs"] == [spec["clusterIP"], *[ip for ip in registry.ips if ":" in ip]]
    assert len(registry.ips) == 2


def test_an_address_is_given_out_once(registry: Registry, ctx: Context) -> None:
    ip = registry.create(ctx, PLAIN)["spec"]["clusterIP"]
    assert refusal(registry.create, ctx, {**PLAIN, "clusterIP": ip}, "other") == [
        f'spec.clusterIPs: Invalid value: ["{ip}"]: failed to allocate IP {ip}: provided IP is already allocated'
    ]


def test_all_addresses_of_a_small_range_can_be_used(ctx: Context) -> None:
    registry = Registry(**{"service-cluster-ip-range": ("10.0.0.0/29",)})
    made = {registry.create(ctx, PLAIN, f"s{i}")["spec"]["clusterIP"] for i in range(6)}
    assert made == {f"10.0.0.{i}" for i in range(1, 7)}
    with pytest.raises(Exception, match="failed to allocate a serviceIP: range is full"):
        registry.create(ctx, PLAIN, "one-more")


def test_a_refused_service_gives_its_address_back(registry: Registry, ctx: Context) -> None:
    assert refusal(registry.create, ctx, {**PLAIN, "type": "NodePort", "sessionAffinity": "Sticky"}) == [
        'spec.sessionAffinity: Unsupported value: "Sticky": supported values: "ClientIP", "None"'
    ]
    assert registry.ips == []
    port = registry.create(ctx, {"type": "NodePort", "ports": [{"port": 80, "nodePort": 30005}]})
    assert port["spec"]["ports"][0]["nodePort"] == 30005


def test_a_dry_run_takes_nothing(registry: Registry, ctx: Context) -> None:
    spec = registry.create(ctx, {**PLAIN, "type": "NodePort"}, dry_run=True)["spec"]
    assert spec["clusterIP"]
    assert 30000 <= spec["ports"][0]["nodePort"] <= 32767
    assert registry.ips == []
    assert registry.server.storage.keys == {}


def test_deleting_gives_everything_back(registry: Registry, ctx: Context) -> None:
    ports = {"ports": [{"port": 80, "nodePort": 30001}], "type": "LoadBalancer", "externalTrafficPolicy": "Local"}
    obj = registry.create(ctx, {**PLAIN, **ports, "healthCheckNodePort": 30002})
    registry.strategy.after_delete(ctx, obj)
    assert registry.ips == []
    again = registry.create(ctx, {**PLAIN, **ports, "healthCheckNodePort": 30002})
    assert again["spec"]["healthCheckNodePort"] == 30002


def test_a_node_port_is_given_out_once(registry: Registry, ctx: Context) -> None:
    port = registry.create(ctx, {**PLAIN, "type": "NodePort"})["spec"]["ports"][0]["nodePort"]
    spec = {"type": "NodePort", "ports": [{"port": 81, "nodePort": port}]}
    assert refusal(registry.create, ctx, spec, "other") == [
        f"spec.ports[0].nodePort: Invalid value: {port}: provided port is already allocated"
    ]
    assert len(registry.ips) == 1


def test_a_node_port_is_in_the_range(registry: Registry, ctx: Context) -> None:
    assert refusal(registry.create, ctx, {"type": "NodePort", "ports": [{"port": 80, "nodePort": 80}]}) == [
        "spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports "
        "is 30000-32767"
    ]


def test_one_number_for_both_protocols_gets_one_node_port(registry: Registry, ctx: Context) -> None:
    ports = [{"name": "a", "port": 53, "protocol": "UDP"}, {"name": "b", "port": 53, "protocol": "TCP"}]
    made = registry.create(ctx, {"type": "NodePort", "ports": ports})["spec"]["ports"]
    assert made[0]["nodePort"] == made[1]["nodePort"]


def test_two_processes_that_take_ports_at_once_get_different_ones(registry: Registry, ctx: Context) -> None:
    pool = registry.strategy._allocators.ports  # the race is inside one call
    registry.create(ctx, {"type": "NodePort", "ports": [{"port": 80}]})
    registry.server.storage.before_update = lambda: pool.take(31000, dry_run=False)
    spec = {"type": "NodePort", "ports": [{"port": 80, "nodePort": 31000}]}
    assert refusal(registry.create, ctx, spec, "other") == [
        "spec.ports[0].nodePort: Invalid value: 31000: provided port is already allocated"
    ]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"ports": []}, ["spec.ports: Required value"]),
        (
            {"ports": [{"port": 0}]},
            [
                "spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive",
                "spec.ports[0].targetPort: Invalid value: 0: must be between 1 and 65535, inclusive",
            ],
        ),
        (
            {"ports": [{"port": 80}, {"port": 81}]},
            ["spec.ports[0].name: Required value", "spec.ports[1].name: Required value"],
        ),
        (
            {"ports": [{"port": 80, "name": "a"}, {"port": 80, "name": "b"}]},
            [
                'spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,'
                '"TargetPort":0,"NodePort":0}'
            ],
        ),
        (
            {"ports": [{"port": 80, "targetPort": "Bad_Port_Name!"}]},
            [
                'spec.ports[0].targetPort: Invalid value: "Bad_Port_Name!": must contain only alpha-numeric '
                "characters (a-z, 0-9), and hyphens (-)"
            ],
        ),
        (
            {**PLAIN, "type": "Magic"},
            [
                'spec.type: Unsupported value: "Magic": supported values: "ClusterIP", "ExternalName", '
                '"LoadBalancer", "NodePort"'
            ],
        ),
        (
            {**PLAIN, "clusterIP": "1.2.3"},
            [
                'spec.clusterIPs[0]: Invalid value: "1.2.3": must be a valid IP address, (e.g. 10.9.8.7 or '
                "2001:db8::ffff)"
            ],
        ),
        (
            {**PLAIN, "clusterIP": "10.96.1.1", "clusterIPs": ["10.96.1.2"]},
            ['spec.clusterIPs: Invalid value: ["10.96.1.2"]: first value must match `clusterIP`'],
        ),
        (
            {**PLAIN, "ipFamilyPolicy": "RequireDualStack"},
            [
                'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for '
                "dual-stack services"
            ],
        ),
        (
            {**PLAIN, "ipFamilies": ["IPv6"]},
            ['spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster'],
        ),
        (
            {**PLAIN, "externalTrafficPolicy": "Local"},
            ['spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services'],
        ),
        (
            {**PLAIN, "loadBalancerSourceRanges": ["10.0.0.0/8"]},
            ["spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer'"],
        ),
        (
            {**PLAIN, "externalIPs": ["127.0.0.1"]},
            [
                'spec.externalIPs[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, '
                "::1/128)"
            ],
        ),
        ({"type": "ExternalName"}, ["spec.externalName: Required value"]),
    ],
)
def test_validation(registry: Registry, ctx: Context, spec: Object, expected: list[str]) -> None:
    assert refusal(registry.create, ctx, spec) == expected
    assert registry.ips == []


def test_an_update_without_address_keeps_it(registry: Registry, ctx: Context) -> None:
    old = registry.create(ctx, PLAIN)
    sent = {"clusterIP": None, "clusterIPs": None, "ipFamilies": None, "ipFamilyPolicy": None}
    obj = registry.update(ctx, old, {**sent, "ports": [{"port": 81}]})
    assert obj["spec"]["clusterIP"] == old["spec"]["clusterIP"]
    assert obj["spec"]["ipFamilies"] == ["IPv4"]


def test_an_address_stays(registry: Registry, ctx: Context) -> None:
    old = registry.create(ctx, PLAIN)
    for change in ({"clusterIP": "10.96.99.99", "clusterIPs": ["10.96.99.99"]}, {"clusterIP": "None"}):
        ips = f'["{change["clusterIP"]}"]'
        assert refusal(registry.update, ctx, old, change) == [
            f"spec.clusterIPs[0]: Invalid value: {ips}: may not change once set"
        ]
    assert registry.ips == [old["spec"]["clusterIP"]]


def test_becoming_an_external_name_gives_the_address_back(registry: Registry, ctx: Context) -> None:
    old = registry.create(ctx, PLAIN)
    spec = registry.update(ctx, old, {"type": "ExternalName", "externalName": "x.example.com"})["spec"]
    assert not {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"} & set(spec)
    assert registry.ips == []


def test_becoming_a_cluster_ip_drops_node_ports(registry: Registry, ctx: Context) -> None:
    old = registry.create(ctx, {**PLAIN, "type": "NodePort"})
    spec = registry.update(ctx, old, {"type": "ClusterIP"})["spec"]
    assert spec["ports"] == [{"port": 80, "protocol": "TCP", "targetPort": 80}]
    assert "externalTrafficPolicy" not in spec
    port = old["spec"]["ports"][0]["nodePort"]
    again = registry.create(ctx, {"type": "NodePort", "ports": [{"port": 80, "nodePort": port}]}, "other")
    assert again["spec"]["ports"][0]["nodePort"] == port


def test_status_of_a_service_that_is_no_load_balancer(registry: Registry, ctx: Context) -> None:
    obj = registry.create(ctx, PLAIN)
    obj["status"] = {"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}}
    errors = ServiceStatusStrategy(registry.strategy).validate_update(ctx, obj, obj)
    assert [str(error) for error in errors] == [
        "status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'"
    ]
