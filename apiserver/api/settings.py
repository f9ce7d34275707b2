"""Settings as data: what a plugin declares in the hook ``apiserver_settings``, and what it reads from ``config``.

The core's own are in :mod:`apiserver.settings`; :mod:`apiserver.flags` makes flags of all of them and reads flags,
environment and file into one :class:`Config`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from apiserver.api.suggest import nearest

T = TypeVar("T")

ENVIRONMENT_PREFIX = "APISERVER_"


class ConfigError(Exception):
    """One or more settings are wrong. ``problems`` holds one sentence each."""

    def __init__(self, *problems: str) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


# -- values as text, as Go's flag packages read them ---------------------------------------------------------------

_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_DURATION = re.compile(r"(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)")
_BOOLEANS = {
    **dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True),
    **dict.fromkeys(("0", "f", "F", "FALSE", "false", "False"), False),
}


def parse_duration(text: str) -> float:
    """Seconds of a duration such as ``1h0m0s``, ``1.5s``, ``300ms`` or ``0``.

    COMPAT: time.ParseDuration

    :raises ValueError: the text is not a duration.
    """
    sign, rest = (-1.0, text[1:]) if text.startswith("-") else (1.0, text.removeprefix("+"))
    if rest == "0":
        return 0.0
    parts = _DURATION.findall(rest)
    if not parts or "".join(map("".join, parts)) != rest:
        raise ValueError(f"{text!r} is not a duration such as 30s or 1h30m")
    return sign * sum(float(number) * _UNITS[unit] for number, unit in parts)


def format_duration(seconds: float) -> str:
    """The duration as Go writes it: ``1h0m0s``, ``1m30s``, ``1.5s``, ``300ms``, ``0s``. COMPAT: time.Duration.String"""
    if seconds < 0:
        return f"-{format_duration(-seconds)}"
    if 0 < seconds < 1:
        unit, size = next((u, s) for u, s in (("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)) if seconds >= s or u == "ns")
        return f"{round(seconds / size, 6):g}{unit}"
    minutes, rest = divmod(round(seconds, 9), 60)
    hours, minutes = divmod(int(minutes), 60)
    text = f"{round(rest, 9):g}s"
    return f"{hours}h{minutes}m{text}" if hours else f"{minutes}m{text}" if minutes else text


def _boolean(text: str) -> bool:
    if text not in _BOOLEANS:
        raise ValueError(f"{text!r} is not true or false")
    return _BOOLEANS[text]


def _integer(text: str) -> int:
    if not re.fullmatch(r"[+-]?\d+", text):
        raise ValueError(f"{text!r} is not a whole number")
    return int(text)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a number") from None


def _split(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(part.strip() for text in texts for part in text.split(",") if part.strip())


def _pairs(texts: Iterable[str]) -> dict[str, str]:
    found = {}
    for part in _split(texts):
        key, equals, value = part.partition("=")
        if not equals or not key.strip():
            raise ValueError(f"{part!r} is not of the form key=value")
        found[key.strip()] = value.strip()
    return found


@dataclass(frozen=True, slots=True)
class _Type:
    """How a kind of value is read from the texts given for it, its value when nothing is given, and its metavar."""

    read: Callable[[Sequence[str]], Any]
    zero: Any
    metavar: str
    show: Callable[[Any], str] = str


def _last(read: Callable[[str], Any]) -> Callable[[Sequence[str]], Any]:
    return lambda texts: read(texts[-1])


TYPES: Mapping[str, _Type] = {
    "str": _Type(_last(str), "", "string"),
    "path": _Type(_last(str), "", "path"),
    "int": _Type(_last(_integer), 0, "int"),
    "float": _Type(_last(_number), 0.0, "float", lambda value: f"{value:g}"),
    "bool": _Type(_last(_boolean), False, "", lambda value: str(value).lower()),
    "duration": _Type(_last(parse_duration), 0.0, "duration", format_duration),
    "list": _Type(_split, (), "strings", ",".join),
    "items": _Type(lambda texts: tuple(text for text in texts if text), (), "string", " ".join),
    "map": _Type(_pairs, {}, "key=value,...", lambda value: ",".join(f"{k}={v}" for k, v in value.items())),
}
"""The types a setting can have.

``str``; ``path``; ``int``; ``float``; ``bool``; ``duration`` (Go's notation, seconds as float); ``list`` (separated by
commas and repeatable, a tuple of texts); ``items`` (repeatable, commas are part of the text); ``map`` (``key=value``
separated by commas and repeatable, a dict of texts).
"""


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: a flag ``--name``, an environment variable ``APISERVER_NAME``, a key of the config file.

    :param name: lower case with hyphens; kube-apiserver's flag where it has one for the purpose.
    :param type: a key of :data:`TYPES`.
    :param default: of the type, or a text to be read as one; None = the type's empty value.
    :param help: what it does, one or two sentences.
    :param group: heading under which ``--help`` and the settings page show it; default: the plugin's name.
    :param choices: the only texts allowed, for each item of a list.
    :param metavar: what ``--help`` calls the value.
    :param short: a one-letter flag, without the hyphen.
    :param check: called with the value; raises ValueError with a sentence when it is wrong.
    :param note: for flags of kube-apiserver that do something else or less here: what. Shown in ``--help`` and, when
        the setting is given, in the log at start.
    """

    name: str
    type: str = "str"
    default: Any = None
    help: str = ""
    group: str = ""
    choices: Sequence[str] = ()
    metavar: str = ""
    short: str = ""
    check: Callable[[Any], object] | None = field(default=None, compare=False)
    note: str = ""

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", self.name):
            raise ValueError(f"setting {self.name!r}: a name has lower-case letters, digits and single hyphens")
        if self.type not in TYPES:
            raise ValueError(f"setting {self.name!r}: type {self.type!r} is not one of {', '.join(TYPES)}")

    @property
    def flag(self) -> str:
        """``--secure-port``"""
        return f"--{self.name}"

    @property
    def environment(self) -> str:
        """``APISERVER_SECURE_PORT``"""
        return ENVIRONMENT_PREFIX + self.attribute.upper()

    @property
    def attribute(self) -> str:
        """``secure_port``"""
        return self.name.replace("-", "_")

    @property
    def kind(self) -> _Type:
        """How its type is read and shown."""
        return TYPES[self.type]

    @property
    def initial(self) -> Any:
        """The default as a value of the type."""
        if self.default is None:
            return self.kind.zero
        if isinstance(self.default, str):
            return self.kind.read([self.default])
        return tuple(self.default) if isinstance(self.default, list) else self.default

    def read(self, texts: Sequence[str]) -> Any:
        """The value that ``texts`` stand for: all that one source gives, in order.

        :raises ValueError: a sentence that says what is wrong, without the setting's name.
        """
        value = self.kind.read(texts)
        if self.choices:
            for item in value if isinstance(value, tuple) else (value,):
                if str(item) not in self.choices:
                    raise ValueError(f"{str(item)!r} is not one of {', '.join(self.choices)}")
        if self.check is not None:
            self.check(value)
        return value

    def show(self, value: Any) -> str:
        """``value`` as one would write it on the command line."""
        return self.kind.show(value)


class Config(Mapping[str, Any]):
    """All settings of one server, read only: ``config["secure-port"]`` or ``config.secure_port``.

    The methods named after types are for code that is type-checked: ``config.integer("secure-port")``.
    """

    __slots__ = ("_sources", "_values", "warnings")

    def __init__(
        self, values: Mapping[str, Any], sources: Mapping[str, str] | None = None, warnings: Sequence[str] = ()
    ) -> None:
        """Usually made by :mod:`apiserver.flags`; tests make one of a plain mapping.

        :param values: by setting name; underscores are taken for hyphens.
        :param sources: where a value that is not the default came from: "flag", "environment" or "file".
        :param warnings: sentences for the log at start.
        """
        self._values = {name.replace("_", "-"): value for name, value in values.items()}
        self._sources = dict(sources or {})
        self.warnings = tuple(warnings)

    def __getitem__(self, name: str) -> Any:
        try:
            return self._values[name]
        except KeyError:
            raise KeyError(f"there is no setting {name!r}{nearest(name, self._values)}") from None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name.replace("_", "-")]
        except KeyError as ex:
            raise AttributeError(ex.args[0]) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def changed(self, values: Mapping[str, Any]) -> Config:
        """The same with other values for some settings, by name; they count as given as before."""
        return Config({**self, **values}, self._sources, self.warnings)

    def source(self, name: str) -> str:
        """Where the value came from: "flag", "environment", "file" or "default"."""
        return self._sources.get(name, "default")

    def given(self, name: str) -> bool:
        """Whether somebody gave the setting, even with its default value."""
        return name in self._sources

    def text(self, name: str) -> str:
        """A ``str`` or ``path`` setting; "" when empty."""
        return self._typed(name, str)

    def integer(self, name: str) -> int:
        """An ``int`` setting."""
        return self._typed(name, int)

    def number(self, name: str) -> float:
        """A ``float`` setting."""
        return self._typed(name, float, int)

    def boolean(self, name: str) -> bool:
        """A ``bool`` setting."""
        return self._typed(name, bool)

    def seconds(self, name: str) -> float:
        """A ``duration`` setting, in seconds."""
        return self._typed(name, float, int)

    def strings(self, name: str) -> tuple[str, ...]:
        """A ``list`` or ``items`` setting."""
        return tuple(self._typed(name, tuple, list))

    def mapping(self, name: str) -> Mapping[str, str]:
        """A ``map`` setting."""
        return self._typed(name, dict)

    def _typed(self, name: str, *kinds: type[T]) -> T:
        value = self[name]
        if not isinstance(value, kinds):
            raise TypeError(f"setting {name!r} is a {type(value).__name__}")
        return value
