"""Which of the declared resources are served, and in which version each is stored.

Called once by :mod:`apiserver.server` with what plugins declare; what comes back is installed. It decides by the
emulated minor (whose published definitions say which built-in kinds there are), ``--runtime-config`` and
``--feature-gates``.

COMPAT: apiserver/pkg/server/resourceconfig MergeAPIResourceConfigs; APIEnablementOptions.Validate;
apiserver/pkg/server/storage emulatedStorageVersion; prerelease-lifecycle-gen
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from apiserver.api.names import GroupVersion, GroupVersionKind, version_order
from apiserver.api.resource import Resource
from apiserver.api.settings import ConfigError
from apiserver.handlers.priorities import is_own
from apiserver.registry.kinds import Kinds

ALL = "api/all"
STAGES = {
    "api/ga": re.compile(r"v\d+"),
    "api/beta": re.compile(r"v\d+beta\d+"),
    "api/alpha": re.compile(r"v\d+alpha\d+"),
}
_TRUE = frozenset(("", "1", "t", "T", "TRUE", "true", "True"))
_FALSE = frozenset(("0", "f", "F", "FALSE", "false", "False"))
_DEPRECATED = re.compile(r"deprecated in v1\.(\d+)\+")
DEPRECATED_AFTER, REMOVED_AFTER = 3, 6
"""Minors after which a beta or alpha version is deprecated and gone, unless it says otherwise."""


@dataclass(frozen=True, slots=True)
class Enablement:
    """The settings that decide what is served.

    :param minor: the emulated Kubernetes minor.
    :param runtime: ``--runtime-config``.
    :param gates: ``--feature-gates``.
    """

    minor: int
    runtime: Mapping[str, str] = field(default_factory=dict)
    gates: Mapping[str, str] = field(default_factory=dict)

    def apply(self, declared: Sequence[Resource], kinds: Kinds) -> list[Resource]:
        """Those of ``declared`` that are served, each as it is served in this minor.

        :raises ConfigError: ``--runtime-config`` names what there is not.
        """
        problems = list(problems_of(self.runtime, {r.group_version for r in declared}, kinds))
        if problems:
            raise ConfigError(*(f"--runtime-config: {problem}" for problem in problems))
        present = [r for r in declared if _published(r, kinds)]
        versions = _storage_versions(present, self.minor)
        return [self._as_served(r, versions) for r in present if self._open(r) and self.enabled(r)]

    def _open(self, resource: Resource) -> bool:
        """Whether the feature gate of a resource, if it has any, is open."""
        gate = resource.gate
        if gate is None:
            return True
        given = self.gates.get(gate.name)
        return given in _TRUE if given is not None else 0 < gate.since <= self.minor

    def enabled(self, resource: Resource) -> bool:
        """Whether ``--runtime-config`` has a resource served: what is said most precisely counts."""
        version = f"{resource.group}/{resource.version}"
        stages = [key for key, pattern in STAGES.items() if pattern.fullmatch(resource.version)]
        for key in (f"{version}/{resource.plural}", version, *stages, ALL):
            if key in self.runtime:
                return self.runtime[key] in _TRUE
        if resource.enabled is not None:
            return resource.enabled
        return resource.schema is not None or not is_own(resource.group) or stages == ["api/ga"]

    def _as_served(self, resource: Resource, versions: Mapping[tuple[str, str], GroupVersionKind]) -> Resource:
        changes: dict[str, Any] = {}
        stored = versions.get((resource.group, resource.plural))
        if stored is not None and resource.storage_version is None and stored != resource.gvk:
            changes["storage_version"] = stored
        deprecated = _deprecation(resource, self.minor)
        if deprecated != resource.deprecated:
            changes["deprecated"] = deprecated
        if any(sub.introduced > self.minor for sub in resource.subresources):
            changes["subresources"] = tuple(s for s in resource.subresources if s.introduced <= self.minor)
        return replace(resource, **changes) if changes else resource


def _published(resource: Resource, kinds: Kinds) -> bool:
    """Whether the emulated minor has a kind; kinds that are not Kubernetes' own are in all."""
    own = resource.schema is None and is_own(resource.group)
    return not own or kinds.published(resource.gvk)


def _storage_versions(present: Iterable[Resource], minor: int) -> dict[tuple[str, str], GroupVersionKind]:
    """Where one resource has several versions: the best that the minor before had, too, so that it can read them.

    COMPAT: emulatedStorageVersion; what a declaration says goes before it
    """
    families: dict[tuple[str, str], list[Resource]] = {}
    for resource in present:
        families.setdefault((resource.group, resource.plural), []).append(resource)
    found = {}
    for key, family in families.items():
        if len(family) > 1:
            ordered = sorted(family, key=lambda r: version_order(r.version))
            known = [r for r in ordered if r.introduced < minor]
            found[key] = next((r.storage_gvk for r in ordered if r.storage_version), (known or ordered)[0].gvk)
    return found


def _deprecation(resource: Resource, minor: int) -> str:
    """The warning that a resource carries in a minor, "" for none."""
    text = resource.deprecated
    if not text and resource.introduced and not STAGES["api/ga"].fullmatch(resource.version):
        since, until = resource.introduced + DEPRECATED_AFTER, resource.introduced + REMOVED_AFTER
        text = f"{resource.group_version} {resource.kind} is deprecated in v1.{since}+, unavailable in v1.{until}+"
    begins = _DEPRECATED.search(text)
    return "" if begins is not None and int(begins[1]) > minor else text


# -- what may be said ------------------------------------------------------------------------------------------------


def problems_of(runtime: Mapping[str, str], declared: Iterable[GroupVersion], kinds: Kinds) -> Iterator[str]:
    """What is wrong with ``--runtime-config``, in upstream's words."""
    if runtime.get(ALL) == "false" and len(runtime) == 1:
        yield f"invalid key with only {ALL}=false"
        return
    versions = set(declared)
    groups = {group for group, _ in versions}
    unknown = []
    for key, value in runtime.items():
        if key == ALL or key in STAGES:
            if value not in ("true", "false"):
                yield f"invalid value {key}={value}"
            continue
        words = key.split("/")
        if len(words) not in (2, 3):
            yield f"runtime-config invalid key {key}"
        elif words[0] not in groups and not is_own(words[0]):
            unknown.append(words[0])
        else:
            yield from _wrong(key, value, GroupVersion(*words[:2]) in versions or kinds.version_known(*words[:2]))
    if unknown:
        yield f"unknown api groups {','.join(unknown)}"


def _wrong(key: str, value: str, known: bool) -> Iterator[str]:
    """What is wrong with one key of a known group. COMPAT: applyVersionAndResourcePreferences."""
    group, version, *rest = key.split("/")
    if not known:
        yield f"group version {GroupVersion(group, version)} that has not been registered"
    elif value not in _TRUE and value not in _FALSE:
        yield f'invalid value of {key}: {value}, err: strconv.ParseBool: parsing "{value}": invalid syntax'
    elif rest and rest[0] != rest[0].lower():
        form = "group/version/resource and resource is always lowercase plural"
        yield f'invalid key {key}: {form}, not "{rest[0]}"'
