"""Read flags, environment and config file into one :class:`~apiserver.api.settings.Config`.

:mod:`apiserver.configure` calls this with the core's settings, to learn which plugins to load, and again with those of
the plugins. Precedence: flag, then environment (``APISERVER_<NAME>``), then file (``--config``), then default. A value
is read from text in the same way wherever it comes from. Everything that is wrong is reported at once.

COMPAT: github.com/spf13/pflag as kube-apiserver uses it: ``--flag=value`` and ``--flag value``, ``--flag`` and
``--flag=false`` for booleans, lists that are repeated or separated by commas, underscores as good as hyphens in names,
no abbreviations.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from apiserver.api.settings import ENVIRONMENT_PREFIX, Config, ConfigError, Setting
from apiserver.api.suggest import nearest

KUBERNETES_LINKS = re.compile(r"_SERVICE_(HOST|PORT)|_PORT($|_)")
"""Variables that Kubernetes sets in pods for a Service called apiserver; they are none of ours."""


@dataclass(slots=True)
class Given:
    """What one source gives: texts by setting name, and for each name where it stands, for messages."""

    source: str
    texts: dict[str, list[str]] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def add(self, name: str, texts: Iterable[str], place: str) -> None:
        self.texts.setdefault(name, []).extend(texts)
        self.places[name] = place


# -- flags ---------------------------------------------------------------------------------------------------------


class _Parser(argparse.ArgumentParser):
    """argparse that raises instead of exiting."""

    def error(self, message: str) -> NoReturn:
        raise ConfigError(message)


class _Help(argparse.HelpFormatter):
    """Flag names in full, their help below them."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=8, width=110)


def parser(settings: Iterable[Setting], prog: str, description: str) -> argparse.ArgumentParser:
    """An argparse parser with a flag for each setting, under the headings of their groups."""
    made = _Parser(
        prog=prog, usage=f"{prog} [flags]", description=description, allow_abbrev=False, formatter_class=_Help
    )
    groups: dict[str, Any] = {}
    for setting in settings:
        group = groups.get(setting.group) or groups.setdefault(setting.group, made.add_argument_group(setting.group))
        names = [setting.flag] if len(setting.name) > 1 else [f"-{setting.name}", f"--{setting.name}"]
        if setting.short and setting.short != setting.name:
            names.insert(0, f"-{setting.short}")
        group.add_argument(
            *names,
            dest=setting.name,
            action="append",
            help=_help_text(setting).replace("%", "%%"),
            **_arguments(setting),
        )
    return made


def _arguments(setting: Setting) -> dict[str, Any]:
    if setting.type == "bool":
        return {"nargs": "?", "const": "true", "metavar": "true|false"}
    return {"metavar": metavar(setting)}


def metavar(setting: Setting) -> str:
    """What ``--help`` and the settings page call the value."""
    return setting.metavar or "|".join(setting.choices) or setting.kind.metavar


def _help_text(setting: Setting) -> str:
    default = setting.show(setting.initial)
    parts = [setting.help, setting.note and f"NOTE: {setting.note}", default and f"(default {default})"]
    return " ".join(filter(None, parts))


def from_flags(settings: Sequence[Setting], argv: Sequence[str], *, strict: bool = True) -> Given:
    """What the command line gives.

    :param strict: unknown flags are problems; otherwise they are left alone, for a first look before plugins are
        loaded and their flags known.
    """
    given = Given("flag")
    try:
        found, unknown = parser(settings, "apiserver", "").parse_known_args(_normalised(argv))
    except ConfigError as ex:
        if strict:
            given.problems.append(str(ex).replace("argument ", "", 1))
        return given
    for name, texts in vars(found).items():
        if texts is not None:
            given.add(name, texts, f"--{name}")
    if strict:
        given.problems += _unknown(unknown, [s.flag for s in settings])
    return given


def _normalised(argv: Sequence[str]) -> list[str]:
    """Underscores in flag names become hyphens. COMPAT: component-base/cli/flag WordSepNormalizeFunc"""
    return [re.sub(r"^--[A-Za-z0-9_-]+", lambda m: m[0].replace("_", "-"), word) for word in argv]


def _unknown(words: Sequence[str], known: Sequence[str]) -> list[str]:
    """A problem for each unknown flag; values that follow them are left out, as nobody knows whose they are."""
    flags = [word.partition("=")[0] for word in words if word.startswith("-") and len(word) > 1]
    if words and not flags:
        return [f"unexpected argument: {word}" for word in words]
    return [f"unknown flag: {flag}{nearest(flag, known)}" for flag in flags]


# -- environment ---------------------------------------------------------------------------------------------------


def from_environment(settings: Sequence[Setting], environ: Mapping[str, str]) -> tuple[Given, list[str]]:
    """What the environment gives, and warnings about variables that look like ours and are not."""
    given, known = Given("environment"), {setting.environment: setting for setting in settings}
    warnings = []
    for variable, text in environ.items():
        if variable in known:
            given.add(known[variable].name, [text], variable)
        elif variable.startswith(ENVIRONMENT_PREFIX) and not KUBERNETES_LINKS.search(variable):
            warnings.append(f"environment variable {variable} is no setting{nearest(variable, known)}")
    return given, warnings


# -- file ----------------------------------------------------------------------------------------------------------


def from_file(settings: Sequence[Setting], path: str, *, strict: bool = True) -> Given:
    """What the YAML file at ``path`` gives: scalars, lists, and mappings for settings of type ``map``.

    :param strict: unknown keys are problems, see :func:`from_flags`.
    """
    import yaml  # only who has a config file pays for it

    given, known = Given("file"), {setting.name: setting for setting in settings}
    try:
        with open(path, encoding="utf-8") as file:
            root = yaml.compose(file, Loader=yaml.CSafeLoader)
    except (OSError, ValueError, yaml.YAMLError) as ex:
        given.problems.append(f"--config: {' '.join(str(ex).split())}")
        return given
    if root is None:
        return given
    if not isinstance(root, yaml.MappingNode):
        given.problems.append(f"--config: {path} does not hold a mapping of settings")
        return given
    for key, value in root.value:
        place = f"{path}:{key.start_mark.line + 1}"
        if key.value in known:
            given.add(key.value, _texts(value), f"{place}: {key.value}")
        elif strict:
            given.problems.append(f"{place}: unknown setting {key.value!r}{nearest(str(key.value), known)}")
    return given


def _texts(node: Any) -> list[str]:
    """The texts that a YAML node gives: as they are written, so that every source is read in the same way."""
    if node.id == "sequence":
        return [text for item in node.value for text in _texts(item)]
    if node.id == "mapping":
        return [f"{key.value}={value.value}" for key, value in node.value]
    return [] if node.tag == "tag:yaml.org,2002:null" else [node.value]


# -- all of them ---------------------------------------------------------------------------------------------------


def resolve(
    settings: Sequence[Setting], argv: Sequence[str], environ: Mapping[str, str], *, strict: bool = True
) -> tuple[Config, list[str]]:
    """Read all sources; returns the settings and what is wrong with them.

    :param strict: False for a first look: unknown names and bad values are passed over.
    """
    flags = from_flags(settings, argv, strict=strict)
    environment, warnings = from_environment(settings, environ)
    path = next((given.texts["config"][-1] for given in (flags, environment) if given.texts.get("config")), "")
    file = from_file(settings, path, strict=strict) if path else Given("file")
    problems = [problem for given in (flags, environment, file) for problem in given.problems]
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for setting in settings:
        values[setting.name] = setting.initial
        given = next((g for g in (flags, environment, file) if g.texts.get(setting.name)), None)
        if given is None:
            continue
        try:
            values[setting.name] = setting.read(given.texts[setting.name])
            sources[setting.name] = given.source
        except ValueError as ex:
            problems.append(f"{given.places[setting.name]}: {ex}")
    notes = [f"{s.flag}: {s.note}" for s in settings if s.note and s.name in sources]
    return Config(values, sources, [*warnings, *notes]), problems if strict else []
