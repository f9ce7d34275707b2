"""Single expressions: variables, wanted types, policies' variables, patches, questions to the authorizer."""

from __future__ import annotations

import contextlib

import pytest

from apiserver.cel import admission, patches
from apiserver.cel.expressions import ANY, Compiler, EvaluationError, ExpressionError
from apiserver.cel.libraries import authz
from apiserver.cel.schema_types import DeclaredType


def complaint(compiler: Compiler, expression: str, *wanted: str) -> str:
    with pytest.raises(ExpressionError) as caught:
        compiler.compile(expression, *wanted)
    return str(caught.value)


WEBHOOK = admission.compiler(params=False, authorizer=True)


def test_an_expression_of_another_type_is_refused_with_both_types():
    assert complaint(WEBHOOK, "1 + 1", "bool") == "must evaluate to bool but got int"
    assert complaint(WEBHOOK, "object.x", "bool") == "must evaluate to bool but got dyn"
    assert complaint(WEBHOOK, "[1]", "string", "null_type") == (
        "must evaluate to one of [string null_type] but got list(int)"
    )


def test_the_request_is_a_struct_and_the_object_is_not():
    assert complaint(WEBHOOK, "request.nothing == 1", "bool") == (
        "compilation failed: ERROR: <input>:1:8: undefined field 'nothing'\n | request.nothing == 1\n | .......^"
    )
    assert WEBHOOK.compile("object.anything == request.userInfo.extra['a'][0]", "bool").names == {"object", "request"}


def test_parameters_are_there_only_for_who_has_them():
    assert "undeclared reference to 'params'" in complaint(WEBHOOK, "params == null", "bool")
    with_params = admission.compiler(params=True, authorizer=False)
    assert with_params.compile("params == null", "bool").evaluate({"params": None}) is True
    assert "undeclared reference to 'authorizer'" in complaint(with_params, "authorizer.group('') == null", "bool")


def test_only_what_an_expression_uses_must_be_bound():
    expression = WEBHOOK.compile("object.a == 1", "bool")
    assert expression.evaluate({"object": {"a": 1}}) is True
    with pytest.raises(EvaluationError, match="no such attribute"):
        expression.evaluate({})


def test_variables_of_a_policy_use_those_before_them_with_their_types():
    policy = admission.Composition(params=False)
    policy.add("keys", "has(object.data) ? object.data.map(k, k) : []")
    policy.add("count", "size(variables.keys)")
    compiler = policy.compiler(authorizer=True)
    assert compiler.compile("variables.count < 4 && !('a' in variables.keys)", "bool").evaluate(
        {"variables.count": 1, "variables.keys": ["b"]}
    )
    assert complaint(compiler, "variables.count", "string") == "must evaluate to string but got int"
    assert "undefined field 'later'" in complaint(compiler, "variables.later == 1", "bool")
    with pytest.raises(ExpressionError):
        policy.add("broken", "1 +")
    assert policy.compiler(authorizer=True).compile("variables.broken", ANY).result == "dyn"


def test_the_authorizer_is_asked_when_an_expression_asks():
    asked = []

    def authorize(question):
        asked.append(dict(question))
        return authz.Decision(question["verb"] == "list", "because")

    text = (
        "authorizer.group('apps').resource('pods').subresource('status').namespace('n').name('x').check('list').allowed()"
        " && !authorizer.path('/healthz').check('get').allowed()"
        " && authorizer.serviceAccount('n', 'sa').group('').resource('secrets').check('get').reason() == 'because'"
        " && !authorizer.requestResource.check('update').errored()"
    )
    values = {
        "authorizer": authz.authorizer(),
        "authorizer.requestResource": authz.resource_check(group="", resource="configmaps", namespace="n"),
    }
    with authz.answering(authorize):
        assert WEBHOOK.compile(text, "bool").evaluate(values) is True
    assert asked == [
        {"group": "apps", "resource": "pods", "subresource": "status", "namespace": "n", "name": "x", "verb": "list"},
        {"path": "/healthz", "verb": "get"},
        {"serviceAccount": ["n", "sa"], "group": "", "resource": "secrets", "verb": "get"},
        {"group": "", "resource": "configmaps", "namespace": "n", "verb": "update"},
    ]


PATCHING = admission.compiler(params=False, authorizer=True, makes_patches=True)


def test_patches_are_plain_json():
    configuration = "Object{metadata: Object.metadata{labels: {'a': object.metadata.name}}, spec: Object.spec{n: 1}}"
    made = PATCHING.compile(configuration, patches.OBJECT).evaluate({"object": {"metadata": {"name": "x"}}})
    assert made == {"metadata": {"labels": {"a": "x"}}, "spec": {"n": 1}}
    steps = "[JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('a/b'), value: [1]}]"
    made = PATCHING.compile(steps, patches.JSON_PATCHES).evaluate({})
    assert made == [{"op": "add", "path": "/metadata/labels/a~1b", "value": [1]}]


def test_errors_of_patches_show_what_was_written():
    text = "Object{spec: Object.spec{a: 1 + 'x'}}"
    assert complaint(PATCHING, text, patches.OBJECT) == (
        "compilation failed: ERROR: <input>:1:31: found no matching overload for '_+_' applied to '(int, string)'\n"
        f" | {text}\n | ..............................^"
    )
    assert "undefined field 'zap'" in complaint(PATCHING, "[JSONPatch{zap: 'x'}]", patches.JSON_PATCHES)
    assert complaint(PATCHING, "1", patches.OBJECT) == "must evaluate to Object but got int"


def test_fields_of_structs_may_have_types_that_protobuf_has_no_form_for():
    inner = DeclaredType("map", 2, 4, DeclaredType("any", 1, 8))
    device = DeclaredType("object", 2, fields={"attributes": DeclaredType("map", 2, 4, inner)})
    compiler = Compiler({"device": device}, extensions=("bindings",))
    expression = compiler.compile("cel.bind(d, device.attributes['x'], d.a == 1)", "bool")
    assert expression.evaluate({"device": {"attributes": {"x": {"a": 1}}}}) is True
    assert compiler.compile("device.attributes['x'].a", ANY).result == "any"
    assert compiler.compile("device.attributes['x'].a.contains('y')", "bool").most == 5


@pytest.mark.parametrize("depth", [40, 300, 3000])
def test_what_is_nested_too_deeply_is_refused(depth):
    any_compiler = Compiler({"x": "dyn"})
    nested = "true"
    for i in range(min(depth, 300)):
        nested = f"[1].all(v{i}, {nested})"
    for expression in ("(" * depth + "1" + ")" * depth, "+".join(["1"] * depth), "[" * depth + "]" * depth, nested):
        assert complaint(any_compiler, expression, ANY) == (
            "compilation failed: ERROR: <input>:-1:0: expression recursion limit exceeded: 32"
        )


def test_nested_comprehensions_run_as_deep_as_they_compile():
    any_compiler, nested = Compiler({"x": "dyn"}), "true"
    for i in range(40):
        nested = f"[1].all(v{i}, {nested})"
        with contextlib.suppress(ExpressionError):
            expression = any_compiler.compile(nested, "bool")
            assert expression.evaluate({}) is True
            assert expression.most < 10**12
            deepest = i
    assert deepest >= 20


def test_any_text_and_number_of_json_passes_through():
    expression = Compiler({"x": "dyn"}).compile("x", ANY)
    for value in ("a\x00b", "\U0001f600", "", 2**63 - 1, -(2**63), 1.5, True, None, [], {}, {"a": [1, {"b": None}]}):
        assert expression.evaluate({"x": value}) == value


def test_a_text_does_not_end_at_a_nul():
    any_compiler = Compiler({"x": "dyn"})
    assert any_compiler.compile("x == 'a' || x.size() == 1", "bool").evaluate({"x": "a\x00b"}) is False
    assert any_compiler.compile("x.l[0].find('a.b')", ANY).evaluate({"x": {"l": ["a\x00b"]}}) == "a\x00b"
    with pytest.raises(EvaluationError, match="NUL"):
        any_compiler.compile("x.size() == 1", "bool").evaluate({"x": {"a\x00b": 1}})
