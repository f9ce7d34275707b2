"""Whether a text is a regular expression as Go knows them, and if not why, in Go's words.

Used where the API takes patterns: Python's are other ones (lookaheads, backreferences), and would be taken for right.

COMPAT: Go regexp.Compile, regexp/syntax Parse with the flags of Perl
"""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import lru_cache

MOST_REPEATS, DEEPEST = 1000, 1000
_COUNT = re.compile(r"\{(0|[1-9][0-9]*)(?:(,)(0|[1-9][0-9]*)?)?\}")
_NAME = re.compile(r"[A-Za-z0-9_]+")
_HEX, _OCTAL = frozenset("0123456789abcdefABCDEF"), frozenset("01234567")
_POSIX = frozenset(
    (
        "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper",
        "word", "xdigit",
    )
)  # fmt: skip
_CATEGORY = re.compile("C[cfos]?|L[lmotu]?|M[cen]?|N[dlo]?|P[cdefios]?|S[ckmo]?|Z[lps]?|Any")
_LETTERS = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}

_Repeats = list[tuple[int, "_Repeats"]]
"""What is repeated and how often, with the repetitions inside it."""


class _ParseError(Exception):
    def __init__(self, code: str, expression: str) -> None:
        super().__init__(f"error parsing regexp: {code}: `{expression}`")


@lru_cache(maxsize=1024)
def regexp_error(pattern: str) -> str:
    """Why ``pattern`` is no regular expression; "" when it is one."""
    try:
        _Parser(pattern).parse()
    except _ParseError as ex:
        return str(ex)
    return ""


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.groups: list[list[_Repeats]] = [[]]
        """For each group that is open: what a repetition could repeat, each with the repetitions in it."""
        self.alternatives: dict[int, _Repeats] = {}
        """The repetitions in earlier alternatives of the groups that are open, by depth."""

    def parse(self) -> None:
        last_repeat: int | None = None
        while self.at < len(self.text):
            start, char = self.at, self.text[self.at]
            if char in "*+?":
                self._repeat(start, start + 1, last_repeat, None)
                last_repeat = start
            elif char == "{" and (match := _COUNT.match(self.text, start)):
                self._counted(match, last_repeat)
                last_repeat = start
            else:
                self._atom(char)
                last_repeat = None
        if len(self.groups) > 1:
            raise _ParseError("missing closing )", self.text)

    # -- repetitions ------------------------------------------------------------------------------------------------

    def _counted(self, match: re.Match[str], last_repeat: int | None) -> None:
        low = int(match[1])
        high = low if match[2] is None else int(match[3]) if match[3] else -1
        if low > MOST_REPEATS or high > MOST_REPEATS or 0 <= high < low:
            raise _ParseError("invalid repeat count", match[0])
        self._repeat(match.start(), match.end(), last_repeat, low if high < 0 else high)

    def _repeat(self, start: int, end: int, last_repeat: int | None, count: int | None) -> None:
        """:param count: how often at most, None for the operators that set no bound."""
        if self.text[end : end + 1] == "?":
            end += 1
        self.at = end
        if last_repeat is not None:
            raise _ParseError("invalid nested repetition operator", self.text[last_repeat:end])
        atoms = self.groups[-1]
        if not atoms:
            raise _ParseError("missing argument to repetition operator", self.text[start:end])
        if count is None:
            return
        atoms[-1] = [(count, atoms[-1])]
        if count >= 2 and not _fits(atoms[-1], MOST_REPEATS):
            raise _ParseError("invalid repeat count", self.text[start:end])

    # -- what can be repeated -----------------------------------------------------------------------------------------

    def _atom(self, char: str) -> None:
        match char:
            case "(":
                self._open()
            case ")":
                self._close()
            case "|":
                self.at += 1
                # What came before can't be repeated any more, but counts for a repetition of the whole group.
                inside = [repeats for atom in self.groups[-1] for repeats in atom]
                self.groups[-1].clear()
                self.alternatives.setdefault(len(self.groups), []).extend(inside)
            case "[":
                self._class()
                self.groups[-1].append([])
            case "\\":
                self._backslash()
            case _:
                self.at += 1
                self.groups[-1].append([])

    def _open(self) -> None:
        if self.text.startswith("(?", self.at):
            self._perl()
            return
        self._opened(self.at + 1)

    def _opened(self, end: int) -> None:
        self.at = end
        self.groups.append([])
        if len(self.groups) > DEEPEST:
            raise _ParseError("expression nests too deeply", self.text)

    def _close(self) -> None:
        if len(self.groups) == 1:
            raise _ParseError("unexpected )", self.text)
        self.at += 1
        inside = self.alternatives.pop(len(self.groups), [])
        inside += [repeats for atom in self.groups.pop() for repeats in atom]
        self.groups[-1].append(inside)

    def _perl(self) -> None:
        """Named groups, and flags with or without a group."""
        start, rest = self.at, self.text[self.at :]
        named = next((prefix for prefix in ("(?P<", "(?<") if rest.startswith(prefix)), "")
        if named and len(rest) > len(named):
            end = rest.find(">")
            if end < 0:
                raise _ParseError("invalid named capture", rest)
            if not _NAME.fullmatch(rest[len(named) : end]):
                raise _ParseError("invalid named capture", rest[: end + 1])
            self._opened(start + end + 1)
            return
        negative, seen = False, False
        for place, char in enumerate(rest[2:], start=2):
            if char in "imsU":
                seen = True
            elif char == "-" and not negative:
                negative, seen = True, False
            elif char in ":)" and (seen or not negative):
                if char == ":":
                    self._opened(start + place + 1)
                else:
                    self.at = start + place + 1
                return
            else:
                raise _ParseError("invalid or unsupported Perl syntax", rest[: place + 1])
        raise _ParseError("missing closing )", self.text)

    def _backslash(self) -> None:
        following = self.text[self.at + 1 : self.at + 2]
        if following == "Q":
            end = self.text.find("\\E", self.at)
            quoted = self.text[self.at + 2 : end if end >= 0 else len(self.text)]
            self.groups[-1] += [[] for _ in quoted]
            self.at = end + 2 if end >= 0 else len(self.text)
            return
        if following == "C":
            raise _ParseError("invalid escape sequence", "\\C")
        if following and following in "AbBz":
            self.at += 2
        elif not self._class_escape():
            self._escape()
        self.groups[-1].append([])

    def _class_escape(self) -> bool:
        r"""Step over ``\d`` or ``\p{Greek}``, if it is one."""
        following = self.text[self.at + 1 : self.at + 2]
        if following and following in "dDsSwW":
            self.at += 2
            return True
        if not following or following not in "pP":
            return False
        start, end = self.at, self.at + 3
        if self.text[self.at + 2 : end] == "{":
            end = self.text.find("}", self.at) + 1
        if not end or len(self.text) < end:
            raise _ParseError("invalid character class range", self.text[start:])
        name = self.text[start + 2 : end].strip("{}").removeprefix("^")
        if not _is_unicode_class(name):
            raise _ParseError("invalid character class range", self.text[start:end])
        self.at = end
        return True

    def _escape(self) -> str:
        """Step over a backslash and what it stands for, and return that."""
        start = self.at
        char = self.text[start + 1 : start + 2]
        if not char:
            raise _ParseError("trailing backslash at end of expression", "")
        self.at += 2
        if char in _LETTERS:
            return _LETTERS[char]
        if char == "0" or (char in "1234567" and self.text[self.at : self.at + 1] in tuple(_OCTAL)):
            while self.at < start + 4 and self.text[self.at : self.at + 1] in tuple(_OCTAL):
                self.at += 1
            return chr(int(self.text[start + 1 : self.at], 8))
        if char == "x":
            return self._hex(start)
        if char.isascii() and not char.isalnum():
            return char
        raise _ParseError("invalid escape sequence", self.text[start : self.at])

    def _hex(self, start: int) -> str:
        r"""What follows ``\x``: two digits, or as many as stand in braces."""
        braced = self.text.startswith("{", self.at)
        begin = self.at = self.at + 1 if braced else self.at
        value = 0
        while self.at < len(self.text) and (braced or self.at < begin + 2):
            char = self.text[self.at]
            self.at += 1
            if braced and char == "}":
                if self.at == begin + 1:
                    break
                return chr(value)
            if char not in _HEX:
                self.at = self.at if braced else min(begin + 2, len(self.text))
                break
            value = value * 16 + int(char, 16)
            if value > sys.maxunicode:
                break
            if not braced and self.at == begin + 2:
                return chr(value)
        raise _ParseError("invalid escape sequence", self.text[start : self.at])

    # -- classes ------------------------------------------------------------------------------------------------------

    def _class(self) -> None:
        start = self.at
        self.at += 2 if self.text.startswith("[^", start) else 1
        first = True
        while first or not self.text.startswith("]", self.at):
            first = False
            if self._posix_class():
                continue
            if self.text.startswith("\\", self.at) and self._class_escape():
                continue
            begin = self.at
            low = self._class_char(start)
            following = self.text[self.at + 1 : self.at + 2]
            if self.text.startswith("-", self.at) and following and following != "]":
                self.at += 1
                if self._class_char(start) < low:
                    raise _ParseError("invalid character class range", self.text[begin : self.at])
        self.at += 1

    def _posix_class(self) -> bool:
        end = self.text.find(":]", self.at + 2)
        if not self.text.startswith("[:", self.at) or end < 0:
            return False
        if self.text[self.at + 2 : end].removeprefix("^") not in _POSIX:
            raise _ParseError("invalid character class range", self.text[self.at : end + 2])
        self.at = end + 2
        return True

    def _class_char(self, start: int) -> str:
        if self.at >= len(self.text):
            raise _ParseError("missing closing ]", self.text[start:])
        if self.text[self.at] == "\\":
            return self._escape()
        self.at += 1
        return self.text[self.at - 1]


def _is_unicode_class(name: str) -> bool:
    """A general category or a script; whether there is such a script is told by the names of characters."""
    if _CATEGORY.fullmatch(name):
        return True
    if not re.fullmatch(r"[A-Z][a-z]+(?:_[A-Z][a-z]+)*", name):
        return False
    return _has_script(name.replace("_", " ").upper())


@lru_cache(maxsize=64)
def _has_script(word: str) -> bool:
    """Han and Common are no words in names of characters."""
    if word in ("HAN", "COMMON", "INHERITED"):
        return True
    return any(unicodedata.name(chr(code), "").startswith(f"{word} ") for code in range(0x20, 0x20000))


def _fits(repeats: _Repeats, most: int) -> bool:
    """COMPAT: repeatIsValid: nested repetitions together repeat no more than so often."""
    return all(
        count <= most and _fits(inside, most // count if count > 0 else most) for count, inside in repeats
    )  # fmt: skip
