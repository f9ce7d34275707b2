"""Texts that are no JSON object, in Go's words."""

from __future__ import annotations

import pytest

from apiserver_plugins.resources.common.gojson import explain_object


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": [1, -2.5e3, "x\\n", {}], "b": null}', None),
        ("null", None),
        ("", "unexpected end of JSON input"),
        ("nope", "invalid character 'o' in literal null (expecting 'u')"),
        ('{"a": 1', "unexpected end of JSON input"),
        ('{"a" 1}', "invalid character '1' after object key"),
        ('{"a": 1 "b"}', "invalid character '\"' after object key:value pair"),
        ("{a: 1}", "invalid character 'a' looking for beginning of object key string"),
        ("[1 2]", "invalid character '2' after array element"),
        ("{} x", "invalid character 'x' after top-level value"),
        ("'x'", "invalid character '\\'' looking for beginning of value"),
        ("-x", "invalid character 'x' in numeric literal"),
        ('{"a": "\\q"}', "invalid character 'q' in string escape code"),
        ("[1]", "json: cannot unmarshal array into Go value of type map[string]interface {}"),
        ('"x"', "json: cannot unmarshal string into Go value of type map[string]interface {}"),
    ],
)
def test_what_is_wrong_is_told_as_go_tells_it(text: str, expected: str | None) -> None:
    assert explain_object(text.encode()) == expected
