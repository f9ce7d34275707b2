"""What the checks of the standards share: containers, security contexts, and how findings are told.

COMPAT: k8s.io/pod-security-admission/policy helpers.go, visitor.go
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

Object: TypeAlias = Mapping[str, Any]
_NOTHING: Object = {}
_CONTAINERS = ("initContainers", "containers", "ephemeralContainers")


class Violation(NamedTuple):
    """Why a pod is not allowed: a few words, and what in the pod it is about."""

    reason: str
    detail: str


Check: TypeAlias = Callable[[Object, Object], Violation | None]
"""Called with the metadata and the spec of a pod."""


def containers(spec: Object) -> Iterator[Object]:
    """All containers of a pod, in upstream's order."""
    for field in _CONTAINERS:
        yield from spec.get(field) or ()


def context(holder: Object) -> Object:
    """The security context of a pod's spec or of a container."""
    return holder.get("securityContext") or _NOTHING


def under(holder: Object, field: str) -> Object:
    """An object in the security context, empty if there is none."""
    return context(holder).get(field) or _NOTHING


def names(found: Iterable[Object]) -> list[str]:
    """The names of containers or volumes."""
    return [str(one.get("name", "")) for one in found]


def plural(word: str, count: int) -> str:
    """``word``, with an s unless there is one."""
    return word if count == 1 else f"{word}s"


def quoted(items: Iterable[str]) -> str:
    """``"a", "b"``"""
    return ", ".join(f'"{item}"' for item in items)


def listed(what: str, found: Sequence[str]) -> str:
    """``containers "a", "b"``"""
    return f"{plural(what, len(found))} {quoted(found)}"


def setters(pod: bool, found: Sequence[str]) -> str:
    """``pod and containers "a", "b"``, whichever of them set something."""
    return " and ".join(filter(None, ("pod" if pod else "", listed("container", found) if found else "")))


def is_windows(spec: Object) -> bool:
    """Whether the pod says that it is for Windows."""
    return bool((spec.get("os") or _NOTHING).get("name") == "windows")


def in_user_namespace(spec: Object) -> bool:
    """Whether users in the pod are others than on its node. COMPAT: relaxPolicyForUserNamespacePod"""
    return spec.get("hostUsers") is False
