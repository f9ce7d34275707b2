"""Label and field selectors: parsing with upstream's texts, and matching.

Handlers parse them from queries; the watch cache and admission match with them.

COMPAT: k8s.io/apimachinery/pkg/labels (Parse, Requirement.Matches), .../pkg/fields (ParseSelector)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from apiserver.api import validation
from apiserver.api.errors import BadRequest
from apiserver.api.fields import go_value

_SYMBOLS = ("!=", "==", "=", ">", "<", "!", "(", ")", ",")
_SPECIAL = set("=!(),<>")
_OPERATORS = "in, notin, =, ==, !=, gt, lt"


@dataclass(frozen=True, slots=True)
class Requirement:
    """One condition on one label. ``operator``: in, notin, =, !=, exists, !, gt, lt."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether ``labels`` fulfil this."""
        return _MATCHERS[self.operator](self, labels)

    def __str__(self) -> str:
        if self.operator in ("exists", "!"):
            return f"{'!' if self.operator == '!' else ''}{self.key}"
        if self.operator in ("in", "notin"):
            return f"{self.key} {self.operator} ({','.join(sorted(self.values))})"
        symbol = {"gt": ">", "lt": "<"}.get(self.operator, self.operator)
        return f"{self.key}{symbol}{self.values[0]}"


def _number(text: str | None) -> int | None:
    # COMPAT: strconv.ParseInt: ASCII digits only, 64 bits
    if text is None or not re.fullmatch(r"[+-]?[0-9]{1,63}", text):
        return None
    number = int(text)
    return number if -(1 << 63) <= number < 1 << 63 else None


def _compare(r: Requirement, labels: Mapping[str, str]) -> bool:
    have, want = _number(labels.get(r.key)), _number(r.values[0])
    if have is None or want is None:
        return False
    return have > want if r.operator == "gt" else have < want


_MATCHERS: Mapping[str, Callable[[Requirement, Mapping[str, str]], bool]] = {
    "=": lambda r, labels: labels.get(r.key) == r.values[0],
    "in": lambda r, labels: labels.get(r.key) in r.values,
    "!=": lambda r, labels: labels.get(r.key) != r.values[0],
    "notin": lambda r, labels: labels.get(r.key) not in r.values,
    "exists": lambda r, labels: r.key in labels,
    "!": lambda r, labels: r.key not in labels,
    "gt": _compare,
    "lt": _compare,
}


@dataclass(frozen=True, slots=True)
class LabelSelector:
    """All requirements must hold. Truthy when it selects less than everything."""

    requirements: tuple[Requirement, ...]

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether ``labels`` fulfil every requirement."""
        return all(r.matches(labels) for r in self.requirements)

    @property
    def equalities(self) -> tuple[tuple[str, str], ...]:
        """(key, value) of the requirements that leave one value, for indexes."""
        single = (r for r in self.requirements if r.operator in ("=", "in") and len(r.values) == 1)
        return tuple((r.key, r.values[0]) for r in single)

    def __bool__(self) -> bool:
        return bool(self.requirements)

    def __str__(self) -> str:
        return ",".join(map(str, self.requirements))


class _Lexer:
    """Tokens of a label selector: symbols and words; "" is the end."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def next(self) -> str:
        text = self.text
        while self.at < len(text) and text[self.at] in " \t\r\n":
            self.at += 1
        if self.at >= len(text):
            return ""
        start = self.at
        if text[start] in _SPECIAL:
            # COMPAT: Lexer.scanSpecialSymbol takes the longest known symbol
            for symbol in _SYMBOLS:
                if text.startswith(symbol, start):
                    self.at += len(symbol)
                    return symbol
        while self.at < len(text) and text[self.at] not in _SPECIAL and text[self.at] not in " \t\r\n":
            self.at += 1
        return text[start : self.at]


_SYMBOL_SET = frozenset(_SYMBOLS)


class _Parser:
    """COMPAT: labels.Parser."""

    def __init__(self, text: str) -> None:
        lexer = _Lexer(text)
        self.tokens: list[str] = []
        while token := lexer.next():
            self.tokens.append(token)
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        token = self.peek()
        self.at += 1
        return token

    def parse(self) -> list[Requirement]:
        found: list[Requirement] = []
        while True:
            token = self.peek()
            if token == "":
                return found
            if token in _SYMBOL_SET and token != "!":
                raise ValueError(f"found '{token}', expected: !, identifier, or 'end of string'")
            try:
                found.append(self.requirement())
            except ValueError as ex:
                raise ValueError(f"unable to parse requirement: {ex}") from None
            token = self.take()
            if token == "":
                return found
            if token != ",":
                raise ValueError(f"found '{token}', expected: ',' or 'end of string'")
            following = self.peek()
            if following == "" or (following in _SYMBOL_SET and following != "!"):
                raise ValueError(f"found '{following}', expected: identifier after ','")

    def requirement(self) -> Requirement:
        operator = ""
        key = self.take()
        if key == "!":
            operator = "!"
            key = self.take()
        if key == "":
            raise ValueError(f"found '{key}', expected: identifier")
        if key in _SYMBOL_SET:
            raise ValueError(f"found '{key}', expected: identifier")
        _check_key(key)
        following = self.peek()
        if operator == "!" or following in ("", ","):
            return Requirement(key, operator or "exists")
        operator = self.operator()
        values = self.values() if operator in ("in", "notin") else (self.exact_value(),)
        return _checked(key, operator, values)

    def operator(self) -> str:
        token = self.take()
        known = {"=": "=", "==": "=", "!=": "!=", "in": "in", "notin": "notin", ">": "gt", "<": "lt"}.get(token)
        if known is None:
            raise ValueError(f"found '{token}', expected: {_OPERATORS}")
        return known

    def values(self) -> tuple[str, ...]:
        token = self.take()
        if token != "(":
            raise ValueError(f"found '{token}' expected: '('")
        token = self.peek()
        if token == ")":
            # COMPAT: parseValues: "()" holds one empty value
            self.take()
            return ("",)
        if token == "" or (token in _SYMBOL_SET and token != ","):
            raise ValueError(f"found '{token}', expected: ',', ')' or identifier")
        found: set[str] = set()
        while True:
            token = self.take()
            if token == ")":
                return tuple(sorted(found))
            if token == ",":
                # COMPAT: parseIdentifiersList: two commas, or one next to a bracket, hold an empty value
                if not found or self.peek() in (",", ")"):
                    found.add("")
                    if self.peek() == ",":
                        continue
                continue
            if token == "" or token in _SYMBOL_SET:
                raise ValueError(f"found '{token}', expected: ',' or ')'")
            found.add(token)
            if self.peek() not in (",", ")"):
                raise ValueError(f"found '{self.peek()}', expected: ',' or ')'")

    def exact_value(self) -> str:
        token = self.peek()
        if token in ("", ","):
            return ""
        self.take()
        if token in _SYMBOL_SET:
            raise ValueError(f"found '{token}', expected: identifier")
        return token


def _check_key(key: str) -> None:
    problems = validation.qualified_name(key)
    if problems:
        raise ValueError(f"<nil>: Invalid value: {go_value(key)}: {'; '.join(problems)}")


def _checked(key: str, operator: str, values: tuple[str, ...]) -> Requirement:
    """COMPAT: labels.NewRequirement."""
    if operator in ("in", "notin") and not values:
        raise ValueError("values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty")
    if operator in ("gt", "lt") and _number(values[0]) is None:
        raise ValueError(
            f"values[0]: Invalid value: {go_value(values[0])}: for 'Gt', 'Lt' operators, the value must be an integer"
        )
    for i, value in enumerate(values):
        problems = validation.label_value(value)
        if problems:
            raise ValueError(f"values[{i}][{key}]: Invalid value: {go_value(value)}: {'; '.join(problems)}")
    return Requirement(key, operator, values)


@lru_cache(maxsize=1024)
def parse_label_selector(text: str) -> LabelSelector | None:
    """From a query parameter; None when it selects everything.

    :raises BadRequest: bad syntax, with upstream's text.
    """
    try:
        requirements = _Parser(text).parse()
    except ValueError as ex:
        raise BadRequest(str(ex)) from None
    return LabelSelector(tuple(sorted(requirements, key=lambda r: r.key))) if requirements else None


@dataclass(frozen=True, slots=True)
class FieldRequirement:
    """``field=value`` or ``field!=value``."""

    field: str
    value: str
    negative: bool = False

    def __str__(self) -> str:
        escaped = re.sub(r"([\\,=])", r"\\\1", self.value)
        return f"{self.field}{'!=' if self.negative else '='}{escaped}"


@dataclass(frozen=True, slots=True)
class FieldSelector:
    """All requirements must hold."""

    requirements: tuple[FieldRequirement, ...]

    def matches(self, fields: Mapping[str, str]) -> bool:
        """Whether the values of selectable fields fulfil this; a field that is missing counts as ""."""
        return all((fields.get(r.field, "") == r.value) != r.negative for r in self.requirements)

    @property
    def equalities(self) -> tuple[tuple[str, str], ...]:
        """(field, value) of the requirements that leave one value, for indexes."""
        return tuple((r.field, r.value) for r in self.requirements if not r.negative)

    def exact(self, field: str) -> str | None:
        """The value that ``field`` must have; None when several or none are possible."""
        return next((r.value for r in self.requirements if r.field == field and not r.negative), None)

    def __bool__(self) -> bool:
        return bool(self.requirements)

    def __str__(self) -> str:
        return ",".join(map(str, self.requirements))


def parse_field_selector(
    text: str, supported: Iterable[str], unsupported: Callable[[str], str]
) -> FieldSelector | None:
    """From a query parameter; None when it selects everything.

    :param supported: the fields that may be named.
    :param unsupported: makes the text for one that may not.
    :raises BadRequest: bad syntax, or a field that can't be selected by.
    """
    requirements = []
    known = set(supported)
    for term in _split_terms(text):
        if term == "":
            continue
        found = _split_term(term)
        if found is None:
            raise BadRequest(f"invalid selector: '{text}'; can't understand '{term}'")
        field, negative, value = found
        if field not in known:
            raise BadRequest(unsupported(field))
        requirements.append(FieldRequirement(field, _unescape(value), negative))
    return FieldSelector(tuple(requirements)) if requirements else None


def field_requirements(text: str) -> Sequence[tuple[str, bool, str]]:
    """(field, negative, value) of every term that can be understood; used before the resource is known."""
    found = (_split_term(t) for t in _split_terms(text) if t)
    return [(f, n, _unescape(v) if "\\" in v else v) for f, n, v in (t for t in found if t is not None)]


def _split_terms(text: str) -> list[str]:
    return re.findall(r"(?:\\.|[^,\\]|\\\Z)+", text, re.DOTALL)


def _split_term(term: str) -> tuple[str, bool, str] | None:
    """COMPAT: fields.splitTerm: the first operator outside an escape decides."""
    match = re.match(r"((?:\\.|[^=!\\]|!(?!=))*)(!=|==|=)(.*)", term, re.DOTALL)
    return (match[1], match[2] == "!=", match[3]) if match else None


def _unescape(value: str) -> str:
    """COMPAT: fields.UnescapeValue."""
    if "\\" not in value and "," not in value and "=" not in value:
        return value
    out, escaped = [], False
    for c in value:
        if escaped:
            if c not in "\\,=":
                raise BadRequest(f"invalid field selector: invalid escape sequence: \\{c}")
            out.append(c)
            escaped = False
        elif c == "\\":
            escaped = True
        elif c in ",=":
            # COMPAT: UnescapedRune.Error writes the rune as the number that it is
            raise BadRequest(f"invalid field selector: unescaped character in value: {ord(c)}")
        else:
            out.append(c)
    if escaped:
        raise BadRequest("invalid field selector: invalid escape sequence: \\")
    return "".join(out)
