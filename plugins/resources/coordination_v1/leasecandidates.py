"""LeaseCandidates: who would lead, and in which version.

COMPAT: pkg/apis/coordination/validation ValidateLeaseCandidateSpec
"""

from __future__ import annotations

import re
from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.resource import Column
from apiserver.api.rest import Context
from apiserver.api.strategy import Strategy
from apiserver_plugins.resources.common.columns import AGE, cell, value_at
from apiserver_plugins.resources.common.values import immutable, is_qualified

Object = dict[str, Any]

OLDEST = "OldestEmulationVersion"
_SPEC = Path("spec")
_SEMVER = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:[-+].*)?")


def _parsed(path: str, value: str) -> tuple[tuple[int, ...] | None, list[FieldError]]:
    """A version, None if it is none, and what is wrong with it. COMPAT: blang/semver Parse."""
    match = _SEMVER.fullmatch(value)
    if match is not None:
        return tuple(int(number) for number in match.groups()), []
    text = "No Major.Minor.Patch elements found"
    if value.count(".") >= 2:
        major = value.partition(".")[0]
        text = f'Invalid character(s) found in major number "{major}"'
    return None, [FieldError.invalid(path, value, text)]


class LeaseCandidateStrategy(Strategy):
    """Rules of LeaseCandidates."""

    allow_create_on_update = True
    allow_unconditional_update = False

    def validate(self, ctx: Context, obj: Object) -> list[FieldError]:
        spec = obj.get("spec") or {}
        binary, emulated, strategy = (
            spec.get(field) or "" for field in ("binaryVersion", "emulationVersion", "strategy")
        )
        errors = [FieldError.required(_SPEC / field) for field in ("leaseName", "binaryVersion") if not spec.get(field)]
        runs, answers = None, None
        if emulated:
            answers, wrong = _parsed(_SPEC / "emulationVersion", emulated)
            errors += wrong
        if binary:
            runs, wrong = _parsed(_SPEC / "binaryVersion", binary)
            errors += wrong
        if runs and answers and runs < answers:
            text = "must be greater than or equal to `emulationVersion`"
            errors.append(FieldError.invalid(_SPEC / "binaryVersion", binary, text))
        return [*errors, *self._strategy_errors(strategy, emulated)]

    @staticmethod
    def _strategy_errors(strategy: str, emulated: str) -> list[FieldError]:
        path = _SPEC / "strategy"
        if not strategy:
            return [FieldError.required(path)]
        errors: list[FieldError] = []
        if strategy == OLDEST and not emulated:
            text = f"must be specified when `strategy` is '{OLDEST}'"
            errors.append(FieldError.required(_SPEC / "emulationVersion", text))
        if "/" in strategy:
            errors += is_qualified(path, strategy)
        elif strategy != OLDEST:
            errors.append(FieldError.not_supported(path, strategy, (OLDEST,)))
        return errors

    def validate_update(self, ctx: Context, obj: Object, old: Object) -> list[FieldError]:
        names = (value_at(each, "spec", "leaseName") for each in (obj, old))
        return [*self.validate(ctx, obj), *immutable(_SPEC / "leaseName", *names)]


STRATEGY = LeaseCandidateStrategy()
COLUMNS = (
    Column("LeaseName", cell("spec", "leaseName"), field="spec.leaseName"),
    Column("BinaryVersion", cell("spec", "binaryVersion"), field="spec.binaryVersion"),
    Column("EmulationVersion", cell("spec", "emulationVersion"), field="spec.emulationVersion"),
    AGE,
)
