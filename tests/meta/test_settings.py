"""Every setting that code reads is declared, and every setting that is declared is read or says that it is not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from apiserver.api.settings import Config, Setting
from apiserver.configure import settings_of
from tests.meta.generate import ROOT, builtin_plugins

TYPED = "boolean|given|integer|mapping|number|seconds|source|strings|text"
OURS = r"\b(?:self|server|setup)\.config"
BY_NAME = re.compile(rf"\bconfig\.(?:{TYPED})\(\"([a-z0-9-]+)\"|{OURS}(?:\.get\(|\[)\"([a-z0-9-]+)\"")
BY_ATTRIBUTE = re.compile(rf"{OURS}\.([a-z][a-z0-9_]*)\b(?!\()")
OWN = {name for name in dir(Config) if not name.startswith("_")}


@pytest.fixture(scope="module")
def settings() -> dict[str, Setting]:
    return {setting.name: setting for setting in settings_of(builtin_plugins())}


def sources() -> Iterator[Path]:
    for folder in ("apiserver", "plugins"):
        yield from sorted((ROOT / folder).rglob("*.py"))


def reads(path: Path) -> set[str]:
    """The settings that a module reads, as far as the text shows it."""
    text = path.read_text(encoding="utf-8")
    by_attribute = {name.replace("_", "-") for name in BY_ATTRIBUTE.findall(text) if name not in OWN}
    return {one or other for one, other in BY_NAME.findall(text)} | by_attribute


def test_every_setting_that_is_read_is_declared(settings):
    undeclared = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in sources()
        if path.parts[-2:] != ("api", "settings.py")
        for name in reads(path) - set(settings)
    }
    assert undeclared == set()


def test_every_setting_is_read_somewhere_or_says_what_is_missing(settings):
    texts = [path.read_text(encoding="utf-8") for path in sources()]
    unread = {
        name
        for name, setting in settings.items()
        if not setting.note and not any(_uses(setting, text) for text in texts)
    }
    assert unread == set(), "a flag without effect does not exist, or has a note"


def _uses(setting: Setting, text: str) -> bool:
    """Whether a module names a setting elsewhere than in its declaration.

    Directly, in a table, or through a constant that occurs beside its definition and the declaration.
    """
    quoted = rf"\"{setting.name}\""
    constants = re.findall(rf"^(\w+)(?:: \w+)? = {quoted}$", text, flags=re.MULTILINE)
    elsewhere = len(re.findall(quoted, text)) - len(re.findall(rf"Setting\(\s*{quoted}", text)) - len(constants)
    through = any(len(re.findall(rf"\b{name}\b", text)) > 2 for name in constants)
    return elsewhere > 0 or through or re.search(rf"config\.{setting.attribute}\b", text) is not None
