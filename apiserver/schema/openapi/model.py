"""What OpenAPI needs to know of an installed resource, and the names upstream derives from it.

The server makes one :class:`Served` per resource from its declaration and the verbs its storage has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apiserver.api.resource import Resource


@dataclass(frozen=True, slots=True)
class ServedSubresource:
    """A subresource; ``group``, ``version`` and ``kind`` are those of its body (``autoscaling/v1 Scale``).

    ``connect`` lists HTTP methods, in lower case, of a subresource that is a connection (exec, proxy);
    ``kind`` is then its options kind. ``with_path`` tells that more path may follow.
    """

    name: str
    group: str
    version: str
    kind: str
    verbs: Sequence[str]
    connect: Sequence[str] = ()
    with_path: bool = False


@dataclass(frozen=True, slots=True)
class Served:
    """A resource in one group version.

    :param schema: an OpenAPI v3 schema; None = the published definition of this built-in kind.
    :param strategic: whether strategic merge patches are accepted.
    :param selectable_fields: JSON paths a custom resource can be selected by.
    """

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool
    verbs: Sequence[str]
    list_kind: str = ""
    subresources: Sequence[ServedSubresource] = ()
    schema: Mapping[str, Any] | None = None
    strategic: bool = True
    selectable_fields: Sequence[str] = ()

    @property
    def list_kind_name(self) -> str:
        return self.list_kind or f"{self.kind}List"

    @property
    def base(self) -> str:
        """``/apis/apps/v1`` or ``/api/v1``."""
        return group_path(self.group, self.version)


_CONNECT: Mapping[str, Sequence[str]] = {
    "attach": ("get", "post"),
    "exec": ("get", "post"),
    "portforward": ("get", "post"),
    "proxy": ("delete", "get", "head", "options", "patch", "post", "put"),
}


def served(resource: Resource, verbs: Sequence[str], subresource_verbs: Mapping[str, Sequence[str]]) -> Served:
    """A resource as OpenAPI sees it.

    :param verbs: those its storage has; ``subresource_verbs`` the same for each subresource by name.
    """
    subresources = []
    for sub in resource.subresources:
        kind = sub.kind or resource.gvk
        connect = _CONNECT.get(sub.name, ()) if kind.kind.endswith("Options") else ()
        subresources.append(
            ServedSubresource(
                sub.name,
                kind.group,
                kind.version,
                kind.kind,
                tuple(subresource_verbs.get(sub.name, sub.verbs or ())),
                connect,
                with_path=sub.name == "proxy",
            )
        )
    return Served(
        resource.group,
        resource.version,
        resource.kind,
        resource.plural,
        resource.namespaced,
        tuple(verbs),
        resource.list_kind,
        subresources,
        resource.schema,
        strategic=resource.schema is None,
    )


def group_path(group: str, version: str) -> str:
    """The root path of a group version."""
    return f"/apis/{group}/{version}" if group else f"/api/{version}"


def title(group: str) -> str:
    """``rbac.authorization.k8s.io`` -> ``RbacAuthorization``; the core group is ``Core``.

    COMPAT: kube-apiserver operation ids
    """
    if not group:
        return "Core"
    words = group.removesuffix(".k8s.io").replace("-", ".").split(".")
    return "".join(word[:1].upper() + word[1:] for word in words)


def version_title(version: str) -> str:
    return version[:1].upper() + version[1:]


def tag(group: str, version: str = "") -> str:
    """``rbacAuthorization_v1``; without a version the group's own tag."""
    name = title(group)
    name = name[:1].lower() + name[1:]
    return f"{name}_{version}" if version else name


def custom_definition(group: str, version: str, kind: str) -> str:
    """The definition name of a kind that is not built in: ``com.example.stable.v1.CronTab``."""
    return f"{'.'.join(reversed(group.split('.')))}.{version}.{kind}"
