"""Certificate requests, webhook configurations, admission policies, flow control and devices, as objects."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from apiserver.api.auth import User
from apiserver.api.rest import Context
from apiserver_plugins.resources.admissionregistration_v1 import bindings, policies, webhooks
from apiserver_plugins.resources.certificates_v1 import certificatesigningrequests as requests
from apiserver_plugins.resources.flowcontrol_v1 import flowschemas, prioritylevelconfigurations
from apiserver_plugins.resources.resource_v1 import claims, devices
from tests.plugins.resources.cases import cells, having
from tests.plugins.resources.rules import changed, created, errors_of


def pem() -> str:
    key = ec.generate_private_key(ec.SECP256R1())
    request = x509.CertificateSigningRequestBuilder().subject_name(x509.Name([])).sign(key, hashes.SHA256())
    return base64.b64encode(request.public_bytes(serialization.Encoding.PEM)).decode()


REQUEST: dict[str, Any] = {
    "metadata": {"name": "Any name"},
    "spec": {"request": pem(), "signerName": "example.com/s", "usages": ["client auth"], "username": "forged"},
}


def test_who_asks_is_noted_by_the_server(ctx: Context) -> None:
    ctx.request.user = User("carol", "u", ("team",), {"k": ("v",)})
    stored = created(requests.STRATEGY, ctx, REQUEST)
    spec = stored["spec"]
    assert (spec["username"], spec["uid"], spec["groups"], spec["extra"]) == ("carol", "u", ["team"], {"k": ["v"]})
    assert requests.STRATEGY.validate_name("Any name", prefix=False) == []
    assert requests.STRATEGY.selectable_fields(stored) == {"spec.signerName": "example.com/s"}
    other, _ = changed(requests.STRATEGY, ctx, stored, having(stored, spec__signerName="example.com/t"))
    assert other["spec"] == spec


@pytest.mark.parametrize(
    ("signer", "problem"),
    [
        ("", "Required value"),
        ("kubernetes.io/legacy-unknown",
         'Invalid value: "kubernetes.io/legacy-unknown": the legacy signerName is not allowed via this API version'),
        ("local/s",
         'Invalid value: "local": should be a domain with at least two segments separated by dots'),
    ],
)  # fmt: skip
def test_names_of_signers(ctx: Context, signer: str, problem: str) -> None:
    assert errors_of(requests.STRATEGY, ctx, having(REQUEST, spec__signerName=signer)) == [
        f"spec.signerName: {problem}"
    ]


def test_an_approval_stays(ctx: Context) -> None:
    stored = created(requests.STRATEGY, ctx, REQUEST)
    approved = having(stored, status={"conditions": [{"type": "Approved", "status": "True"}], "certificate": "eA=="})
    new, errors = changed(requests.APPROVAL, ctx, stored, approved)
    assert errors == []
    assert "certificate" not in new["status"]
    assert new["status"]["conditions"][0]["lastUpdateTime"].endswith("Z")
    text = 'updates may not remove a condition of type "Approved"'
    for strategy in (requests.APPROVAL, requests.STATUS):
        assert changed(strategy, ctx, new, stored)[1] == [f"status.conditions: Forbidden: {text}"]
    assert changed(requests.STATUS, ctx, stored, having(approved, status__certificate=None))[1] == [
        'status.conditions: Forbidden: updates may not add a condition of type "Approved"'
    ]
    assert cells(requests.COLUMNS, having(new, status__certificate="x"))["Condition"] == "Approved,Issued"


def hook(**changes: Any) -> dict[str, Any]:
    one = {
        "name": "a.b.c", "clientConfig": {"url": "https://x/"}, "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }  # fmt: skip
    return {"metadata": {"name": "w"}, "webhooks": [having(one, **changes)]}


HOOK = "webhooks[0]"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"sideEffects": None}, [f"{HOOK}.sideEffects: Required value: must specify one of None, NoneOnDryRun"]),
        ({"admissionReviewVersions": []},
         [f"{HOOK}.admissionReviewVersions: Required value: must specify one of v1, v1beta1"]),
        ({"clientConfig": {"url": "https://u@h/p?q#f"}},
         [f'{HOOK}.clientConfig.url: Invalid value: "f": fragments are not permitted in the URL',
          f'{HOOK}.clientConfig.url: Invalid value: "q": query parameters are not permitted in the URL',
          f'{HOOK}.clientConfig.url: Invalid value: "u": user information is not permitted in the URL']),
        ({"clientConfig": {"service": {"name": "s", "port": 70000, "path": "/a//b"}}},
         [f"{HOOK}.clientConfig.service.namespace: Required value: service namespace is required",
          f'{HOOK}.clientConfig.service.path: Invalid value: "/a//b": segment[1] may not be empty',
          f"{HOOK}.clientConfig.service.port: Invalid value: 70000: port is not valid: must be between 1 and 65535, "
          "inclusive"]),
        ({"rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"],
                     "resources": ["pods/*", "pods/log", "*", "nodes"], "scope": "Here"}]},
         [f'{HOOK}.rules[0].resources: Invalid value: ["pods/*","pods/log","*","nodes"]: if \'*\' is present, must not '
          "specify other resources without subresources",
          f"{HOOK}.rules[0].resources[1]: Invalid value: \"pods/log\": if 'pods/*' is present, must not specify "
          "pods/log",
          f'{HOOK}.rules[0].scope: Unsupported value: "Here": supported values: "*", "Cluster", "Namespaced"']),
        ({"matchConditions": [{"name": "a", "expression": "true"}, {"name": "a", "expression": " "}]},
         [f"{HOOK}.matchConditions[1].expression: Required value",
          f'{HOOK}.matchConditions[1].name: Duplicate value: "a"']),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_webhook(ctx: Context, changes: dict[str, Any], expected: list[str]) -> None:
    assert errors_of(webhooks.VALIDATING, ctx, hook(**changes)) == expected


def test_webhooks_get_defaults(ctx: Context) -> None:
    stored = created(webhooks.MUTATING, ctx, hook(clientConfig={"service": {"name": "s", "namespace": "n"}}, rules=[
        {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*/*"]}]))  # fmt: skip
    one = stored["webhooks"][0]
    assert (one["failurePolicy"], one["matchPolicy"], one["timeoutSeconds"]) == ("Fail", "Equivalent", 10)
    assert (one["reinvocationPolicy"], one["clientConfig"]["service"]["port"]) == ("Never", 443)
    assert one["rules"][0]["scope"] == "*"
    new, _ = changed(webhooks.MUTATING, ctx, stored, having(stored, webhooks__0__timeoutSeconds=5))
    assert new["metadata"]["generation"] == 2
    assert cells(webhooks.COLUMNS, new) == {"Webhooks": 1}


RULES = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}]
MUTATION = {"patchType": "JSONPatch", "jsonPatch": {"expression": "[JSONPatch{op: 'remove', path: '/spec'}]"}}
MUTATING: dict[str, Any] = {
    "metadata": {"name": "m"},
    "spec": {"matchConstraints": {"resourceRules": RULES}, "mutations": [MUTATION], "reinvocationPolicy": "Never"},
}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        ({"spec__mutations": []}, ["spec.mutations: Required value: mutations must contain at least one item"]),
        ({"spec__mutations": [{}, {"patchType": "Sed"}, {"patchType": "ApplyConfiguration"}]},
         ["spec.mutations[0].patchType: Required value",
          'spec.mutations[1].patchType: Unsupported value: "Sed": supported values: "ApplyConfiguration", "JSONPatch"',
          "spec.mutations[2].applyConfiguration: Required value: must be specified when patchType is "
          "ApplyConfiguration"]),
        ({"spec__reinvocationPolicy": None}, ["spec.reinvocationPolicy: Required value"]),
        ({"spec__matchConstraints": {}}, ["spec.matchConstraints.resourceRules: Required value"]),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_mutating_policy(ctx: Context, changes: dict[str, Any], expected: list[str]) -> None:
    assert errors_of(policies.MUTATING, ctx, having(MUTATING, **changes)) == expected


def test_policies_and_bindings_in_tables(ctx: Context) -> None:
    obj = created(policies.MUTATING, ctx, having(MUTATING, spec__paramKind={"apiVersion": "v1", "kind": "ConfigMap"}))
    assert cells(policies.MUTATING_COLUMNS, obj) == {"Mutations": 1, "ParamKind": "v1/ConfigMap"}
    binding = {"metadata": {"name": "b"}, "spec": {"policyName": "p", "paramRef": {"namespace": "n", "name": "x"}}}
    assert cells(bindings.COLUMNS, binding) == {"PolicyName": "p", "ParamRef": "n/x"}
    assert errors_of(bindings.MUTATING, ctx, binding) == ["spec.paramRef.parameterNotFoundAction: Required value"]


SCHEMA: dict[str, Any] = {
    "metadata": {"name": "f"},
    "spec": {
        "priorityLevelConfiguration": {"name": "l"},
        "rules": [
            {
                "subjects": [{"kind": "Group", "group": {"name": "g"}}],
                "nonResourceRules": [{"verbs": ["get"], "nonResourceURLs": ["/x"]}],
            }
        ],
    },
}
RULE = "spec.rules[0]"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        ({"spec__matchingPrecedence": 1},
         ["spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1"]),
        ({"spec__rules": [{}]},
         [f"{RULE}.subjects: Required value: subjects must contain at least one value",
          f"{RULE}: Required value: at least one of resourceRules and nonResourceRules has to be non-empty"]),
        ({"spec__rules__0__subjects": [{"kind": "User", "group": {"name": "g"}}]},
         [f"{RULE}.subjects[0].group: Forbidden: group is forbidden when subject kind is not 'Group'",
          f"{RULE}.subjects[0].user: Required value: user is required when subject kind is 'User'"]),
        ({"spec__rules__0__nonResourceRules": [{"verbs": ["*", "get"], "nonResourceURLs": ["x"]}]},
         [f'{RULE}.nonResourceRules[0].nonResourceURLs[0]: Invalid value: "x": must start with slash',
          f'{RULE}.nonResourceRules[0].verbs: Invalid value: ["*","get"]: if \'*\' is present, must not specify other '
          "verbs"]),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_flow_schema(ctx: Context, changes: dict[str, Any], expected: list[str]) -> None:
    assert errors_of(flowschemas.STRATEGY, ctx, having(SCHEMA, **changes)) == expected


def level(**spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "l"}, "spec": {"type": "Limited", **spec}}


QUEUING = "spec.limited.limitResponse.queuing"


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, ["spec.limited: Required value: must not be empty when type is Limited"]),
        ({"type": "Exempt"}, ['spec.type: Invalid value: "Exempt": type must be \'Exempt\' if and only if name is '
                              "'exempt'"]),
        ({"limited": {"limitResponse": {"type": "Queue"}}},
         [f"{QUEUING}: Required value: must not be empty if limited.limitResponse.type is Limited"]),
        ({"limited": {"lendablePercent": 101, "limitResponse": {"type": "Drop"}}},
         ["spec.limited.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive",
          'spec.limited.limitResponse.type: Unsupported value: "Drop": supported values: "Queue", "Reject"']),
        ({"limited": {"limitResponse": {"type": "Queue", "queuing": {"queues": 512, "handSize": 8}}}},
         [f"{QUEUING}.handSize: Invalid value: 8: required entropy bits of deckSize 512 and handSize 8 should not be "
          "greater than 60"]),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_level(ctx: Context, spec: dict[str, Any], expected: list[str]) -> None:
    assert errors_of(prioritylevelconfigurations.STRATEGY, ctx, level(**spec)) == expected


def test_a_level_in_a_table(ctx: Context) -> None:
    limited = {"limitResponse": {"type": "Queue", "queuing": {}}}
    stored = created(prioritylevelconfigurations.STRATEGY, ctx, level(limited=limited))
    assert cells(prioritylevelconfigurations.COLUMNS, stored) == {
        "Type": "Limited", "NominalConcurrencyShares": 30, "Queues": 64, "HandSize": 8, "QueueLengthLimit": 50,
    }  # fmt: skip
    dangling = {"status": {"conditions": [{"type": "Dangling", "status": "True"}]}}
    assert cells(flowschemas.COLUMNS, dangling)["MissingPL"] == "True"


def test_claims_never_change(ctx: Context) -> None:
    requests_ = [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]
    claim = {"metadata": {"name": "c", "namespace": "ns"}, "spec": {"devices": {"requests": requests_}}}
    stored = created(claims.CLAIM, ctx, claim)
    assert stored["spec"]["devices"]["requests"][0]["exactly"] == {
        "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1,
    }  # fmt: skip
    other = having(stored, spec__devices__requests__0__name="other")
    assert changed(claims.CLAIM, ctx, stored, other)[1][0].endswith("field is immutable")
    assert cells(claims.CLAIM_COLUMNS, stored) == {"State": "pending"}
    assert cells(claims.CLAIM_COLUMNS, having(stored, status={"allocation": {}, "reservedFor": [{}]})) == {
        "State": "allocated,reserved"
    }


def test_slices_of_devices(ctx: Context) -> None:
    spec = {"driver": "gpu.example.com", "nodeName": "n", "pool": {"name": "p", "resourceSliceCount": 1}}
    old = created(devices.SLICE, ctx, {"metadata": {"name": "s"}, "spec": spec})
    assert devices.SLICE.selectable_fields(old) == {"spec.driver": "gpu.example.com", "spec.nodeName": "n"}
    assert cells(devices.SLICE_COLUMNS, old) == {"Node": "n", "Driver": "gpu.example.com", "Pool": "p"}
    assert changed(devices.SLICE, ctx, old, having(old, spec__nodeName="m"))[1] == [
        'spec.nodeName: Invalid value: "m": field is immutable'
    ]
