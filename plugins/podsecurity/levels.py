"""Levels and versions of the standards, and what a namespace's labels say about them.

COMPAT: k8s.io/pod-security-admission/api
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from apiserver.api.fields import FieldError, Path

PRIVILEGED, BASELINE, RESTRICTED = "privileged", "baseline", "restricted"
LEVELS = (PRIVILEGED, BASELINE, RESTRICTED)
"""From the one that allows most to the strictest."""
LATEST = "latest"
PREFIX = "pod-security.kubernetes.io/"
"""Of labels of namespaces and of audit annotations."""

_VERSION = re.compile(r"v1\.(0|[1-9][0-9]*)", re.ASCII)
_NEWEST = 1 << 30


class Standard(NamedTuple):
    """A level in a version: ``latest`` or ``v1.N``."""

    level: str = PRIVILEGED
    version: str = LATEST

    def __str__(self) -> str:
        return f"{self.level}:{self.version}"

    @property
    def minor(self) -> int:
        """The minor of the version; of the latest one it is higher than any."""
        return _NEWEST if self.version == LATEST else int(self.version.removeprefix("v1."))


class Policy(NamedTuple):
    """What a namespace refuses, notes in the audit log, and warns about."""

    enforce: Standard = Standard()
    audit: Standard = Standard()
    warn: Standard = Standard()

    @property
    def privileged(self) -> bool:
        """Whether everything is allowed without a word."""
        return all(standard.level == PRIVILEGED for standard in self)


def stricter(one: str, other: str) -> bool:
    """Whether a level is stricter than another."""
    return LEVELS.index(one) > LEVELS.index(other)


def policy_of(labels: Mapping[str, str]) -> tuple[Policy, list[FieldError]]:
    """What the labels of a namespace ask for, and what is wrong with them.

    A level that is none fails closed where pods are refused and open elsewhere. COMPAT: PolicyToEvaluate
    """
    found: dict[str, Standard] = {}
    errors: list[FieldError] = []
    for mode in Policy._fields:
        level, version = labels.get(PREFIX + mode), labels.get(f"{PREFIX}{mode}-version")
        if level is not None and level not in LEVELS:
            errors.append(_invalid(mode, level, f"must be one of {', '.join(LEVELS)}"))
            level = RESTRICTED if mode == "enforce" else PRIVILEGED
        if version is not None and version != LATEST and not _VERSION.fullmatch(version):
            errors.append(_invalid(f"{mode}-version", version, 'must be "latest" or "v1.x"'))
            version = LATEST
        found[mode] = Standard(level or PRIVILEGED, version or LATEST)
    return Policy(found["enforce"], found["audit"], _warned(labels, found)), errors


def _warned(labels: Mapping[str, str], found: Mapping[str, Standard]) -> Standard:
    """What is refused is warned about too, in templates of pods, unless the labels say what to warn about."""
    enforce, warn = found["enforce"], found["warn"]
    said = labels.get(PREFIX + "enforce") in LEVELS
    if PREFIX + "warn" in labels or not said or not stricter(enforce.level, warn.level):
        return warn
    version = warn.version if f"{PREFIX}warn-version" in labels else enforce.version
    return Standard(enforce.level, version)


def _invalid(label: str, value: str, why: str) -> FieldError:
    return FieldError.invalid(Path(f"metadata.labels[{PREFIX}{label}]"), value, why)
