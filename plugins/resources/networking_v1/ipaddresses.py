"""IPAddresses: one object for each address that is in use, named after it.

Services take their cluster IPs by creating these.

COMPAT: pkg/apis/networking/validation ValidateIPAddress
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from apiserver import hookimpl
from apiserver.api.fields import FieldError, Path
from apiserver.api.resource import Column, Resource
from apiserver.api.rest import Context
from apiserver.api.server import Server
from apiserver.api.strategy import SpecStatusStrategy
from apiserver.api.validation import dns_subdomain, path_segment
from apiserver_plugins.resources.common.columns import value_at
from apiserver_plugins.resources.common.values import immutable, invalid, parse_ip

_PARENT = Path("spec.parentRef")


class IPAddressStrategy(SpecStatusStrategy):
    """Rules of IPAddresses."""

    def validate_name(self, name: str, prefix: bool) -> list[str]:
        parsed = parse_ip(name)
        if parsed is None:
            return ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"]
        return [] if str(parsed) == name else [f'must be in canonical form ("{parsed}")']

    def validate(self, ctx: Context, obj: dict[str, Any]) -> list[FieldError]:
        parent = value_at(obj, "spec", "parentRef")
        if not parent:
            return [FieldError.required(_PARENT)]
        errors: list[FieldError] = []
        if parent.get("group"):
            errors += invalid(_PARENT / "group", parent["group"], dns_subdomain(parent["group"]))
        for field in ("resource", "name"):
            value = parent.get(field)
            errors += (
                invalid(_PARENT / field, value, path_segment(value))
                if value
                else [FieldError.required(_PARENT / field)]
            )
        if parent.get("namespace"):
            errors += invalid(_PARENT / "namespace", parent["namespace"], path_segment(parent["namespace"]))
        return errors

    def validate_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        return immutable(_PARENT, value_at(obj, "spec", "parentRef"), value_at(old, "spec", "parentRef"))


def _parent(obj: dict[str, Any]) -> str:
    """``services/default/web``. COMPAT: printIPAddress."""
    parent = value_at(obj, "spec", "parentRef")
    if not parent:
        return "<none>"
    resource = ".".join(filter(None, (parent.get("resource"), parent.get("group"))))
    return "/".join(filter(None, (resource, parent.get("namespace"), parent.get("name"))))


@hookimpl
def apiserver_resources(server: Server) -> Iterable[Resource]:
    newest = Resource(
        group="networking.k8s.io",
        version="v1",
        kind="IPAddress",
        plural="ipaddresses",
        namespaced=False,
        short_names=("ip",),
        strategy=IPAddressStrategy(),
        columns=(Column("ParentRef", _parent, field="spec.parentRef"),),
        introduced=33,
    )
    return [
        newest,
        replace(newest, version="v1beta1", introduced=31),
        replace(newest, version="v1alpha1", introduced=27),
    ]
