"""The declaration of a resource: one object from which routes, discovery, OpenAPI, tables and RBAC verbs derive.

A resource plugin returns these from the hook ``apiserver_resources``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from apiserver.api.names import GroupResource, GroupVersion, GroupVersionKind, GroupVersionResource
from apiserver.api.strategy import Strategy

if TYPE_CHECKING:
    from apiserver.api.server import Server


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the resource's Table.

    ``cell`` makes the value from the object (a dict): a string, number, bool or None. ``type`` and ``format`` are
    OpenAPI's; a column with ``priority`` > 0 is shown by ``-o wide`` only. Without a ``description`` the one of the
    ``field`` of the kind's schema is shown: a dotted path such as ``spec.replicas``.
    """

    name: str
    cell: Callable[[dict[str, Any]], Any]
    type: str = "string"
    format: str = ""
    priority: int = 0
    description: str = ""
    field: str = ""


@dataclass(frozen=True, slots=True)
class ScalePaths:
    """Where a scaled object keeps its replicas, as field names; ``selector`` makes the text of its label selector.

    ``versions``: where they are in each version, by apiVersion, for who owns them; empty = there is one version.
    """

    replicas: tuple[str, ...] = ("spec", "replicas")
    status_replicas: tuple[str, ...] = ("status", "replicas")
    selector: Callable[[dict[str, Any]], str] = lambda _obj: ""
    versions: Mapping[str, tuple[str, ...] | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FeatureGate:
    """A feature gate of Kubernetes without which a resource is not served.

    :param since: the minor from which on it is open unless ``--feature-gates`` says otherwise; 0 = in none.
    """

    name: str
    since: int = 0


@dataclass(frozen=True, slots=True)
class Subresource:
    """A subresource such as ``status`` or ``scale``.

    Either ``strategy`` (the generic store serves get, update and patch of the parent's object with these rules), or
    ``scale`` (the generic store shows and changes the replicas as an ``autoscaling/v1`` Scale), or ``storage`` (a
    factory ``(server, resource) -> object`` with some of the protocols of :mod:`apiserver.api.rest`).
    ``kind`` is the kind of its body, None for the parent's. ``introduced`` is the Kubernetes minor that it came with,
    0 for always.
    """

    name: str
    strategy: Strategy | None = None
    kind: GroupVersionKind | None = None
    storage: Callable[[Server, Resource], object] | None = None
    verbs: Sequence[str] | None = None
    scale: ScalePaths | None = None
    introduced: int = 0


@dataclass(frozen=True, slots=True)
class Resource:
    """One resource in one group version.

    :param plural: as in URLs; ``singular`` defaults to the lower-case kind, ``list_kind`` to ``<kind>List``.
    :param schema: an OpenAPI v3 schema (dict) of the kind; None = the built-in definition of this
        GroupVersionKind, which exists for Kubernetes' own kinds only.
    :param columns: of its Table, after Name; None = Name and Created At. With a column of format ``name`` among them,
        that one is the Name column, in its place.
    :param selectable_fields: what field selectors may name beside metadata.name and metadata.namespace; values come
        from ``strategy.selectable_fields``.
    :param storage_prefix: key below the etcd prefix, default ``<plural>`` for built-in groups and
        ``<group>/<plural>`` for groups with a dot that are not ``*.k8s.io``.
    :param storage_version: the version objects are stored in, None = this one. Resources of one ``storage_prefix``
        share their objects.
    :param from_storage: turns an object of the storage version into this one, in place (apiVersion is set for it);
        ``to_storage`` the other way. None = only apiVersion and kind differ.
    :param also_stored: group versions that are not served and that other servers may have stored objects in, and what
        turns such an object into this version, in place.
    :param hashed_version: what ``storageVersionHash`` in discovery is made of, None = the storage version. For a kind
        that kube-apiserver itself stores in a version that it does not serve.
    :param ttl: seconds after which objects vanish, or a function of the server's config.
    :param storage: a factory for a storage object of one's own; None = the generic store.
    :param verbs: the only verbs to serve, for a resource whose storage can do more; None = all it can.
    :param deprecated: a sentence for the Warning header, as upstream's deprecation texts; one that begins to count
        with a minor says so by ``deprecated in v1.N+``.
    :param introduced: the Kubernetes minor that this version came with, 0 = older than all that can be emulated. For
        built-in kinds it decides in which version objects are stored, and when a beta or alpha version is deprecated.
    :param enabled: whether it is served unless ``--runtime-config`` says otherwise; None = built-in kinds in stable
        versions and kinds with a schema are.
    :param gate: the feature gate that must be open for it to be served.
    :param unstructured: its objects are treated as upstream treats custom resources: a value of the wrong type is what
        the schema says is wrong with the object (422) and no fault of the body (400); each version has a schema of its
        own, by which objects are checked, pruned and completed, when they are written and when they are read.
    :param unserved: with ``unstructured``, the schemas of versions that are not served, by version: objects may be
        stored in them.
    """

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool = True
    singular: str = ""
    list_kind: str = ""
    short_names: Sequence[str] = ()
    categories: Sequence[str] = ()
    strategy: Strategy = field(default_factory=Strategy)
    schema: Mapping[str, Any] | None = None
    columns: Sequence[Column] | None = None
    selectable_fields: Sequence[str] = ()
    subresources: Sequence[Subresource] = ()
    storage_prefix: str = ""
    storage_version: GroupVersionKind | None = None
    from_storage: Callable[[dict[str, Any]], None] | None = None
    to_storage: Callable[[dict[str, Any]], None] | None = None
    also_stored: Mapping[str, Callable[[dict[str, Any]], None]] = field(default_factory=dict)
    hashed_version: GroupVersionKind | None = None
    ttl: Callable[[Any], int] | None = None
    storage: Callable[[Server, Resource], object] | None = None
    verbs: Sequence[str] | None = None
    deprecated: str = ""
    introduced: int = 0
    enabled: bool | None = None
    gate: FeatureGate | None = None
    unstructured: bool = False
    unserved: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def group_version(self) -> GroupVersion:
        return GroupVersion(self.group, self.version)

    @property
    def gvk(self) -> GroupVersionKind:
        return GroupVersionKind(self.group, self.version, self.kind)

    @property
    def gvr(self) -> GroupVersionResource:
        return GroupVersionResource(self.group, self.version, self.plural)

    @property
    def group_resource(self) -> GroupResource:
        return GroupResource(self.group, self.plural)

    @property
    def storage_gvk(self) -> GroupVersionKind:
        """What is written into the store."""
        return self.storage_version or self.gvk

    @property
    def singular_name(self) -> str:
        return self.singular or self.kind.lower()

    @property
    def list_kind_name(self) -> str:
        return self.list_kind or f"{self.kind}List"

    @property
    def key_prefix(self) -> str:
        """The storage key prefix of this resource below the configured root, without slashes around it.

        COMPAT: kube-apiserver keeps built-in groups' objects under the bare plural, custom ones under group/plural.
        """
        if self.storage_prefix:
            return self.storage_prefix
        builtin = "." not in self.group or self.group.endswith(".k8s.io")
        return self.plural if builtin and self.schema is None else f"{self.group}/{self.plural}"
