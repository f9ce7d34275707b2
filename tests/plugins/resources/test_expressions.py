"""Expressions in selectors of devices, in webhook configurations and in policies are compiled when they are written."""

from __future__ import annotations

from typing import Any

import pytest

from apiserver.api.rest import Context
from apiserver_plugins.resources.admissionregistration_v1 import policies, webhooks
from apiserver_plugins.resources.resource_v1 import claims, devices
from tests.plugins.resources.cases import having
from tests.plugins.resources.rules import errors_of

RULES = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}]
MATCHING = {"resourceRules": RULES}
VALIDATING: dict[str, Any] = {
    "metadata": {"name": "p"},
    "spec": {"matchConstraints": MATCHING, "validations": [{"expression": "true"}]},
}
MUTATING: dict[str, Any] = {
    "metadata": {"name": "m"},
    "spec": {"matchConstraints": MATCHING, "reinvocationPolicy": "Never", "mutations": []},
}


def device_class(expression: str) -> dict[str, Any]:
    return {"metadata": {"name": "c"}, "spec": {"selectors": [{"cel": {"expression": expression}}]}}


@pytest.mark.parametrize(
    "expression",
    [
        "device.driver == 'gpu.example.com'",
        "device.attributes['gpu.example.com'].model == 'a'",
        "device.attributes['gpu.example.com'].ready",
        "device.capacity['gpu.example.com'].memory.isGreaterThan(quantity('1Gi'))",
        "cel.bind(gpu, device.attributes['gpu.example.com'], gpu.a && gpu.b)",
        "device.attributes['x'].version.isGreaterThan(semver('1.0.0'))",
    ],
)
def test_a_selector_of_devices_is_accepted(ctx: Context, expression: str) -> None:
    assert errors_of(devices.CLASS, ctx, device_class(expression)) == []


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("device.driver", 'Invalid value: "device.driver": must evaluate to bool or the unknown type, not string'),
        ("device.nothing", 'Invalid value: "device.nothing": compilation failed: ERROR: <input>:1:7: undefined field'
            " 'nothing'\n | device.nothing\n | ......^"),
        ("'x' + " + "'a' + " * 2000 + "'x' == ''", "Too long: may not be more than 10240 bytes"),
        ("device.attributes.all(a, device.attributes.all(b, device.attributes.all(c, device.attributes.all(d,"
            " a + b + c + d != ''))))", "Forbidden: too complex, exceeds cost limit"),
    ],
)  # fmt: skip
def test_a_selector_of_devices_is_refused(ctx: Context, expression: str, problem: str) -> None:
    assert errors_of(devices.CLASS, ctx, device_class(expression)) == [f"spec.selectors[0].cel.expression: {problem}"]


def test_selectors_of_claims_are_compiled_too(ctx: Context) -> None:
    exactly = {"deviceClassName": "gpu", "selectors": [{"cel": {"expression": "1"}}, {}]}
    claim = {"metadata": {"name": "c"}, "spec": {"devices": {"requests": [{"name": "r", "exactly": exactly}]}}}
    path = "spec.devices.requests[0].exactly.selectors"
    assert errors_of(claims.CLAIM, ctx, claim) == [
        f'{path}[0].cel.expression: Invalid value: "1": must evaluate to bool or the unknown type, not int',
        f"{path}[1].cel: Required value",
    ]


def test_match_conditions_of_webhooks_are_compiled(ctx: Context) -> None:
    hook = {
        "name": "a.b.c",
        "clientConfig": {"url": "https://x/"},
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "matchConditions": [
            {"name": "good", "expression": "request.operation == 'CREATE' && object.a == 1"},
            {"name": "bad", "expression": " object.a "},
            {"name": "params", "expression": "params == null"},
        ],
    }
    found = errors_of(webhooks.VALIDATING, ctx, {"metadata": {"name": "w"}, "webhooks": [hook]})
    path = "webhooks[0].matchConditions"
    assert found == [
        f'{path}[1].expression: Invalid value: "object.a": must evaluate to bool but got dyn',
        f'{path}[2].expression: Invalid value: "params == null": compilation failed: ERROR: <input>:1:1: undeclared'
        " reference to 'params' (in container '')\n | params == null\n | ^",
    ]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"spec__variables": [{"name": "a", "expression": "size(object.l)"}],
          "spec__validations": [{"expression": "variables.a < 3", "messageExpression": "string(variables.a)"}]}, []),
        ({"spec__variables": [{"name": "a-b", "expression": "1 +"}, {}]},
         ['spec.variables[0].name: Invalid value: "a-b": name is not a valid CEL identifier',
          "spec.variables[1].expression: Required value: expression is not specified",
          "spec.variables[1].name: Required value: name is not specified"]),
        ({"spec__validations": [{"expression": "true", "messageExpression": "5"}]},
         ['spec.validations[0].messageExpression: Invalid value: "5": must evaluate to string but got int']),
        ({"spec__validations": [{"expression": "true", "messageExpression": " "}]},
         ['spec.validations[0].messageExpression: Invalid value: " ": must be non-empty if specified']),
        ({"spec__auditAnnotations": [{"key": "k", "valueExpression": "1"}, {"key": "l", "valueExpression": "null"}]},
         ['spec.auditAnnotations[0].valueExpression: Invalid value: "1":'
          " must evaluate to one of [string null_type] but got int"]),
        ({"spec__paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
          "spec__validations": [{"expression": "params.data.a == 'b'"}],
          "spec__matchConditions": [{"name": "a", "expression": "params != null"}]}, []),
    ],
)  # fmt: skip
def test_expressions_of_validating_policies(ctx: Context, changes: dict[str, Any], expected: list[str]) -> None:
    found = errors_of(policies.VALIDATING, ctx, having(VALIDATING, **changes))
    assert [error for error in found if "compilation failed" not in error] == expected


def test_expressions_of_mutating_policies(ctx: Context) -> None:
    def mutation(kind: str, field: str, expression: str) -> dict[str, Any]:
        return {"patchType": kind, field: {"expression": expression}}

    good = [
        mutation("ApplyConfiguration", "applyConfiguration", "Object{spec: Object.spec{replicas: variables.n}}"),
        mutation("JSONPatch", "jsonPatch", "[JSONPatch{op: 'remove', path: '/spec'}]"),
    ]
    bad = [
        mutation("ApplyConfiguration", "applyConfiguration", "{'a': 1}"),
        mutation("JSONPatch", "jsonPatch", "[JSONPatch{oops: 'remove'}]"),
    ]
    variables = [{"name": "n", "expression": "object.spec.replicas"}]
    path = "spec.mutations"
    assert errors_of(policies.MUTATING, ctx, having(MUTATING, spec__mutations=good, spec__variables=variables)) == []
    assert errors_of(policies.MUTATING, ctx, having(MUTATING, spec__mutations=bad)) == [
        f"{path}[0].applyConfiguration.expression: Invalid value: \"{{'a': 1}}\": must evaluate to Object but got"
        " map(string, int)",
        f"{path}[1].jsonPatch.expression: Invalid value: \"[JSONPatch{{oops: 'remove'}}]\": compilation failed: ERROR:"
        " <input>:1:16: undefined field 'oops'\n | [JSONPatch{oops: 'remove'}]\n | ...............^",
    ]
