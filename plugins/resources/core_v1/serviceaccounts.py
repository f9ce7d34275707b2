"""ServiceAccounts: identities for programs.

COMPAT: pkg/registry/core/serviceaccount
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from apiserver import hookimpl
from apiserver.api.resource import Resource, Subresource
from apiserver.api.rest import Context
from apiserver.api.server import Server
from apiserver.api.strategy import Strategy
from apiserver_plugins.resources.common.columns import AGE
from apiserver_plugins.resources.core_v1.serviceaccount.token import TOKEN_REQUEST, TokenRequestStrategy, TokenStorage


class ServiceAccountStrategy(Strategy):
    """Rules of ServiceAccounts."""

    returns_deleted_object = True

    def prepare_for_create(self, ctx: Context, obj: dict[str, Any]) -> None:
        # COMPAT: cleanSecretReferences: of a reference to a Secret only the name is kept
        if obj.get("secrets"):
            obj["secrets"] = [{"name": ref["name"]} if ref.get("name") else {} for ref in obj["secrets"]]

    def prepare_for_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> None:
        self.prepare_for_create(ctx, obj)


@hookimpl
def apiserver_resources(server: Server) -> Iterable[Resource]:
    return [
        Resource(
            group="",
            version="v1",
            kind="ServiceAccount",
            plural="serviceaccounts",
            short_names=("sa",),
            strategy=ServiceAccountStrategy(),
            columns=(AGE,),
            subresources=(Subresource("token", TokenRequestStrategy(), TOKEN_REQUEST, TokenStorage),),
        )
    ]
