"""Formats of strings: what is one and what is none."""

from __future__ import annotations

import pytest

from apiserver.schema.check import SchemaCheck
from apiserver.schema.formats import KNOWN

EXAMPLES = {
    "bsonobjectid": ("507f1f77bcf86cd799439011", "507f1f77bcf86cd79943901"),
    "byte": ("aGVsbG8=", "aGVsbG8"),
    "cidr": ("10.0.0.0/8", "10.0.0.0"),
    "creditcard": ("4111 1111 1111 1111", "4111 1111 1111 1112"),
    "date": ("2024-02-29", "2023-02-29"),
    "date-time": ("2024-02-29T10:20:30.5+01:00", "2024-02-29 10:20"),
    "datetime": ("2024-02-29T10:20:30Z", "tomorrow"),
    "duration": ("1h30m", "an hour"),
    "email": ("a@b.example.com", "a.example.com"),
    "hexcolor": ("#ff00Aa", "#ff00"),
    "hostname": ("a-b.example.com", "-a.example.com"),
    "ipv4": ("10.1.2.3", "300.1.1.1"),
    "ipv6": ("2001:db8::1", "10.1.2.3"),
    "isbn": ("978-3-16-148410-0", "978-3-16-148410-1"),
    "isbn10": ("0-306-40615-2", "0-306-40615-3"),
    "isbn13": ("9783161484100", "9783161484101"),
    "k8s-long-name": ("a.example.com", "A.example.com"),
    "k8s-short-name": ("a-b", "a.b"),
    "mac": ("01:23:45:67:89:ab", "01:23:45:67:89"),
    "password": ("anything", None),
    "rgbcolor": ("rgb(1, 2, 255)", "rgb(1, 2, 256)"),
    "ssn": ("111-22-3333", "111-22-333"),
    "uri": ("https://example.com/x", "nothing at all"),
    "uuid": ("a8098c1a-f86e-11da-bd1a-00112444be1e", "zzz"),
    "uuid3": ("bcd02e22-68f0-3046-a512-327cca9def8f", "025b0d74-00a2-4048-bf57-227c5111bb34"),
    "uuid4": ("025b0d74-00a2-4048-bf57-227c5111bb34", "886313e1-3b8a-5372-9b90-0c9aee199e5d"),
    "uuid5": ("886313e1-3b8a-5372-9b90-0c9aee199e5d", "025b0d74-00a2-4048-bf57-227c5111bb34"),
}


def test_every_format_has_an_example() -> None:
    assert set(EXAMPLES) == set(KNOWN)


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_a_format_is_checked(name: str) -> None:
    good, bad = EXAMPLES[name]
    check = SchemaCheck({"type": "object", "properties": {"a": {"type": "string", "format": name}}})
    assert check.errors({"a": good}) == []
    if bad is None:
        return
    (error,) = check.errors({"a": bad})
    assert str(error) == f'a: Invalid value: "{bad}": a in body must be of type {name}: "{bad}"'


def test_a_format_that_nobody_knows_is_not_checked() -> None:
    check = SchemaCheck({"type": "string", "format": "hedgehog"})
    assert check.errors("anything") == []
