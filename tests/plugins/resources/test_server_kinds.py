"""Rules of kinds about servers, devices and who leads: what is refused, in which words, and what tables show."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from apiserver.testing.server import LocalServer

Object = dict[str, Any]
GATES = "StorageVersionAPI=true,ClusterTrustBundle=true"
SUBDOMAIN = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters"


@pytest.fixture(scope="module")
def server() -> Iterator[LocalServer]:
    with LocalServer("--runtime-config=api/all=true", f"--feature-gates={GATES}") as found:
        yield found


def obj(version: str, kind: str, name: str, **more: Any) -> Object:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, **more}


def causes(answer: Any) -> list[str]:
    assert answer.status == 422, answer.text
    return [f"{cause['field']}: {cause['message']}" for cause in answer.json["details"]["causes"]]


def cells(server: LocalServer, path: str) -> list[Any]:
    accept = {"Accept": "application/json;as=Table;g=meta.k8s.io;v=v1"}
    found: list[Any] = server.get(path, headers=accept).json["rows"][0]["cells"]
    return found


# -- storage versions -------------------------------------------------------------------------------------------------

VERSIONS = "/apis/internal.apiserver.k8s.io/v1alpha1/storageversions"
CONDITION = {
    "type": "AllEncodingVersionsEqual",
    "status": "True",
    "reason": "R",
    "message": "M",
    "lastTransitionTime": "2020-01-01T00:00:00Z",
}


def storage_version(name: str, **more: Any) -> Object:
    return obj("internal.apiserver.k8s.io/v1alpha1", "StorageVersion", name, spec={}, **more)


def report(server: str, encoding: str, *decodable: str) -> Object:
    return {"apiServerID": server, "encodingVersion": encoding, "decodableVersions": list(decodable)}


def test_a_storage_version_is_named_after_group_and_resource(server: LocalServer) -> None:
    (cause,) = causes(server.post(VERSIONS, storage_version("nodots")))
    assert cause == 'metadata.name: Invalid value: "nodots": name must be in the form of <group>.<resource>'
    (cause,) = causes(server.post(VERSIONS, storage_version("a_b.things")))
    assert "the group segment " + SUBDOMAIN in cause


def test_servers_report_what_they_encode_and_decode(server: LocalServer) -> None:
    assert (
        server.post(VERSIONS, storage_version("apps.things", status={"commonEncodingVersion": "v1"})).json["status"]
        == {}
    )
    path = f"{VERSIONS}/apps.things"
    reports = [report(f"server-{i}", "v1", "v1", "v2") for i in range(4)]
    status = {"storageVersions": reports, "commonEncodingVersion": "v1", "conditions": [CONDITION]}
    assert server.patch(f"{path}/status", {"status": status}).json["status"] == status
    assert cells(server, path)[1:3] == ["v1", "server-0=v1,server-1=v1,server-2=v1 + 1 more..."]
    assert server.patch(path, {"status": {"storageVersions": None}}).json["status"] == status


@pytest.mark.parametrize(
    ("reports", "common", "cause"),
    [
        ([report("a", "v3", "v1")], "v3", 'storageVersions[0].decodableVersions: Invalid value: ["v1"]: '),
        ([report("a", "v1", "v1")], "v2", 'commonEncodingVersion: Invalid value: "v2": the actual common'),
        ([report("a", "v1", "v1")], None, "commonEncodingVersion: Invalid value: null: the common encoding"),
        ([report("a", "v1", "v1"), report("b", "v2", "v2")], "v1", 'commonEncodingVersion: Invalid value: "v1"'),
        ([report("", "v1", "v1")], "v1", 'storageVersions[0].apiServerID: Invalid value: "": ' + SUBDOMAIN),
        (
            [{**report("a", "v1", "v1"), "servedVersions": ["v9"]}],
            "v1",
            'storageVersions[0].servedVersions[0]: Invalid value: "v9": individual served version : v9 must be '
            "included in decodableVersions : [v1]",
        ),
    ],
)  # fmt: skip
def test_reports_that_contradict_themselves_are_refused(
    server: LocalServer, reports: list[Object], common: str | None, cause: str
) -> None:
    server.post(VERSIONS, storage_version("apps.wrong"))
    status = {"storageVersions": reports, "commonEncodingVersion": common}
    (found,) = causes(server.patch(f"{VERSIONS}/apps.wrong/status", {"status": status}))
    assert found.startswith(f"status.{cause}")


def test_conditions_are_complete_and_of_different_types(server: LocalServer) -> None:
    server.post(VERSIONS, storage_version("apps.conditions"))
    twice = [CONDITION, {**CONDITION, "message": ""}]
    found = causes(server.patch(f"{VERSIONS}/apps.conditions/status", {"status": {"conditions": twice}}))
    assert found == [
        'status.conditions[1].type: Invalid value: "AllEncodingVersionsEqual": the type of the condition is not '
        "unique, it also appears in conditions[0]",
        "status.conditions[1].message: Required value: condition message cannot be empty",
    ]


# -- API services -----------------------------------------------------------------------------------------------------

SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"


def api_service(name: str, **spec: Any) -> Object:
    version, _, group = name.partition(".")
    full = {"group": group, "version": version, "groupPriorityMinimum": 10, "versionPriority": 10, **spec}
    return obj("apiregistration.k8s.io/v1", "APIService", name, spec=full)


def test_a_local_api_service_is_available_at_once(server: LocalServer) -> None:
    (condition,) = server.post(SERVICES, api_service("v1.local.example.com")).json["status"]["conditions"]
    assert (condition["type"], condition["status"], condition["reason"]) == ("Available", "True", "Local")
    assert cells(server, f"{SERVICES}/v1.local.example.com")[1:3] == ["Local", "True"]


def test_the_server_behind_an_api_service_has_a_port(server: LocalServer) -> None:
    sent = api_service("v1.remote.example.com", service={"name": "s", "namespace": "n"})
    made = server.post(SERVICES, sent).json
    assert made["spec"]["service"]["port"] == 443
    assert made["status"] == {}
    condition = {"type": "Available", "status": "False", "reason": "ServiceNotFound", "message": "m"}
    condition["lastTransitionTime"] = "2020-01-01T00:00:00Z"
    server.patch(f"{SERVICES}/v1.remote.example.com/status", {"status": {"conditions": [condition]}})
    assert cells(server, f"{SERVICES}/v1.remote.example.com")[1:3] == ["n/s", "False (ServiceNotFound)"]


@pytest.mark.parametrize(
    ("spec", "cause"),
    [
        ({"version": "v2"}, 'metadata.name: Invalid value: "v1.x.example.com": must be `spec.version+"."+spec.group`'),
        ({"groupPriorityMinimum": 20001}, "spec.groupPriorityMinimum: Invalid value: 20001: must be positive"),
        ({"versionPriority": 0}, "spec.versionPriority: Invalid value: 0: must be positive and less than 1000"),
        ({"insecureSkipTLSVerify": True}, "spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not"),
        ({"caBundle": "YWJj"}, 'spec.caBundle: Invalid value: "3 bytes": local APIServices may not have a caBundle'),
        ({"service": {"name": "s"}}, "spec.service.namespace: Required value"),
        ({"service": {"name": "s", "namespace": "n", "port": 70000}}, "spec.service.port: Invalid value: 70000: port"),
        (
            {"service": {"name": "s", "namespace": "n"}, "insecureSkipTLSVerify": True, "caBundle": "YWJj"},
            "spec.insecureSkipTLSVerify: Invalid value: true: may not be true if caBundle is present",
        ),
    ],
)  # fmt: skip
def test_an_api_service_that_cannot_work_is_refused(server: LocalServer, spec: Object, cause: str) -> None:
    (found,) = causes(server.post(SERVICES, api_service("v1.x.example.com", **spec)))
    assert found.startswith(cause)


# -- candidates, taints, questions about pools ------------------------------------------------------------------------

CANDIDATES = "/apis/coordination.k8s.io/v1beta1/namespaces/default/leasecandidates"
RULES = "/apis/resource.k8s.io/v1beta2/devicetaintrules"
REQUESTS = "/apis/resource.k8s.io/v1alpha3/resourcepoolstatusrequests"
GOOD = {"leaseName": "l", "binaryVersion": "1.2.0", "emulationVersion": "1.1.0", "strategy": "OldestEmulationVersion"}


def candidate(name: str, **spec: Any) -> Object:
    kept = {key: value for key, value in {**GOOD, **spec}.items() if value is not None}
    return obj("coordination.k8s.io/v1beta1", "LeaseCandidate", name, spec=kept)


def test_a_candidate_says_for_which_lease_and_keeps_to_it(server: LocalServer) -> None:
    assert server.post(CANDIDATES, candidate("one")).status == 201
    assert cells(server, f"{CANDIDATES}/one")[1:4] == ["l", "1.2.0", "1.1.0"]
    (found,) = causes(server.patch(f"{CANDIDATES}/one", {"spec": {"leaseName": "other"}}))
    assert found == 'spec.leaseName: Invalid value: "other": field is immutable'


@pytest.mark.parametrize(
    ("spec", "cause"),
    [
        ({"leaseName": ""}, "spec.leaseName: Required value"),
        ({"binaryVersion": ""}, "spec.binaryVersion: Required value"),
        ({"binaryVersion": "1"}, 'spec.binaryVersion: Invalid value: "1": No Major.Minor.Patch elements found'),
        ({"emulationVersion": "v1.1.0"}, 'spec.emulationVersion: Invalid value: "v1.1.0": Invalid character(s) found'),
        ({"binaryVersion": "1.0.0"}, 'spec.binaryVersion: Invalid value: "1.0.0": must be greater than or equal to'),
        ({"strategy": ""}, "spec.strategy: Required value"),
        ({"strategy": "Other"}, 'spec.strategy: Unsupported value: "Other": supported values: "Oldest'),
        ({"strategy": "example.com/a b"}, 'spec.strategy: Invalid value: "example.com/a b"'),
        ({"emulationVersion": None}, "spec.emulationVersion: Required value"),
    ],
)  # fmt: skip
def test_a_candidate_that_nobody_could_elect_is_refused(server: LocalServer, spec: Object, cause: str) -> None:
    (found,) = causes(server.post(CANDIDATES, candidate("bad", **spec)))
    assert found.startswith(cause)


def taint_rule(name: str, **taint: Any) -> Object:
    return obj("resource.k8s.io/v1beta2", "DeviceTaintRule", name, spec={"taint": taint})


def test_a_taint_rule_says_since_when(server: LocalServer) -> None:
    made = server.post(RULES, taint_rule("one", key="example.com/broken", effect="NoExecute")).json
    assert made["spec"]["taint"]["timeAdded"].endswith("Z")
    assert cells(server, f"{RULES}/one")[1:4] == ["example.com/broken", "", "NoExecute"]
    assert server.get("/apis/resource.k8s.io/v1alpha3/devicetaintrules/one").json["spec"] == made["spec"]


@pytest.mark.parametrize(
    ("taint", "cause"),
    [
        ({"effect": "NoExecute"}, "spec.taint.key: Required value"),
        ({"key": "a b", "effect": "NoExecute"}, 'spec.taint.key: Invalid value: "a b"'),
        ({"key": "a"}, "spec.taint.effect: Required value"),
        ({"key": "a", "effect": "Away"}, 'spec.taint.effect: Unsupported value: "Away": supported values: "NoExecute"'),
        ({"key": "a", "value": "b c", "effect": "None"}, 'spec.taint.value: Invalid value: "b c"'),
    ],
)
def test_a_taint_rule_that_taints_nothing_is_refused(server: LocalServer, taint: Object, cause: str) -> None:
    (found,) = causes(server.post(RULES, taint_rule("bad", **taint)))
    assert found.startswith(cause)


def test_a_question_about_pools_is_answered_in_its_status(server: LocalServer) -> None:
    kind = "ResourcePoolStatusRequest"
    made = server.post(REQUESTS, obj("resource.k8s.io/v1alpha3", kind, "q", spec={"driver": "gpu.example.com"})).json
    assert made["spec"]["limit"] == 100
    assert cells(server, f"{REQUESTS}/q")[1:] == ["gpu.example.com", *["<none>"] * 5, 0, "Pending", "<none>"]
    pool = {"driver": "gpu.example.com", "poolName": "p", "generation": 1, "totalDevices": 4, "allocatedDevices": 1}
    done = {
        "type": "Complete",
        "status": "True",
        "reason": "R",
        "message": "",
        "lastTransitionTime": CONDITION["lastTransitionTime"],
    }
    status = {"poolCount": 1, "pools": [pool], "conditions": [done]}
    assert server.patch(f"{REQUESTS}/q/status", {"status": status}).status == 200
    assert cells(server, f"{REQUESTS}/q")[1:9] == ["gpu.example.com", "4", "0", "1", "0", "0", 1, "Complete"]
    (found,) = causes(server.patch(f"{REQUESTS}/q", {"spec": {"limit": 5}}))
    assert found.startswith("spec: Invalid value: ")


@pytest.mark.parametrize(
    ("spec", "cause"),
    [
        ({}, "spec.driver: Required value"),
        ({"driver": "a b"}, 'spec.driver: Invalid value: "a b"'),
        ({"driver": "d", "limit": 0}, "spec.limit: Invalid value: 0: must be greater than or equal to 1"),
        ({"driver": "d", "limit": 1001}, "spec.limit: Invalid value: 1001: must be less than or equal to 1000"),
        ({"driver": "d", "poolName": "a b"}, 'spec.poolName: Invalid value: "a b"'),
    ],
)
def test_a_question_that_makes_no_sense_is_refused(server: LocalServer, spec: Object, cause: str) -> None:
    sent = obj("resource.k8s.io/v1alpha3", "ResourcePoolStatusRequest", "bad", spec=spec)
    (found,) = causes(server.post(REQUESTS, sent))
    assert found.startswith(cause)


# -- trust bundles ----------------------------------------------------------------------------------------------------

BUNDLES = "/apis/certificates.k8s.io/v1beta1/clustertrustbundles"


def certificate(*, ca: bool) -> str:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test")])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(1).not_valid_before(now).not_valid_after(now + timedelta(days=1))
    builder = builder.add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
    return builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM).decode()


def bundle(name: str, trusted: str, **spec: Any) -> Object:
    return obj("certificates.k8s.io/v1beta1", "ClusterTrustBundle", name, spec={"trustBundle": trusted, **spec})


def test_a_trust_bundle_is_named_after_its_signer(server: LocalServer) -> None:
    trusted, signer = certificate(ca=True), "example.com/signer"
    assert server.post(BUNDLES, bundle("plain", trusted)).status == 201
    assert server.post(BUNDLES, bundle("example.com:signer:one", trusted, signerName=signer)).status == 201
    listed = server.get(f"{BUNDLES}?fieldSelector=spec.signerName={signer}").json["items"]
    assert [item["metadata"]["name"] for item in listed] == ["example.com:signer:one"]
    (found,) = causes(server.post(BUNDLES, bundle("other", trusted, signerName=signer)))
    assert "must be named with prefix example.com:signer:" in found
    (found,) = causes(server.post(BUNDLES, bundle("a:b", trusted)))
    assert 'must not have ":" in its name' in found


def test_only_authorities_are_trusted(server: LocalServer) -> None:
    (found,) = causes(server.post(BUNDLES, bundle("leaf", certificate(ca=False))))
    assert "does not have the CA bit set" in found
    (found,) = causes(server.post(BUNDLES, bundle("none", "")))
    assert "at least one trust anchor must be provided" in found
