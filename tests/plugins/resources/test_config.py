"""ConfigMaps and Secrets."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from apiserver.api.rest import Context
from apiserver_plugins.resources.core_v1.configmaps import ConfigMapStrategy
from apiserver_plugins.resources.core_v1.secrets import SecretStrategy
from tests.plugins.resources.rules import changed, created, errors_of

KEY_TEXT = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  "
    "or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
)


def config_map(**fields: Any) -> dict[str, Any]:
    return {"metadata": {"name": "c"}, **fields}


def secret(kind: str = "", **fields: Any) -> dict[str, Any]:
    obj = {"metadata": {"name": "s"}, **fields}
    return {**obj, "type": kind} if kind else obj


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"data": {"a.b-c_D": "x"}, "binaryData": {"z": "AAEC"}}, []),
        ({"data": {"a b": "x"}}, [f'data[a b]: Invalid value: "a b": {KEY_TEXT}']),
        ({"data": {"..": "x"}}, ["data[..]: Invalid value: \"..\": must not be '..'"]),
        (
            {"data": {"a": "x"}, "binaryData": {"a": "AAEC"}},
            ['data[a]: Invalid value: "a": duplicate of key present in binaryData'],
        ),
        ({"data": {"a": "x" * 1048577}}, ["[]: Too long: may not be more than 1048576 bytes"]),
    ],
)
def test_config_map_keys_and_size(ctx: Context, fields: dict[str, Any], expected: list[str]) -> None:
    assert errors_of(ConfigMapStrategy(), ctx, config_map(**fields)) == expected


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"immutable": True, "data": {"a": "2"}}, "data"),
        ({"immutable": True, "data": {"a": "1"}, "binaryData": {"z": "AAEC"}}, "binaryData"),
        ({"data": {"a": "1"}}, "immutable"),
    ],
)
def test_an_immutable_config_map_stays(ctx: Context, fields: dict[str, Any], field: str) -> None:
    old = config_map(immutable=True, data={"a": "1"})
    _, errors = changed(ConfigMapStrategy(), ctx, old, config_map(**fields))
    assert errors == [f"{field}: Forbidden: field is immutable when `immutable` is set"]


def test_labels_of_an_immutable_config_map_may_change(ctx: Context) -> None:
    old = config_map(immutable=True, data={"a": "1"})
    new = {**old, "metadata": {"name": "c", "labels": {"x": "y"}}}
    assert changed(ConfigMapStrategy(), ctx, old, new)[1] == []


def test_string_data_is_written_into_data(ctx: Context) -> None:
    stored = created(SecretStrategy(), ctx, secret(data={"a": "YQ=="}, stringData={"a": "over", "b": "plain"}))
    assert stored["data"] == {"a": "b3Zlcg==", "b": "cGxhaW4="}
    assert "stringData" not in stored
    assert stored["type"] == "Opaque"


@pytest.mark.parametrize(
    ("obj", "expected"),
    [
        (secret("kubernetes.io/tls", data={"tls.crt": "YQ=="}), ["data[tls.key]: Required value"]),
        (
            secret("kubernetes.io/basic-auth"),
            ["data[password]: Required value", "data[username]: Required value"],
        ),
        (secret("kubernetes.io/basic-auth", data={"username": ""}), []),
        (secret("kubernetes.io/ssh-auth"), ["data[ssh-privatekey]: Required value"]),
        (
            secret("kubernetes.io/service-account-token"),
            ["metadata.annotations[kubernetes.io/service-account.name]: Required value"],
        ),
        (secret("kubernetes.io/dockercfg"), ["data[.dockercfg]: Required value"]),
        (
            secret("kubernetes.io/dockerconfigjson", stringData={".dockerconfigjson": "nope"}),
            [
                "data[.dockerconfigjson]: Invalid value: \"<secret contents redacted>\": invalid character 'o' in "
                "literal null (expecting 'u')"
            ],
        ),
        (secret("kubernetes.io/dockerconfigjson", stringData={".dockerconfigjson": '{"auths": {}}'}), []),
        (secret("example.com/anything"), []),
        (secret(stringData={"a/b": "x"}), [f'data[a/b]: Invalid value: "a/b": {KEY_TEXT}']),
        (
            secret(data={"a": base64.b64encode(b"x" * 1048577).decode()}),
            ["data: Too long: may not be more than 1048576 bytes"],
        ),
    ],
)
def test_a_secret_holds_what_its_type_asks_for(ctx: Context, obj: dict[str, Any], expected: list[str]) -> None:
    assert errors_of(SecretStrategy(), ctx, obj) == expected


def test_the_type_of_a_secret_stays(ctx: Context) -> None:
    old = created(SecretStrategy(), ctx, secret(data={"a": "YQ=="}))
    _, errors = changed(SecretStrategy(), ctx, old, secret("example.com/x", data={"a": "YQ=="}))
    assert errors == ['type: Invalid value: "example.com/x": field is immutable']


def test_a_certificate_that_is_none_is_warned_of(ctx: Context) -> None:
    obj = created(SecretStrategy(), ctx, secret("kubernetes.io/tls", data={"tls.crt": "", "tls.key": ""}))
    warnings = SecretStrategy().warnings_on_create(ctx, obj)
    assert warnings == ["tls: failed to find any PEM data in certificate input"]


def test_secrets_are_selected_by_type() -> None:
    assert SecretStrategy().selectable_fields(secret("x/y")) == {"type": "x/y"}
