"""Leases: who leads, and for how long.

COMPAT: pkg/apis/coordination/validation ValidateLease
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from apiserver import hookimpl
from apiserver.api.fields import FieldError, Path
from apiserver.api.resource import Column, Resource
from apiserver.api.rest import Context
from apiserver.api.server import Server
from apiserver.api.strategy import Strategy
from apiserver_plugins.resources.common.columns import AGE, cell
from apiserver_plugins.resources.common.values import is_qualified, nonnegative, positive

STRATEGIES = ("OldestEmulationVersion",)


class LeaseStrategy(Strategy):
    """Rules of Leases."""

    allow_create_on_update = True
    allow_unconditional_update = False

    def validate(self, ctx: Context, obj: dict[str, Any]) -> list[FieldError]:
        spec, path = obj.get("spec") or {}, Path("spec")
        errors = positive(path / "leaseDurationSeconds", spec.get("leaseDurationSeconds"))
        errors += nonnegative(path / "leaseTransitions", spec.get("leaseTransitions"))
        strategy = spec.get("strategy")
        if strategy is not None:
            # COMPAT: the path names strategy twice
            where = path / "strategy" / "strategy"
            if "/" in strategy:
                errors += is_qualified(where, strategy)
            elif strategy not in STRATEGIES:
                errors.append(FieldError.not_supported(where, strategy, STRATEGIES))
        if spec.get("preferredHolder") and not strategy:
            errors.append(
                FieldError.forbidden(path / "preferredHolder", "may only be specified if `strategy` is defined")
            )
        return errors


@hookimpl
def apiserver_resources(server: Server) -> Iterable[Resource]:
    return [
        Resource(
            group="coordination.k8s.io",
            version="v1",
            kind="Lease",
            plural="leases",
            strategy=LeaseStrategy(),
            columns=(Column("Holder", cell("spec", "holderIdentity"), field="spec.holderIdentity"), AGE),
        )
    ]
