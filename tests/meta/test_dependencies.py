"""Every dependency has a range, a reason and a use."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
REQUIREMENTS = [*PROJECT["dependencies"], *(r for extra in EXTRAS.values() for r in extra if "[" not in r)]


def name_of(requirement: str) -> str:
    return re.split(r"[<>=!~\[; ]", requirement, maxsplit=1)[0]


@pytest.mark.parametrize("requirement", REQUIREMENTS)
def test_every_dependency_has_a_lower_and_an_upper_bound(requirement):
    assert re.fullmatch(r"[A-Za-z0-9_-]+>=[0-9.]+,<[0-9.]+", requirement)


@pytest.mark.parametrize("requirement", REQUIREMENTS)
def test_every_dependency_has_its_reason_written_down(requirement):
    page = (ROOT / "docs/dependencies.md").read_text(encoding="utf-8")
    row = next((line for line in page.splitlines() if line.startswith(f"| `{name_of(requirement)}` |")), "")
    assert len(row.split("|")) == 5, f"docs/dependencies.md needs a row for {name_of(requirement)}"


def test_no_reason_is_left_over():
    page = (ROOT / "docs/dependencies.md").read_text(encoding="utf-8")
    named = {line.split("`")[1] for line in page.splitlines() if line.startswith("| `")}
    assert named == set(map(name_of, REQUIREMENTS))


MODULES = {
    "cel-expr-python": "cel_expr_python",
    "google-re2": "re2",
    "cslab-etcd3": "etcd3",
    "grpcio": "grpc",
    "protobuf": "google.protobuf",
    "jsonschema-rs": "jsonschema_rs",
    "kubernetes-validate": "kubernetes_validate",
    "PyJWT": "jwt",
    "pyyaml": "yaml",
}
"""What a distribution is imported as, where that is not its name."""


@pytest.mark.parametrize("requirement", PROJECT["dependencies"])
def test_a_dependency_is_used_exactly_when_the_page_does_not_say_otherwise(requirement):
    name = name_of(requirement)
    module = re.escape(MODULES.get(name, name))
    named = re.compile(rf"^\s*(?:import|from) {module}\b|[\"']{module}[\"'.]", re.MULTILINE)
    sources = (path for folder in ("apiserver", "plugins") for path in (ROOT / folder).rglob("*.py"))
    used = any(named.search(path.read_text(encoding="utf-8")) for path in sources)
    page = (ROOT / "docs/dependencies.md").read_text(encoding="utf-8")
    row = next(line for line in page.splitlines() if line.startswith(f"| `{name}` |"))
    assert used != ("**not used yet**" in row)
