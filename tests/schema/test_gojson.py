from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from apiserver.schema import gojson, goscan
from apiserver.schema.failures import path_text
from tests.schema.objects import anything

MALFORMED = [
    ("", "unexpected end of JSON input"),
    ("{", "unexpected end of JSON input"),
    ('{"a":1', "unexpected end of JSON input"),
    ("hello", "invalid character 'h' looking for beginning of value"),
    ('{"a":1,}', "invalid character '}' looking for beginning of object key string"),
    ("{'a':1}", "invalid character '\\'' looking for beginning of object key string"),
    ('{"a" 1}', "invalid character '1' after object key"),
    ('{"a":1 "b"}', "invalid character '\"' after object key:value pair"),
    ("[1 2]", "invalid character '2' after array element"),
    ("[1,]", "invalid character ']' looking for beginning of value"),
    ("{} tail", "invalid character 't' after top-level value"),
    ('"a\tb"', "invalid character '\\t' in string literal"),
    ('"\\q"', "invalid character 'q' in string escape code"),
    ('"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape"),
    ("trux", "invalid character 'x' in literal true (expecting 'e')"),
    ("-x", "invalid character 'x' in numeric literal"),
    ("1.x", "invalid character 'x' after decimal point in numeric literal"),
    ("1ex", "invalid character 'x' in exponent of numeric literal"),
    ("1e+x", "invalid character 'x' in exponent of numeric literal"),
    ("01", "invalid character '1' after top-level value"),
    ("\ufeff{}", "invalid character 'ï' looking for beginning of value"),
]


@pytest.mark.parametrize(("text", "message"), MALFORMED)
def test_malformed_text_is_refused_in_the_words_of_go(text, message):
    with pytest.raises(gojson.JSONSyntaxError) as caught:
        gojson.read(text.encode())
    assert str(caught.value) == message


@pytest.mark.parametrize(("text", "message"), [case for case in MALFORMED if "literal true" not in case[1]])
def test_large_texts_are_refused_too(text, message):
    padding = " " * 40_000
    error = goscan.syntax_error((padding + text).encode())
    numbers = ("numeric", "exponent", "decimal", "array element")
    assert error == message or any(word in message for word in numbers)
    assert error


@given(st.text(alphabet='{}[]",:0123456789.eE+-truefalsn \\u\t', max_size=20))
@example('{"a":-0.5e+10}')
def test_the_scanner_refuses_exactly_what_is_not_json(text):
    def refuse(name):
        raise ValueError(name)

    try:
        json.loads(text, parse_constant=refuse)
        valid = True
    except ValueError:
        valid = False
    assert (goscan.syntax_error(text.encode()) == "") == valid


@given(anything)
def test_what_was_written_is_read_without_duplicates(value):
    for text in (json.dumps(value), json.dumps(value, indent=1), json.dumps(value, ensure_ascii=False)):
        assert gojson.read(text.encode()) == (value, None)


def test_duplicates_are_found_wherever_they_are_and_objects_are_merged():
    text = b'{"a":{"x":1,"x":2},"b":[{"c":1,"d":0,"c":3}],"a":{"y":4}}'
    value, duplicates = gojson.read(text)
    assert value == {"a": {"x": 2, "y": 4}, "b": [{"c": 3, "d": 0}]}
    assert [path_text(duplicates.seen[index]) for index in duplicates.found] == ["a.x", "b[0].c", "a"]


def test_large_whole_numbers_survive():
    assert gojson.read(b"[9007199254740993, -9223372036854775808]")[0] == [9007199254740993, -(1 << 63)]


def test_text_that_is_not_quite_unicode_is_read_as_go_reads_it():
    assert gojson.read(b'{"a":"x\xff","b":"\\ud800"}')[0] == {"a": "x\ufffd", "b": "\ufffd\ufffd\ufffd"}


@pytest.mark.parametrize("depth", [300, 1100, 5000, 20_000])
def test_deep_nesting_is_refused_and_not_a_crash(depth):
    with pytest.raises(gojson.JSONSyntaxError, match="exceeded max depth"):
        gojson.read(b"[" * depth + b"]" * depth)
    with pytest.raises(gojson.JSONSyntaxError, match="exceeded max depth"):
        gojson.read(b'{"a":' * depth + b"1" + b"}" * depth)


def test_numbers_of_more_than_64_bits_are_floats_wherever_they_stand():
    assert gojson.read(b'{"a":1,"a":100000000000000000000000}')[0] == {"a": 1e23}
    assert gojson.read(b'{"a":100000000000000000000000,"b":"\xff"}')[0]["a"] == 1e23
