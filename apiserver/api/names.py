"""The names of things in the API: groups, versions, kinds and resources.

COMPAT: k8s.io/apimachinery/pkg/runtime/schema
"""

from __future__ import annotations

import re
from typing import NamedTuple


class GroupKind(NamedTuple):
    """``Deployment.apps``; ``Pod`` in the core group."""

    group: str
    kind: str

    def __str__(self) -> str:
        return f"{self.kind}.{self.group}" if self.group else self.kind


class GroupResource(NamedTuple):
    """``deployments.apps``; ``pods`` in the core group."""

    group: str
    resource: str

    def __str__(self) -> str:
        return f"{self.resource}.{self.group}" if self.group else self.resource


class GroupVersion(NamedTuple):
    """``apps/v1``; ``v1`` in the core group: what objects carry as ``apiVersion``."""

    group: str
    version: str

    def __str__(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @classmethod
    def parse(cls, text: str) -> GroupVersion:
        """From ``apiVersion``.

        :raises ValueError: more than one slash, with upstream's text.
        """
        head, slash, tail = text.partition("/")
        if not slash:
            return cls("", head)
        if "/" in tail:
            raise ValueError(f"unexpected GroupVersion string: {text}")
        return cls(head, tail)

    def kind(self, kind: str) -> GroupVersionKind:
        """A kind in this version."""
        return GroupVersionKind(self.group, self.version, kind)


class GroupVersionKind(NamedTuple):
    """A kind in a version. ``str`` is upstream's ``apps/v1, Kind=Deployment``."""

    group: str
    version: str
    kind: str

    @property
    def group_version(self) -> GroupVersion:
        return GroupVersion(self.group, self.version)

    @property
    def group_kind(self) -> GroupKind:
        return GroupKind(self.group, self.kind)

    def __str__(self) -> str:
        return f"{self.group_version}, Kind={self.kind}" if self.group else f"/{self.version}, Kind={self.kind}"


class GroupVersionResource(NamedTuple):
    """A resource (plural) in a version."""

    group: str
    version: str
    resource: str

    @property
    def group_version(self) -> GroupVersion:
        return GroupVersion(self.group, self.version)

    @property
    def group_resource(self) -> GroupResource:
        return GroupResource(self.group, self.resource)

    def __str__(self) -> str:
        return (
            f"{self.group_version}, Resource={self.resource}"
            if self.group
            else (f"/{self.version}, Resource={self.resource}")
        )


_VERSION = re.compile(r"v(\d+)(?:(alpha|beta)(\d+))?", re.ASCII)
_STAGES = {None: 0, "beta": 1, "alpha": 2}


def version_order(version: str) -> tuple[int, int, int, str]:
    """A sort key: stable before beta before alpha, newer first, odd names last.

    COMPAT: apimachinery CompareKubeAwareVersionStrings
    """
    match = _VERSION.fullmatch(version)
    if match is None:
        return 9, 0, 0, version
    return _STAGES[match[2]], -int(match[1]), -int(match[3] or 0), version
