"""Ingresses and their classes, NetworkPolicies, ServiceCIDRs and EndpointSlices."""

from __future__ import annotations

from typing import Any

import pytest

from apiserver.api.rest import Context
from apiserver_plugins.resources.discovery_v1 import endpointslices
from apiserver_plugins.resources.networking_v1 import ingressclasses, ingresses, networkpolicies, servicecidrs
from tests.plugins.resources.cases import cells, having
from tests.plugins.resources.rules import changed, created, errors_of

BACKEND = {"service": {"name": "web", "port": {"number": 80}}}
PATH = {"path": "/", "pathType": "Prefix", "backend": BACKEND}
INGRESS: dict[str, Any] = {
    "metadata": {"name": "i", "namespace": "ns"},
    "spec": {"rules": [{"host": "a.example.com", "http": {"paths": [PATH]}}]},
}
HTTP = "spec.rules[0].http.paths[0]"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"spec__rules__0__http__paths__0__path": "/a/.."},
         [f"{HTTP}.path: Invalid value: \"/a/..\": cannot end with '/..'"]),
        ({"spec__rules__0__http__paths": []}, ["spec.rules[0].http.paths: Required value"]),
        ({"spec__rules__0__http__paths__0__backend": {"service": {"name": "1web", "port": {}}}}, None),
        ({"spec__rules__0__http__paths__0__backend": {**BACKEND, "resource": {}}},
         [f'{HTTP}.backend: Invalid value: "": cannot set both resource and service backends']),
        ({"spec__rules__0__http__paths__0__backend": {"resource": {"kind": "a/b"}}},
         [f"{HTTP}.backend.resource.kind: Invalid value: \"a/b\": may not contain '/'",
          f"{HTTP}.backend.resource.name: Required value: name is required"]),
        ({"metadata__annotations": {"kubernetes.io/ingress.class": "a"}, "spec__ingressClassName": "b"},
         ['annotations.kubernetes.io/ingress.class: Invalid value: "a": must match `ingressClassName` when both are '
          "specified"]),
        ({"spec__rules__0__host": "*.example.com"}, []),
    ],
)  # fmt: skip
def test_what_is_wrong_with_an_ingress(ctx: Context, changes: dict[str, Any], expected: list[str] | None) -> None:
    errors = errors_of(ingresses.STRATEGY, ctx, having(INGRESS, **changes))
    assert errors == expected if expected is not None else len(errors) == 2


def test_an_ingress_may_be_nothing_but_a_default(ctx: Context) -> None:
    obj = created(ingresses.STRATEGY, ctx, {**INGRESS, "spec": {"defaultBackend": BACKEND}})
    assert obj["status"] == {"loadBalancer": {}}
    assert cells(ingresses.COLUMNS, obj) == {"Class": "<none>", "Hosts": "*", "Address": "", "Ports": "80"}


def test_an_ingress_in_a_table(ctx: Context) -> None:
    obj = having(created(ingresses.STRATEGY, ctx, INGRESS), spec__rules=[{"host": h} for h in "abcde"], spec__tls=[{}])
    obj = having(obj, status__loadBalancer__ingress=[{"ip": "10.0.0.2"}, {"hostname": "b.example.com"}])
    row = cells(ingresses.COLUMNS, obj)
    assert (row["Hosts"], row["Address"], row["Ports"]) == ("a,b,c + 2 more...", "10.0.0.2,b.example.com", "80, 443")


def test_the_status_of_an_ingress_names_addresses(ctx: Context) -> None:
    old = created(ingresses.STRATEGY, ctx, INGRESS)
    entries = [{"ip": "x"}, {"hostname": "10.0.0.1"}]
    new = having(old, status__loadBalancer__ingress=entries)
    assert changed(ingresses.STATUS, ctx, old, new)[1] == [
        'status.loadBalancer.ingress[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or '
        "2001:db8::ffff)",
        'status.loadBalancer.ingress[1].hostname: Invalid value: "10.0.0.1": must be a DNS name, not an IP address',
    ]


CLASS: dict[str, Any] = {
    "metadata": {"name": "c"},
    "spec": {"controller": "acme.io/x", "parameters": {"apiGroup": "k.example.com", "kind": "P", "name": "p"}},
}


def test_parameters_of_a_class_are_of_the_cluster_unless_said(ctx: Context) -> None:
    stored = created(ingressclasses.STRATEGY, ctx, CLASS)
    assert stored["spec"]["parameters"]["scope"] == "Cluster"
    assert cells(ingressclasses.COLUMNS, stored) == {"Controller": "acme.io/x", "Parameters": "P.k.example.com/p"}
    assert errors_of(ingressclasses.STRATEGY, ctx, having(CLASS, spec__parameters__scope="Namespace")) == [
        "spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'"
    ]
    assert errors_of(ingressclasses.STRATEGY, ctx, having(CLASS, spec__controller="acme")) == [
        'spec.controller: Invalid value: "acme": must be a domain-prefixed path (such as "acme.io/foo")'
    ]
    assert changed(ingressclasses.STRATEGY, ctx, stored, having(stored, spec__controller="acme.io/y"))[1] == [
        'spec.controller: Invalid value: "acme.io/y": field is immutable'
    ]


POLICY: dict[str, Any] = {"metadata": {"name": "n", "namespace": "ns"}, "spec": {"podSelector": {}}}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"ingress": [{"ports": [{"port": 80, "endPort": 70}, {"endPort": 5}, {"protocol": "X"}]}]},
         ["spec.ingress[0].ports[0].endPort: Invalid value: 80: must be greater than or equal to `port`",
          "spec.ingress[0].ports[1].endPort: Invalid value: 5: may not be specified when `port` is not specified",
          'spec.ingress[0].ports[2].protocol: Unsupported value: "X": supported values: "TCP", "UDP", "SCTP"']),
        ({"egress": [{"to": [{"ipBlock": {}}, {"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.0.0.0/8", "x"]}}]}]},
         ["spec.egress[0].to[0].ipBlock.cidr: Required value",
          'spec.egress[0].to[1].ipBlock.except[0]: Invalid value: "10.0.0.0/8": must be a strict subset of `cidr`',
          'spec.egress[0].to[1].ipBlock.except[1]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 '
          "or 2001:db8::/64)"]),
        ({"policyTypes": ["Ingress", "Egress", "Ingress"]},
         ['spec.policyTypes: Invalid value: ["Ingress","Egress","Ingress"]: may not specify more than two '
          "policyTypes"]),
        ({"ingress": [{"from": [{"podSelector": {}, "namespaceSelector": {}}]}]}, []),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_network_policy(ctx: Context, spec: dict[str, Any], expected: list[str]) -> None:
    assert errors_of(networkpolicies.STRATEGY, ctx, {**POLICY, "spec": {"podSelector": {}, **spec}}) == expected


def test_a_network_policy_counts_changes(ctx: Context) -> None:
    old = created(networkpolicies.STRATEGY, ctx, POLICY)
    new, _ = changed(networkpolicies.STRATEGY, ctx, old, having(old, spec__podSelector={"matchLabels": {"a": "b"}}))
    assert (old["metadata"]["generation"], new["metadata"]["generation"]) == (1, 2)
    assert cells(networkpolicies.COLUMNS, new) == {"Pod-Selector": "a=b"}


RANGE: dict[str, Any] = {"metadata": {"name": "r"}, "spec": {"cidrs": ["10.0.0.0/24"]}}


@pytest.mark.parametrize(
    ("cidrs", "expected"),
    [
        ([], ["spec.cidrs: Required value: at least one CIDR required"]),
        (["10.0.0.1/24"], ['spec.cidrs[0]: Invalid value: "10.0.0.1/24": must be in canonical form ("10.0.0.0/24")']),
        (["10.0.0.0/24", "10.0.1.0/24"],
         ['spec.cidrs: Invalid value: ["10.0.0.0/24","10.0.1.0/24"]: may specify no more than one IP for each IP '
          "family, i.e 192.168.0.0/24 and 2001:db8::/96"]),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_range(ctx: Context, cidrs: list[str], expected: list[str]) -> None:
    assert errors_of(servicecidrs.STRATEGY, ctx, {**RANGE, "spec": {"cidrs": cidrs}}) == expected


def test_a_range_gets_a_second_family_at_most(ctx: Context) -> None:
    both = having(RANGE, spec__cidrs=["10.0.0.0/24", "fd00::/112"])
    assert changed(servicecidrs.STRATEGY, ctx, RANGE, both)[1] == []
    assert cells(servicecidrs.COLUMNS, both) == {"CIDRs": "10.0.0.0/24,fd00::/112"}
    assert changed(servicecidrs.STRATEGY, ctx, RANGE, having(RANGE, spec__cidrs=["10.9.0.0/24"]))[1] == [
        'spec.cidrs[0]: Invalid value: "10.9.0.0/24": field is immutable'
    ]
    assert len(changed(servicecidrs.STRATEGY, ctx, both, RANGE)[1]) == 1


SLICE: dict[str, Any] = {
    "metadata": {"name": "s", "namespace": "ns"},
    "addressType": "IPv4",
    "endpoints": [{"addresses": ["10.0.0.1"]}],
    "ports": [{"port": 80}],
}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"addressType": "FQDN", "endpoints": [{"addresses": ["localhost"]}]},
         ['endpoints[0].addresses[0]: Invalid value: "localhost": should be a domain with at least two segments '
          "separated by dots"]),
        ({"endpoints": [{"addresses": ["127.0.0.1"]}]},
         ['endpoints[0].addresses[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, '
          "::1/128)"]),
        ({"ports": [{"port": 1}, {"port": 2}]}, ['ports[1].name: Duplicate value: ""']),
        ({"endpoints": [{"addresses": ["10.0.0.1"], "hints": {"forZones": [{"name": "a"}, {"name": "a"}]}}]},
         ['endpoints[0].hints.forZones[1]: Duplicate value: "a"']),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_slice(ctx: Context, changes: dict[str, Any], expected: list[str]) -> None:
    assert errors_of(endpointslices.STRATEGY, ctx, having(SLICE, **changes)) == expected


def test_labels_count_for_the_generation_of_a_slice(ctx: Context) -> None:
    old = created(endpointslices.STRATEGY, ctx, SLICE)
    assert old["ports"] == [{"port": 80, "protocol": "TCP", "name": ""}]
    new, _ = changed(endpointslices.STRATEGY, ctx, old, having(old, metadata__labels={"a": "b"}))
    assert new["metadata"]["generation"] == 2
    same, _ = changed(endpointslices.STRATEGY, ctx, old, having(old, metadata__annotations={"a": "b"}))
    assert same["metadata"]["generation"] == 1
    other = having(old, addressType="IPv6", endpoints=[{"addresses": ["fd00::1"]}])
    assert changed(endpointslices.STRATEGY, ctx, old, other)[1] == [
        'addressType: Invalid value: "IPv6": field is immutable'
    ]


def test_a_slice_in_a_table() -> None:
    obj = having(SLICE, endpoints=[{"addresses": ["10.0.0.1", "10.0.0.2"]}, {"addresses": ["10.0.0.3", "10.0.0.4"]}])
    row = cells(endpointslices.COLUMNS, having(obj, ports=[{"port": 80}, {"name": "a"}, {}]))
    assert row == {"AddressType": "IPv4", "Ports": "80,a,*", "Endpoints": "10.0.0.1,10.0.0.2,10.0.0.3 + 1 more..."}
    assert cells(endpointslices.COLUMNS, {})["Ports"] == "<unset>"
