from __future__ import annotations

import json

import pytest
from hypothesis import given

from apiserver.schema import goyaml
from tests.schema.objects import anything


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("y", True), ("No", False), ("on", True), ("~", None), ("", None), ("'y'", "y"), ("!!str y", "y"), ("12", 12),
        ("0x1F", 31), ("017", 15), ("0b11", 3), ("1_000", 1000), ("-5", -5), ("1.5", 1.5), ("2.0", 2), ("1e3", 1000),
        ("1:30", "1:30"), ("2001-01-01", "2001-01-01"), ("=", "="), ("v1", "v1"),
        ("9007199254740993", 9007199254740993),
        ("0.0.0", "0.0.0"), ("1.2.3", "1.2.3"), ("-", [None]),
    ],
)  # fmt: skip
def test_scalars_are_what_go_makes_of_them(text, value):
    assert goyaml.read(text.encode())[0] == value


def test_keys_become_text():
    assert goyaml.read(b"{1: a, true: b, 1.5: c, x: d}")[0] == {"1": "a", "true": "b", "1.5": "c", "x": "d"}


def test_a_key_that_is_set_twice_is_reported_with_its_line():
    assert goyaml.read(b"a:\n  x: 1\n  x: 2\n") == ({"a": {"x": 2}}, ['line 3: key "x" already set in map'])


def test_anchors_give_values_of_their_own():
    value, _ = goyaml.read(b"a: &x {k: [1]}\nb: *x\nc: {<<: *x, d: 1}\n")
    assert value == {"a": {"k": [1]}, "b": {"k": [1]}, "c": {"k": [1], "d": 1}}
    value["a"]["k"].append(2)
    assert value["b"] == {"k": [1]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [b\n", "yaml: line 1: did not find expected ',' or ']'"),
        ("a: b\n c: d\n", "yaml: line 2: mapping values are not allowed in this context"),
        ("a: b: c", "yaml: mapping values are not allowed in this context"),
        ("a: *nope\n", "yaml: unknown anchor 'nope' referenced"),
        ("a: \x01", "yaml: control characters are not allowed"),
    ],
)
def test_malformed_text_is_refused_in_the_words_of_go(text, message):
    with pytest.raises(goyaml.YAMLError) as caught:
        goyaml.read(text.encode())
    assert str(caught.value) == message


def test_a_document_that_explodes_is_refused():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    with pytest.raises(goyaml.YAMLError, match="excessive aliasing"):
        goyaml.read("\n".join(lines).encode())


def test_deep_nesting_is_refused_and_not_a_crash():
    with pytest.raises(goyaml.YAMLError):
        goyaml.read(b"[" * 5000 + b"]" * 5000)


@given(anything)
def test_json_is_yaml(value):
    assert goyaml.read(json.dumps(value).encode())[0] == value


@given(anything)
def test_json_means_the_same_as_it_does_to_the_yaml_parser(value):
    text = json.dumps({"a": value}, ensure_ascii=False).encode("utf-8", "surrogatepass")
    assert outcome(text) == outcome(b"#\n" + text)


@pytest.mark.parametrize(
    "text",
    [
        '{"a":1.0,"b":1e3}', '{"a":"x\x7fy"}', '{"a":"x\u2028y"}', '{"a":"x\u0085y"}', '{"a":"\\ud83d\\ude00"}',
        '{\t"a":1}', '{"a":"\ufeff"}', '{"a":"1.5 e3 \\" 2.0"}', '{"a":18446744073709551616}', '{"a":"\\/\\u003c\\n"}',
        '{"<<":{"b":1}}', '{"a" : 1 ,\r\n "b":2}',
        '{"a":1}{"b":2}', '{"a":1', "{a: 1}",
    ],
)  # fmt: skip
def test_json_that_yaml_reads_otherwise_is_read_as_yaml(text):
    assert outcome(text.encode()) == outcome(b"#\n" + text.encode())


def outcome(data):
    """What is read, or nothing if it is refused: lines in messages differ."""
    try:
        return goyaml.read(data)
    except goyaml.YAMLError:
        return None
