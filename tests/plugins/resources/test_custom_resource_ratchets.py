"""What was kept of a definition that is wrong may stay wrong; nothing may become so."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from apiserver.api.rest import Context
from apiserver_plugins.resources.apiextensions_v1.customresourcedefinitions import STATUS, STRATEGY
from apiserver_plugins.resources.common.certificates import bundle_problem
from tests.plugins.resources.cases import having
from tests.plugins.resources.rules import changed
from tests.plugins.resources.test_custom_resource_definitions import DEFINITION, OTHER, SCHEMA, version

Object = dict[str, Any]

ESTABLISHED = [{"type": "Established", "status": "True"}]
HOOK = {"clientConfig": {"url": "https://h"}, "conversionReviewVersions": ["v1"]}
BAD = base64.b64encode(b"no certificate").decode()


def stored(*versions: Object, established: bool = False, **more: Any) -> Object:
    """A definition as an older server may have kept it."""
    obj = having(DEFINITION, spec__versions=list(versions), **more)
    obj["metadata"]["generation"] = 1
    names = {"plural": "widgets", "kind": "Widget"}
    conditions = ESTABLISHED if established else None
    obj["status"] = {"storedVersions": ["v1"], "acceptedNames": names, "conditions": conditions}
    STRATEGY.default(obj)
    return obj


def field(schema: Object) -> Object:
    return {"type": "object", "properties": {"a": schema}}


def update(ctx: Context, old: Object, new: Object) -> list[str]:
    return changed(STRATEGY, ctx, old, new)[1]


@pytest.mark.parametrize(
    "wrong",
    [
        {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "object"}},
        {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string", "nullable": True}},
        {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
         "items": {"type": "object", "properties": {"k": {"type": "string"}}}},
        {"type": "object", "default": {"unknown": 1}},
    ],
)  # fmt: skip
def test_a_schema_that_newer_rules_refuse_stays(ctx: Context, wrong: Object) -> None:
    fine = stored(version())
    assert update(ctx, fine, having(fine, spec__versions=[version(schema=field(wrong))]))
    old = stored(version(schema=field(wrong)))
    assert update(ctx, old, having(old, metadata__labels={"a": "b"})) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"type": "object", "properties": {"a": {}}},
        {"type": "object", "properties": {"a": {"type": "any"}, "b": {"type": "array"}}},
    ],
)
def test_a_schema_that_is_not_structural_stays_while_nothing_is_pruned(ctx: Context, wrong: Object) -> None:
    old = stored(version(schema=wrong), spec__preserveUnknownFields=True)
    assert update(ctx, old, having(old, metadata__labels={"a": "b"})) == []
    assert update(ctx, old, having(old, spec__preserveUnknownFields=None)) != []
    extended = {**wrong, "x-kubernetes-preserve-unknown-fields": True}
    assert update(ctx, old, having(old, spec__versions=[version(schema=extended)])) != []


def test_a_version_without_a_schema_stays_if_it_is_not_served(ctx: Context) -> None:
    bare = {"name": "v1", "served": False, "storage": True}
    old = stored(bare)
    assert update(ctx, old, having(old, metadata__labels={"a": "b"})) == []
    assert update(ctx, old, having(old, spec__versions=[{**bare, "served": True}])) == [
        "spec.versions[0].schema.openAPIV3Schema: Required value: because otherwise all fields are pruned"
    ]


def test_unknown_fields_are_kept_only_where_they_were(ctx: Context) -> None:
    old = stored(version())
    new = having(old, spec__preserveUnknownFields=True, spec__conversion={"strategy": "Webhook", "webhook": HOOK})
    assert update(ctx, old, new) == [
        'spec.conversion.strategy: Invalid value: "Webhook": must be None if spec.preserveUnknownFields is true',
        "spec.preserveUnknownFields: Invalid value: true: cannot set to true, set "
        "x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
    ]


def test_review_versions_that_nobody_speaks_stay(ctx: Context) -> None:
    odd = {"strategy": "Webhook", "webhook": {**HOOK, "conversionReviewVersions": ["v7"]}}
    old = stored(version(), spec__conversion=odd)
    assert update(ctx, old, having(old, metadata__labels={"a": "b"})) == []
    fine = stored(version(), spec__conversion={"strategy": "Webhook", "webhook": HOOK})
    assert update(ctx, fine, having(fine, spec__conversion=odd)) == [
        'spec.conversion.conversionReviewVersions: Invalid value: ["v7"]: must include at least one of v1, v1beta1'
    ]


def certificate() -> bytes:
    key = ec.generate_private_key(ec.SECP256R1())
    name, today = x509.Name([]), datetime(2026, 1, 1, tzinfo=UTC)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(1).not_valid_before(today).not_valid_after(today + timedelta(days=1))
    return builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


GARBAGE = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
KEY = b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"


@pytest.mark.parametrize(
    ("bundle", "problem"),
    [
        (certificate(), ""),
        (GARBAGE + certificate() + b"rest", ""),
        (GARBAGE, "failed to parse certificate: x509: malformed certificate"),
        (KEY, "no valid certificate authority data seen"),
        (b"x", "unable to parse bytes as PEM block"),
        (KEY + b"x", "unable to parse bytes as PEM block"),
    ],
)
def test_one_certificate_of_a_bundle_is_enough(bundle: bytes, problem: str) -> None:
    assert bundle_problem(bundle) == problem


def test_certificates_are_read_once_the_definition_is_served(ctx: Context) -> None:
    client = {"url": "https://h", "caBundle": BAD}
    bad = {"strategy": "Webhook", "webhook": {**HOOK, "clientConfig": client}}
    young = stored(version())
    assert update(ctx, young, having(young, spec__conversion=bad)) == []
    old = stored(version(), established=True)
    assert update(ctx, old, having(old, spec__conversion=bad)) == [
        f'spec.conversion.webhookClientConfig.caBundle: Invalid value: "{BAD}": unable to load root certificates: '
        "unable to parse bytes as PEM block"
    ]
    already = stored(version(), established=True, spec__conversion=bad)
    assert update(ctx, already, having(already, metadata__labels={"a": "b"})) == []


def test_scope_and_kind_are_free_until_the_definition_is_served(ctx: Context) -> None:
    new = {"spec__scope": "Cluster", "spec__names__kind": "Gadget"}
    young, old = stored(version()), stored(version(), established=True)
    assert update(ctx, young, having(young, **new)) == []
    assert update(ctx, old, having(old, **new)) == [
        'spec.names.kind: Invalid value: "Gadget": field is immutable',
        'spec.scope: Invalid value: "Cluster": field is immutable',
    ]


def test_too_many_selectable_fields_stay_as_they_are(ctx: Context) -> None:
    schema = field({"type": "object", "properties": {f"f{i}": {"type": "string"} for i in range(10)}})
    fields = [{"jsonPath": f".a.f{i}"} for i in range(9)]
    for versions in ([version(schema=schema, selectableFields=fields)],
                     [version(schema=schema, selectableFields=fields), version("v2", OTHER)]):  # fmt: skip
        old = stored(*versions)
        assert update(ctx, old, having(old, metadata__labels={"a": "b"})) == []
        new = having(old, spec__versions__0__selectableFields=[*fields, {"jsonPath": ".a.f9"}])
        assert [text.partition(": ")[2] for text in update(ctx, old, new)] == [
            "Too many: 10: must have at most 8 items"
        ]


def test_the_generation_counts_changes_of_the_spec(ctx: Context) -> None:
    old = stored(version())
    same, _ = changed(STRATEGY, ctx, old, having(old, metadata__labels={"a": "b"}))
    new, _ = changed(STRATEGY, ctx, old, having(old, spec__names__shortNames=["wi"]))
    assert (same["metadata"]["generation"], new["metadata"]["generation"]) == (1, 2)


def test_a_status_leaves_the_spec_alone(ctx: Context) -> None:
    old = stored(version(schema=SCHEMA))
    new = having(old, spec__scope="Cluster", status__storedVersions=["v2"])
    obj, problems = changed(STATUS, ctx, old, new)
    assert (obj["spec"], obj["status"]["storedVersions"], problems) == (old["spec"], ["v2"], [])
