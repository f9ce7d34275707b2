from __future__ import annotations

import pytest

from apiserver.schema import body, builtin
from apiserver.schema.failures import DecodeError

STRUCT = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
JSON_PROBLEM = "couldn't get version/kind; json parse error: "


def decode(data, media_type=body.JSON, group="", version="v1", kind="ConfigMap"):
    types = builtin.types()
    return body.decode_object(
        data,
        media_type,
        types.kind(group, version, kind),
        group=group,
        version=version,
        kind=kind,
        registered=lambda *gvk: types.kind(*gvk) is not None,
    )


def refusal(data, media_type=body.JSON, **kind):
    with pytest.raises(DecodeError) as caught:
        decode(data, media_type, **kind)
    return caught.value.message


@pytest.mark.parametrize(
    ("data", "problem", "summary"),
    [
        (b"", f"{JSON_PROBLEM}unexpected end of JSON input", "<empty>"),
        (b"hello", f"{JSON_PROBLEM}invalid character 'h' looking for beginning of value", "68656c6c6f"),
        (b"[]", f"{JSON_PROBLEM}json: cannot unmarshal array into Go value of type {STRUCT}", "5b5d"),
        (b'"x"', f"{JSON_PROBLEM}json: cannot unmarshal string into Go value of type {STRUCT}", "227822"),
        (
            b'{"kind": 5}',
            f"{JSON_PROBLEM}json: cannot unmarshal number into Go struct field .kind of type string",
            '{"kind": 5}',
        ),
        (
            b'{"apiVersion": "a/b/c", "kind": "ConfigMap"}',
            "unexpected GroupVersion string: a/b/c",
            '{"apiVersion": "a/b/c", "kind" ...',
        ),
    ],
)
def test_a_body_whose_kind_cannot_be_told(data, problem, summary):
    assert refusal(data) == f"the object provided is unrecognized (must be of type ConfigMap): {problem} ({summary})"


def test_malformed_yaml():
    message = refusal(b"apiVersion: v1\nkind: [ConfigMap\n", body.YAML)
    assert message == (
        "the object provided is unrecognized (must be of type ConfigMap): "
        "yaml: line 2: did not find expected ',' or ']' "
        "(61706956657273696f6e3a2076310a6b696e643a205b436f6e6669674d61 ...)"
    )


@pytest.mark.parametrize(
    ("api_version", "kind", "message"),
    [
        (
            "v1",
            "Secret",
            'Secret in version "v1" cannot be handled as a ConfigMap: '
            "converting (v1.Secret) to (core.ConfigMap): unknown conversion",
        ),
        (
            "apps/v1",
            "ConfigMap",
            'ConfigMap in version "v1" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered '
            'for version "apps/v1" in scheme "pkg/api/legacyscheme/scheme.go:30"',
        ),
    ],
)
def test_another_kind_than_expected(api_version, kind, message):
    assert refusal(f'{{"apiVersion":"{api_version}","kind":"{kind}"}}'.encode()) == message


def test_another_version_of_the_kind_is_told_apart():
    message = refusal(
        b'{"apiVersion":"autoscaling/v1","kind":"HorizontalPodAutoscaler"}',
        group="autoscaling",
        version="v2",
        kind="HorizontalPodAutoscaler",
    )
    assert message == (
        "the API version in the data (autoscaling/v1) does not match the expected API version (autoscaling/v2)"
    )


def test_kind_and_version_may_be_missing_and_null_is_an_object():
    assert decode(b'{"metadata":{"name":"a"}}').object == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "a"},
    }
    assert decode(b"null").object == {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}}


def test_a_value_that_does_not_fit_names_the_kind():
    assert refusal(b'{"data": 5}') == (
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: '
        "json: cannot unmarshal number into Go struct field ConfigMap.data of type map[string]string"
    )


def test_a_number_is_quoted_as_it_was_written():
    assert refusal(b'{"metadata":{"generation":1.50}}').endswith(
        "json: cannot unmarshal number 1.50 into Go struct field ObjectMeta.metadata.generation of type int64"
    )
    assert "cannot unmarshal number 1e2 into Go struct field" in refusal(b'{"metadata":{"generation":1e2}}')


def test_duplicate_and_unknown_fields_come_in_the_order_of_the_text():
    decoded = decode(b'{"data":{"x":"1","x":"2"},"zip":{"a":1,"a":2},"metadata":{"name":"a","odd":1},"data":{"y":"3"}}')
    assert decoded.strict == [
        'duplicate field "data.x"',
        'unknown field "zip"',
        'unknown field "metadata.odd"',
        'duplicate field "data"',
    ]
    assert decoded.object["data"] == {"x": "2", "y": "3"}


def test_nothing_is_reported_inside_free_form_parts():
    fields = b'{"metadata":{"managedFields":[{"fieldsV1":{"a":1,"a":2}}]}}'
    assert decode(fields).strict == []


def test_yaml_keys_set_twice_are_one_error_and_a_warning_each():
    decoded = decode(b"data:\n  x: '1'\n  x: '2'\n  x: '3'\nodd: 1\n", body.YAML)
    assert decoded.object["data"] == {"x": "3"}
    assert body.strict_error(decoded.strict) == (
        'strict decoding error: yaml: unmarshal errors:\n  line 3: key "x" already set in map\n'
        '  line 4: key "x" already set in map, unknown field "odd"'
    )
    assert body.warnings(decoded.strict) == [
        'line 3: key "x" already set in map',
        'line 4: key "x" already set in map',
        'unknown field "odd"',
    ]
