"""Semantic versions: ``semver("1.2.3").isLessThan(semver("1.3.0"))``.

COMPAT: k8s.io/apiserver/pkg/cel/library/semverlib.go on blang/semver. Build metadata does not count in comparisons.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from .declaring import EvaluationError, Library, Overload, member, opaque
from .ip import quoted

SEMVER: Final = "kubernetes.Semver"
_WORD: Final = re.compile(r"[0-9A-Za-z-]+\Z")
_UINT64: Final = 1 << 64
_Value = Mapping[str, str]


class Version(NamedTuple):
    """A parsed version: three numbers and the identifiers of the pre-release."""

    major: int
    minor: int
    patch: int
    pre: tuple[str, ...]

    def key(self) -> tuple[object, ...]:
        """Sorts as versions do: a pre-release before the release, numbers before words."""
        pre = tuple((0, int(p), "") if p.isdigit() else (1, 0, p) for p in self.pre)
        return (self.major, self.minor, self.patch, not self.pre, pre)


def _number(text: str, name: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise EvaluationError(f"Invalid character(s) found in {name} number {quoted(text)}")
    if len(text) > 1 and text[0] == "0":
        raise EvaluationError(f"{name.capitalize()} number must not contain leading zeroes {quoted(text)}")
    if int(text) >= _UINT64:
        raise EvaluationError(f"strconv.ParseUint: parsing {quoted(text)}: value out of range")
    return int(text)


def _identifier(text: str) -> str:
    if not text:
        raise EvaluationError("Prerelease is empty")
    if not _WORD.match(text):
        raise EvaluationError(f"Invalid character(s) found in prerelease {quoted(text)}")
    if text.isdigit() and len(text) > 1 and text[0] == "0":
        raise EvaluationError(f"Numeric PreRelease version must not contain leading zeroes {quoted(text)}")
    return text


def _check_build(text: str) -> None:
    if not text:
        raise EvaluationError("Build meta data is empty")
    if not _WORD.match(text):
        raise EvaluationError(f"Invalid character(s) found in build meta data {quoted(text)}")


@functools.lru_cache(maxsize=1024)
def parse(text: str) -> Version:
    """The version.

    :raises EvaluationError: it is none, with blang/semver's text.
    """
    if not text:
        raise EvaluationError("Version string empty")
    parts = text.split(".", 2)
    if len(parts) != 3:
        raise EvaluationError("No Major.Minor.Patch elements found")
    major, minor = _number(parts[0], "major"), _number(parts[1], "minor")
    rest, has_build, build = parts[2].partition("+")
    patch, has_pre, pre = rest.partition("-")
    number = _number(patch, "patch")
    identifiers = tuple(_identifier(p) for p in pre.split(".")) if has_pre else ()
    for word in build.split(".") if has_build else ():
        _check_build(word)
    return Version(major, minor, number, identifiers)


def _without_zeroes(part: str) -> str:
    if len(part) <= 1:
        return part
    stripped = part.lstrip("0")
    return stripped if stripped[:1].isdigit() else "0" + stripped


def _normalized(text: str) -> str:
    """COMPAT: normalizeAndParse: no leading v, three numbers, no leading zeroes."""
    parts = [_without_zeroes(part) for part in text.removeprefix("v").split(".", 2)]
    if len(parts) < 3 and re.search("[+-]", parts[-1]):
        raise EvaluationError("short version cannot contain PreRelease/Build meta data")
    return ".".join(parts + ["0"] * (3 - len(parts)))


def _made(text: str, normalize: bool = False) -> dict[str, str]:
    version = parse(_normalized(text) if normalize else text)
    pre = f"-{'.'.join(version.pre)}" if version.pre else ""
    return opaque(SEMVER, f"{version.major}.{version.minor}.{version.patch}{pre}")


def _is_semver(text: str, normalize: bool = False) -> bool:
    try:
        _made(text, normalize)
    except EvaluationError:
        return False
    return True


def _compare(a: _Value, b: _Value) -> int:
    left, right = parse(a[SEMVER]).key(), parse(b[SEMVER]).key()
    return (left > right) - (left < right)


_PAIR: Final = (SEMVER, SEMVER)

LIBRARY: Final = Library(
    "kubernetes.Semver",
    {
        "semver": (
            Overload("string_to_semver", ("string",), SEMVER, _made),
            Overload("string_bool_to_semver", ("string", "bool"), SEMVER, _made),
        ),
        "isSemver": (
            Overload("is_semver_string", ("string",), "bool", _is_semver),
            Overload("is_semver_string_bool", ("string", "bool"), "bool", _is_semver),
        ),
        "isGreaterThan": (member("semver_is_greater_than", _PAIR, "bool", lambda a, b: _compare(a, b) > 0),),
        "isLessThan": (member("semver_is_less_than", _PAIR, "bool", lambda a, b: _compare(a, b) < 0),),
        "compareTo": (member("semver_compare_to", _PAIR, "int", _compare),),
        "major": (member("semver_major", (SEMVER,), "int", lambda v: parse(v[SEMVER]).major),),
        "minor": (member("semver_minor", (SEMVER,), "int", lambda v: parse(v[SEMVER]).minor),),
        "patch": (member("semver_patch", (SEMVER,), "int", lambda v: parse(v[SEMVER]).patch),),
    },
)
