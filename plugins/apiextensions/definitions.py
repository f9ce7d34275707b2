"""A CustomResourceDefinition as declarations: one resource for each version that is served.

A pure function, called by :mod:`.serving`. Nothing is compiled before the first object of a version comes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from apiserver.api.errors import InternalError
from apiserver.api.names import GroupVersionKind, version_order
from apiserver.api.resource import Resource, Subresource
from apiserver_plugins.apiextensions.columns import columns_of
from apiserver_plugins.apiextensions.scale import paths_of, steps
from apiserver_plugins.apiextensions.strategy import CustomResourceStatusStrategy, CustomResourceStrategy

Object = Mapping[str, Any]
AUTOSCALING = GroupVersionKind("autoscaling", "v1", "Scale")


def resources_of(definition: Object) -> list[Resource]:
    """The resources of a definition.

    :param definition: of ``apiextensions.k8s.io/v1``; the names in its spec are those that were accepted.
    """
    versions = definition["spec"]["versions"]
    stored = next(version["name"] for version in versions if version.get("storage"))
    return [_resource(definition, version, stored) for version in versions if version.get("served")]


def _resource(definition: Object, version: Object, stored: str) -> Resource:
    spec, names = definition["spec"], definition["spec"]["names"]
    group, kind, plural = spec["group"], names["kind"], names["plural"]
    schema = _schema(spec, version)
    subresources = version.get("subresources") or {}
    selectable = [field["jsonPath"] for field in version.get("selectableFields") or ()]
    strategy = CustomResourceStrategy(
        kind,
        schema,
        has_status="status" in subresources,
        selectable=selectable,
        scale=subresources.get("scale"),
    )
    return Resource(
        group,
        version["name"],
        kind,
        plural,
        namespaced=spec["scope"] == "Namespaced",
        singular=names.get("singular") or "",
        list_kind=names.get("listKind") or "",
        short_names=tuple(names.get("shortNames") or ()),
        categories=tuple(names.get("categories") or ()),
        strategy=strategy,
        schema=schema,
        columns=columns_of(version.get("additionalPrinterColumns")),
        selectable_fields=tuple(path[1:] for path in selectable),
        subresources=tuple(_subresources(spec, subresources, strategy)),
        storage_prefix=f"{group}/{plural}",
        storage_version=GroupVersionKind(group, stored, kind),
        **_conversion(spec, GroupVersionKind(group, version["name"], kind), stored),
        deprecated=_deprecation(spec, version),
        enabled=True,
        unstructured=True,
        unserved={one["name"]: _schema(spec, one) for one in spec["versions"] if not one.get("served")},
    )


def _schema(spec: Object, version: Object) -> Object:
    schema: Object = (version.get("schema") or {}).get("openAPIV3Schema") or _ANYTHING
    return {**schema, "x-kubernetes-preserve-unknown-fields": True} if spec.get("preserveUnknownFields") else schema


def _conversion(spec: Object, kind: GroupVersionKind, stored: str) -> dict[str, Any]:
    """How objects come from the stored version into another and back: None of a definition's strategies calls out."""
    if (spec.get("conversion") or {}).get("strategy") != "Webhook" or kind.version == stored:
        return {}

    def refuse(_obj: dict[str, Any]) -> None:
        raise InternalError(f"conversion webhook for {kind} failed: this server does not call conversion webhooks")

    return {"from_storage": refuse, "to_storage": refuse}


_ANYTHING: Object = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def _deprecation(spec: Object, version: Object) -> str:
    """COMPAT: defaultDeprecationWarning"""
    if not version.get("deprecated"):
        return ""
    if version.get("deprecationWarning"):
        return str(version["deprecationWarning"])
    group, kind, name = spec["group"], spec["names"]["kind"], version["name"]
    better = [one["name"] for one in spec["versions"] if one.get("served") and not one.get("deprecated")]
    newest = min(better, key=version_order, default=name)
    use = f"; use {group}/{newest} {kind}" if version_order(newest) < version_order(name) else ""
    return f"{group}/{name} {kind} is deprecated{use}"


def _subresources(spec: Object, declared: Object, strategy: CustomResourceStrategy) -> Sequence[Subresource]:
    found = []
    if "status" in declared:
        found.append(Subresource("status", CustomResourceStatusStrategy(strategy)))
    scale = declared.get("scale")
    if scale is not None:
        found.append(Subresource("scale", kind=AUTOSCALING, scale=paths_of(scale, _replicas(spec))))
    return found


def _replicas(definition_spec: Object) -> dict[str, tuple[str, ...] | None]:
    """Where the replicas are, by apiVersion; None in versions without the subresource."""
    found: dict[str, tuple[str, ...] | None] = {}
    for version in definition_spec["versions"]:
        scale = (version.get("subresources") or {}).get("scale")
        found[f"{definition_spec['group']}/{version['name']}"] = steps(scale["specReplicasPath"]) if scale else None
    return found
