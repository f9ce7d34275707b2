"""One object in several versions: stored once, shown in each, in whichever version it was written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from apiserver.testing.server import LocalServer

Object = dict[str, Any]
EVERYTHING = ("--runtime-config=api/all=true", "--feature-gates=StorageVersionAPI=true,ClusterTrustBundle=true")
CLAIMS = "/apis/resource.k8s.io/{}/namespaces/default/resourceclaims"
SLICES = "/apis/resource.k8s.io/{}/resourceslices"
FLAT = {"name": "r", "deviceClassName": "gpu.example.com", "allocationMode": "ExactCount", "count": 1}
EXACT = {"name": "r", "exactly": {key: value for key, value in FLAT.items() if key != "name"}}


@pytest.fixture(scope="module")
def server() -> Iterator[LocalServer]:
    with LocalServer(*EVERYTHING) as found:
        yield found


def obj(version: str, kind: str, name: str, **more: Any) -> Object:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, **more}


def claim(version: str, name: str, *requests: Object) -> Object:
    spec = {"devices": {"requests": list(requests)}}
    return obj(f"resource.k8s.io/{version}", "ResourceClaim", name, spec=spec)


def requests_of(answer: Any) -> list[Object]:
    assert answer.status in (200, 201), answer.text
    found: list[Object] = answer.json["spec"]["devices"]["requests"]
    return found


@pytest.mark.parametrize("written", ["v1", "v1beta1", "v1beta2"])
def test_a_claim_has_the_shape_of_the_version_that_is_asked(server: LocalServer, written: str) -> None:
    name = f"shape-{written}"
    request = FLAT if written == "v1beta1" else EXACT
    assert requests_of(server.post(CLAIMS.format(written), claim(written, name, request))) == [request]
    for version, shape in (("v1", EXACT), ("v1beta2", EXACT), ("v1beta1", FLAT)):
        answer = server.get(f"{CLAIMS.format(version)}/{name}")
        assert requests_of(answer) == [shape]
        assert answer.json["apiVersion"] == f"resource.k8s.io/{version}"
        listed = server.get(CLAIMS.format(version)).json
        assert listed["apiVersion"] == f"resource.k8s.io/{version}"
        assert [shape] in [item["spec"]["devices"]["requests"] for item in listed["items"]]


def test_alternatives_of_a_request_are_the_same_in_all_versions(server: LocalServer) -> None:
    several = {"name": "r", "firstAvailable": [{"name": "s", "deviceClassName": "gpu.example.com"}]}
    assert server.post(CLAIMS.format("v1beta1"), claim("v1beta1", "several", several)).status == 201
    (found,) = requests_of(server.get(f"{CLAIMS.format('v1')}/several"))
    assert "exactly" not in found
    assert found["firstAvailable"][0]["allocationMode"] == "ExactCount"


def test_a_slice_has_the_shape_of_the_version_that_is_asked(server: LocalServer) -> None:
    body = {
        "driver": "gpu.example.com",
        "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
        "nodeName": "n",
        "devices": [{"name": "d", "basic": {"capacity": {"memory": {"value": "1Gi"}}}}],
    }
    sent = obj("resource.k8s.io/v1beta1", "ResourceSlice", "slice", spec=body)
    assert server.post(SLICES.format("v1beta1"), sent).status == 201
    devices = {v: server.get(f"{SLICES.format(v)}/slice").json["spec"]["devices"] for v in ("v1", "v1beta1")}
    assert devices == {"v1": [{"name": "d", "capacity": {"memory": {"value": "1Gi"}}}], "v1beta1": body["devices"]}


def test_what_was_stored_in_another_version_is_read(server: LocalServer) -> None:
    stored = claim("v1beta1", "old", FLAT)
    stored["metadata"] |= {"namespace": "default", "uid": "1", "creationTimestamp": "2024-01-01T00:00:00Z"}
    server.server.storage.create("/registry/resourceclaims/default/old", json.dumps(stored).encode())
    assert requests_of(server.get(f"{CLAIMS.format('v1')}/old")) == [EXACT]
    assert requests_of(server.get(f"{CLAIMS.format('v1beta1')}/old")) == [FLAT]


def test_fields_are_owned_in_the_version_that_was_written(server: LocalServer) -> None:
    path = f"{CLAIMS.format('v1beta1')}/owned"
    applied = claim("v1beta1", "owned", FLAT)
    answer = server.patch(f"{path}?fieldManager=me", applied, "apply")
    assert answer.status == 201, answer.text
    (owner,) = server.get(f"{CLAIMS.format('v1')}/owned").json["metadata"]["managedFields"]
    assert owner["apiVersion"] == "resource.k8s.io/v1beta1"
    again = server.patch(f"{path}?fieldManager=me", applied, "apply")
    assert again.json["metadata"]["resourceVersion"] == answer.json["metadata"]["resourceVersion"]


def test_old_versions_warn(server: LocalServer) -> None:
    answer = server.get(CLAIMS.format("v1beta1"))
    assert "resource.k8s.io/v1beta1 ResourceClaim is deprecated in v1.35+, unavailable in v1.38+" in str(answer.headers)
    assert "deprecated" not in str(server.get(CLAIMS.format("v1")).headers)


def test_admission_policies_are_stored_as_the_minor_before_reads_them(server: LocalServer) -> None:
    kind, plural = "MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings"
    body = obj("admissionregistration.k8s.io/v1", kind, "b", spec={"policyName": "p"})
    assert server.post(f"/apis/admissionregistration.k8s.io/v1/{plural}", body).status == 201
    value = server.server.storage.get(f"/registry/{plural}/b")
    assert value is not None
    assert json.loads(value.value)["apiVersion"] == "admissionregistration.k8s.io/v1beta1"
    for version in ("v1", "v1beta1", "v1alpha1"):
        found = server.get(f"/apis/admissionregistration.k8s.io/{version}/{plural}/b").json
        assert found["apiVersion"] == f"admissionregistration.k8s.io/{version}"


@pytest.mark.parametrize(("minor", "written"), [(25, "v1beta1"), (26, "v1beta2"), (28, "v1beta3"), (31, "v1")])
def test_priority_levels_called_their_shares_by_another_name(minor: int, written: str) -> None:
    group, kind = "flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"
    names = {"v1beta1": "assuredConcurrencyShares", "v1beta2": "assuredConcurrencyShares"}
    newest = "nominalConcurrencyShares"
    limited = {names.get(written, newest): 7, "limitResponse": {"type": "Reject"}}
    with LocalServer(f"--emulated-version=1.{minor}") as old:
        body = obj(f"{group}/{written}", kind, "mine", spec={"type": "Limited", "limited": limited})
        answer = old.post(f"/apis/{group}/{written}/prioritylevelconfigurations", body)
        assert answer.status == 201, answer.text
        for version in (v["version"] for v in old.get(f"/apis/{group}").json["versions"]):
            found = old.get(f"/apis/{group}/{version}/prioritylevelconfigurations/mine").json["spec"]["limited"]
            shares = {key: value for key, value in found.items() if key.endswith("ConcurrencyShares")}
            assert shares == {names.get(version, newest): 7}
