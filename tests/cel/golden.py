"""The recorded scenarios about rules, taken apart for tests of the rules alone."""

from __future__ import annotations

import copy
import functools
import json
from pathlib import Path
from typing import Any

import yaml

_ROOT = Path(__file__).parents[1] / "golden"
_VALIDATION = "/spec/versions/0/schema/openAPIV3Schema"


@functools.cache
def _corpus() -> Any:
    return yaml.safe_load((_ROOT / "corpus" / "cel.yaml").read_text(encoding="utf-8"))


@functools.cache
def _answers() -> Any:
    return json.loads((_ROOT / "answers" / "cel.json").read_text(encoding="utf-8"))


def scenario(name: str, step: str) -> dict[str, Any]:
    """A step of a scenario."""
    steps = next(s for s in _corpus()["scenarios"] if s["name"] == name)["steps"]
    return next(s for s in steps if s["name"] == step)


def answered(name: str, step: str) -> dict[str, Any]:
    """What kube-apiserver answered to a step."""
    return _answers()[name][step]


def schema_of(name: str) -> dict[str, Any]:
    """The schema that a scenario begins with."""
    return scenario(name, "crd")["set"][_VALIDATION]


def base_schema() -> dict[str, Any]:
    """The schema of the definition that the cases change."""
    return copy.deepcopy(_corpus()["objects"]["crd"]["spec"]["versions"][0]["schema"]["openAPIV3Schema"])


def changed_schema(changes: dict[str, Any]) -> dict[str, Any]:
    """The schema with a case's changes."""
    schema: dict[str, Any] = {"root": base_schema()}
    for pointer, value in changes.items():
        steps = ["root", *pointer.removeprefix(_VALIDATION).split("/")[1:]]
        target = schema
        for step in steps[:-1]:
            target = target.setdefault(step, {})
        target[steps[-1]] = value
    return schema["root"]
