"""``--runtime-config``, ``--feature-gates`` and the emulated minor decide which declared resources are served."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from apiserver.api.names import GroupVersionKind
from apiserver.api.resource import FeatureGate, Resource, Subresource
from apiserver.api.settings import ConfigError
from apiserver.enablement import Enablement
from apiserver.registry.kinds import Kinds

STABLE = Resource("apps", "v1", "Deployment", "deployments")
ADDRESS = Resource("networking.k8s.io", "v1", "IPAddress", "ipaddresses", introduced=33)
BETA_ADDRESS = Resource("networking.k8s.io", "v1beta1", "IPAddress", "ipaddresses", introduced=31)
BETA_RANGE = Resource("networking.k8s.io", "v1beta1", "ServiceCIDR", "servicecidrs", introduced=31)
CANDIDATE = Resource("coordination.k8s.io", "v1alpha2", "LeaseCandidate", "leasecandidates", introduced=32)
FLOW = Resource("flowcontrol.apiserver.k8s.io", "v1beta3", "FlowSchema", "flowschemas", enabled=True)
GATED = Resource(
    "internal.apiserver.k8s.io",
    "v1alpha1",
    "StorageVersion",
    "storageversions",
    gate=FeatureGate("StorageVersionAPI"),
)
FOREIGN = Resource("demo.example.com", "v1alpha1", "Demo", "demos", schema={"type": "object"})
ALL = [STABLE, ADDRESS, BETA_ADDRESS, BETA_RANGE, CANDIDATE, FLOW, GATED, FOREIGN]


def served(
    runtime: Mapping[str, str] | None = None, gates: Mapping[str, str] | None = None, minor: int = 36
) -> list[Resource]:
    return Enablement(minor, runtime or {}, gates or {}).apply(ALL, Kinds(minor))


def paths(
    runtime: Mapping[str, str] | None = None, gates: Mapping[str, str] | None = None, minor: int = 36
) -> list[str]:
    return [f"{r.version}/{r.plural}" for r in served(runtime, gates, minor)]


STABLE_PATHS = ["v1/deployments", "v1/ipaddresses"]
BETA_PATHS = ["v1beta1/ipaddresses", "v1beta1/servicecidrs"]


@pytest.mark.parametrize(
    ("runtime", "expected"),
    [
        ({}, [*STABLE_PATHS, "v1alpha1/demos"]),
        (
            {"api/all": "true"},
            [*STABLE_PATHS, *BETA_PATHS, "v1alpha2/leasecandidates", "v1alpha1/demos"],
        ),
        ({"api/beta": "true"}, [*STABLE_PATHS, *BETA_PATHS, "v1alpha1/demos"]),
        ({"api/alpha": "true"}, [*STABLE_PATHS, "v1alpha2/leasecandidates", "v1alpha1/demos"]),
        ({"api/all": "false", "api/ga": "true"}, STABLE_PATHS),
        ({"api/all": "true", "api/beta": "false", "api/alpha": "false"}, STABLE_PATHS),
        ({"api/ga": "false"}, ["v1alpha1/demos"]),
        ({"apps/v1": "false"}, ["v1/ipaddresses", "v1alpha1/demos"]),
        ({"apps/v1": "false", "apps/v1/deployments": "true"}, [*STABLE_PATHS, "v1alpha1/demos"]),
        ({"networking.k8s.io/v1beta1/servicecidrs": ""}, [*STABLE_PATHS, "v1beta1/servicecidrs", "v1alpha1/demos"]),
        (
            {"networking.k8s.io/v1beta1": "1", "networking.k8s.io/v1beta1/servicecidrs": "F"},
            [*STABLE_PATHS, "v1beta1/ipaddresses", "v1alpha1/demos"],
        ),
        ({"demo.example.com/v1alpha1": "false"}, STABLE_PATHS),
    ],
)
def test_what_is_said_most_precisely_counts(runtime: dict[str, str], expected: list[str]) -> None:
    assert paths(runtime) == expected


@pytest.mark.parametrize(
    ("runtime", "problem"),
    [
        ({"api/all": "false"}, "invalid key with only api/all=false"),
        ({"api/all": "maybe"}, "invalid value api/all=maybe"),
        ({"nothing": "true"}, "runtime-config invalid key nothing"),
        ({"a/b/c/d": "true"}, "runtime-config invalid key a/b/c/d"),
        ({"nothing/v1": "true", "other/v1": "true"}, "unknown api groups nothing,other"),
        ({"apps/v9": "true"}, "group version apps/v9 that has not been registered"),
        (
            {"apps/v1": "yes"},
            'invalid value of apps/v1: yes, err: strconv.ParseBool: parsing "yes": invalid syntax',
        ),
        (
            {"apps/v1/Deployments": "true"},
            "invalid key apps/v1/Deployments: group/version/resource and resource is always lowercase plural, "
            'not "Deployments"',
        ),
    ],
)
def test_what_there_is_not_is_refused(runtime: dict[str, str], problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        served(runtime)
    assert caught.value.problems == (f"--runtime-config: {problem}",)


def test_versions_that_upstream_only_decodes_may_be_named() -> None:
    assert paths({"batch/v1beta1": "true", "apps/v1beta1": "false"}) == paths()


def test_a_resource_with_a_gate_needs_it_open() -> None:
    on = {"internal.apiserver.k8s.io/v1alpha1": "true"}
    assert "v1alpha1/storageversions" not in paths(on)
    assert "v1alpha1/storageversions" not in paths(on, {"StorageVersionAPI": "false"})
    assert "v1alpha1/storageversions" in paths(on, {"StorageVersionAPI": "true"})


def test_a_gate_opens_by_itself_with_its_minor() -> None:
    gated = Resource("apps", "v1", "Deployment", "deployments", gate=FeatureGate("Rolling", since=30))

    def found(minor: int, gates: Mapping[str, str]) -> list[Resource]:
        return Enablement(minor, {}, gates).apply([gated], Kinds(minor))

    assert not found(29, {})
    assert found(30, {})
    assert not found(30, {"Rolling": "false"})


def test_a_minor_serves_the_kinds_that_it_had() -> None:
    assert paths({"api/all": "true"}, minor=28) == ["v1/deployments", "v1beta3/flowschemas", "v1alpha1/demos"]
    assert paths(minor=28) == ["v1/deployments", "v1beta3/flowschemas", "v1alpha1/demos"]
    assert "v1beta3/flowschemas" not in paths({"api/all": "true"}, minor=32)


@pytest.mark.parametrize(("minor", "stored"), [(32, "v1beta1"), (33, "v1beta1"), (34, "v1")])
def test_objects_are_stored_in_a_version_that_the_minor_before_can_read(minor: int, stored: str) -> None:
    found = {r.storage_gvk for r in served({"api/all": "true"}, minor=minor) if r.plural == "ipaddresses"}
    assert found == {GroupVersionKind("networking.k8s.io", stored, "IPAddress")}


def test_a_version_switched_off_is_stored_in_all_the_same() -> None:
    found = {r.gvk: r.storage_gvk.version for r in served(minor=33) if r.plural == "ipaddresses"}
    assert found == {ADDRESS.gvk: "v1beta1"}


@pytest.mark.parametrize(
    ("minor", "text"),
    [
        (33, ""),
        (34, "networking.k8s.io/v1beta1 ServiceCIDR is deprecated in v1.34+, unavailable in v1.37+"),
        (36, "networking.k8s.io/v1beta1 ServiceCIDR is deprecated in v1.34+, unavailable in v1.37+"),
    ],
)
def test_a_beta_version_is_deprecated_three_minors_after_it_came(minor: int, text: str) -> None:
    (found,) = (r for r in served({"api/beta": "true"}, minor=minor) if r.plural == "servicecidrs")
    assert found.deprecated == text


def test_a_warning_begins_with_the_minor_that_it_names() -> None:
    endpoints = Resource("", "v1", "Endpoints", "endpoints", deprecated="v1 Endpoints is deprecated in v1.33+")
    texts = {m: Enablement(m).apply([endpoints], Kinds(m))[0].deprecated for m in (32, 33)}
    assert texts == {32: "", 33: "v1 Endpoints is deprecated in v1.33+"}


def test_a_subresource_is_there_from_its_minor_on() -> None:
    pods = Resource("", "v1", "Pod", "pods", subresources=(Subresource("status"), Subresource("resize", introduced=33)))
    names = {m: [s.name for s in Enablement(m).apply([pods], Kinds(m))[0].subresources] for m in (32, 33)}
    assert names == {32: ["status"], 33: ["status", "resize"]}
