"""Services: an address and ports for a set of pods.

The rules are in the package ``service`` beside this file; this is where they meet the registry.

COMPAT: pkg/registry/core/service
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from apiserver import hookimpl
from apiserver.api.fields import FieldError
from apiserver.api.resource import Resource, Subresource
from apiserver.api.rest import Context, WriteOptions
from apiserver.api.server import Server
from apiserver.api.strategy import Finish, StatusStrategy, Strategy, keep_status
from apiserver.api.validation import dns_label
from apiserver_plugins.resources.core_v1.service import needs
from apiserver_plugins.resources.core_v1.service.allocation import Allocators
from apiserver_plugins.resources.core_v1.service.columns import COLUMNS
from apiserver_plugins.resources.core_v1.service.defaults import set_defaults
from apiserver_plugins.resources.core_v1.service.proxy import PROXY
from apiserver_plugins.resources.core_v1.service.transitions import (
    drop_type_dependent,
    keep_allocated,
    normalize_cluster_ips,
)
from apiserver_plugins.resources.core_v1.service.validation import validate, validate_class_change, validate_status
from apiserver_plugins.resources.core_v1.service.validation_ips import change_errors


class ServiceStrategy(Strategy):
    """Rules of Services.

    :param allocators: where addresses and node ports come from.
    """

    allow_create_on_update = True
    returns_deleted_object = True

    def __init__(self, allocators: Allocators) -> None:
        self._allocators = allocators

    def default(self, obj: dict[str, Any]) -> None:
        set_defaults(obj)

    def begin_create(self, ctx: Context, obj: dict[str, Any], options: WriteOptions) -> Finish | None:
        normalize_cluster_ips(needs.spec_of(obj), None)
        return self._allocators.create(obj, options.dry_run)

    def begin_update(
        self, ctx: Context, obj: dict[str, Any], old: dict[str, Any], options: WriteOptions
    ) -> Finish | None:
        spec, before = needs.spec_of(obj), needs.spec_of(old)
        keep_allocated(spec, before)
        normalize_cluster_ips(spec, before)
        return self._allocators.update(obj, old, options.dry_run)

    def prepare_for_create(self, ctx: Context, obj: dict[str, Any]) -> None:
        obj["status"] = {"loadBalancer": {}}

    def prepare_for_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> None:
        keep_status(obj, old)
        drop_type_dependent(needs.spec_of(obj), needs.spec_of(old))

    def validate(self, ctx: Context, obj: dict[str, Any]) -> list[FieldError]:
        return validate(obj)

    def validate_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        spec, before = needs.spec_of(obj), needs.spec_of(old)
        return [*change_errors(spec, before), *validate_class_change(spec, before), *validate(obj)]

    def validate_name(self, name: str, prefix: bool) -> list[str]:
        return dns_label(name, prefix=prefix)

    def warnings_on_create(self, ctx: Context, obj: dict[str, Any]) -> list[str]:
        spec = needs.spec_of(obj)
        if spec.get("clusterIP") != needs.NO_IP:
            return []
        warnings = []
        if spec.get("externalIPs"):
            warnings.append('spec.externalIPs is ignored when spec.clusterIP is "None"')
        if spec.get("sessionAffinity") != "None":
            warnings.append("spec.sessionAffinity is ignored for headless services")
        return warnings

    def warnings_on_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[str]:
        return self.warnings_on_create(ctx, obj)

    def after_delete(self, ctx: Context, obj: dict[str, Any]) -> None:
        self._allocators.release(obj)

    def selectable_fields(self, obj: dict[str, Any]) -> dict[str, str]:
        spec = needs.spec_of(obj)
        return {"spec.clusterIP": spec.get("clusterIP") or "", "spec.type": spec.get("type") or ""}


class ServiceStatusStrategy(StatusStrategy):
    """Rules of ``/status``."""

    def validate_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        return validate_status(obj)


@hookimpl
def apiserver_resources(server: Server) -> Iterable[Resource]:
    strategy = ServiceStrategy(Allocators(server))
    return [
        Resource(
            group="",
            version="v1",
            kind="Service",
            plural="services",
            short_names=("svc",),
            categories=("all",),
            strategy=strategy,
            # COMPAT: kube-apiserver's key, which has a word more than the plural
            storage_prefix="services/specs",
            selectable_fields=("spec.clusterIP", "spec.type"),
            subresources=(PROXY, Subresource("status", ServiceStatusStrategy(strategy))),
            columns=COLUMNS,
        )
    ]
