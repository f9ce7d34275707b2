"""Regular expressions as Go knows them: which ones are, and Go's words for the others."""

from __future__ import annotations

import pytest

from apiserver.api.regexp import problem


@pytest.mark.parametrize(
    "pattern",
    [
        "", "^[a-z]([-a-z0-9]*[a-z0-9])?$", "a|b|", "(?:a)*", "(?P<n>a)(?<m>b)", "(?i)a", "(?i-s:a)b", "a{2}", "a{2,}",
        "a{2,3}?", "a{,3}", "a{01}", "{", "a}", "]", r"\d\D\s\S\w\W\b\B\A\z", r"\x41\x{10FFFF}\012\a\f\n\r\t\v\.\-",
        r"\pL\p{Greek}\P{Lu}\p{^Han}", "[[:alpha:]_]", "[^[:^digit:]]", "[]a]", "[^]a]", "[a-]", "[-a]", r"[\]\d\-x]",
        r"\Qa(b\E+", "(a{100}){10}", "^*", "(|a)*", "\u00e9+",
    ],
)  # fmt: skip
def test_what_go_understands(pattern: str) -> None:
    assert problem(pattern) == ""


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("(a", "missing closing ): `(a`"),
        ("a)b", "unexpected ): `a)b`"),
        ("x[a", "missing closing ]: `[a`"),
        ("[", "missing closing ]: `[`"),
        ("[z-a]", "invalid character class range: `z-a`"),
        ("[[:foo:]]", "invalid character class range: `[:foo:]`"),
        (r"\p{Foo}", r"invalid character class range: `\p{Foo}`"),
        (r"\p", r"invalid character class range: `\p`"),
        ("*a", "missing argument to repetition operator: `*`"),
        ("a|+?", "missing argument to repetition operator: `+?`"),
        ("({2}a)", "missing argument to repetition operator: `{2}`"),
        ("a**", "invalid nested repetition operator: `**`"),
        ("a{2}{3}", "invalid nested repetition operator: `{2}{3}`"),
        ("a{1001}", "invalid repeat count: `{1001}`"),
        ("a{3,2}", "invalid repeat count: `{3,2}`"),
        ("((a{100})x|b){100}", "invalid repeat count: `{100}`"),
        ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
        ("a(?!b)", "invalid or unsupported Perl syntax: `(?!`"),
        ("(?z)", "invalid or unsupported Perl syntax: `(?z`"),
        ("(?i-)a", "invalid or unsupported Perl syntax: `(?i-)`"),
        ("(?<=a)", "invalid named capture: `(?<=a)`"),
        ("(?P<a b>c)", "invalid named capture: `(?P<a b>`"),
        ("a\\", "trailing backslash at end of expression: ``"),
        (r"\y", r"invalid escape sequence: `\y`"),
        (r"\1", r"invalid escape sequence: `\1`"),
        (r"\C", r"invalid escape sequence: `\C`"),
        (r"\xZ", r"invalid escape sequence: `\xZ`"),
        (r"\x{110000}", r"invalid escape sequence: `\x{110000`"),
        (r"[a-\d]", r"invalid escape sequence: `\d`"),
        ("(" * 1001, f"expression nests too deeply: `{'(' * 1001}`"),
    ],
)
def test_what_go_does_not_understand(pattern: str, text: str) -> None:
    assert problem(pattern) == f"error parsing regexp: {text}"
