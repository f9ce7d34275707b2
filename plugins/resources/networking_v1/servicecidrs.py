"""ServiceCIDRs: the ranges that Services have their addresses from.

COMPAT: pkg/apis/networking/validation ValidateServiceCIDR, ValidateServiceCIDRUpdate
"""

from __future__ import annotations

from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.resource import Column
from apiserver.api.rest import Context
from apiserver.api.strategy import StatusStrategy, Strategy, keep_status
from apiserver_plugins.resources.common.addresses import cidr_errors, parse_cidr
from apiserver_plugins.resources.common.columns import AGE, value_at
from apiserver_plugins.resources.common.values import IMMUTABLE

_CIDRS = Path("spec.cidrs")


class ServiceCIDRStrategy(Strategy):
    """Rules of ServiceCIDRs."""

    def prepare_for_create(self, ctx: Context, obj: dict[str, Any]) -> None:
        obj["status"] = {}

    def prepare_for_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> None:
        keep_status(obj, old)

    def validate(self, ctx: Context, obj: dict[str, Any]) -> list[FieldError]:
        cidrs = value_at(obj, "spec", "cidrs") or []
        if not cidrs:
            return [FieldError.required(_CIDRS, "at least one CIDR required")]
        errors: list[FieldError] = []
        if len(cidrs) > 2:
            errors.append(FieldError.invalid(_CIDRS, cidrs, "may only hold up to 2 values"))
        networks = [network for network in map(parse_cidr, cidrs) if network]
        if len(cidrs) == 2 and len({network.version for network in networks}) == 1:
            text = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/96"
            errors.append(FieldError.invalid(_CIDRS, cidrs, text))
        for i, cidr in enumerate(cidrs):
            errors += cidr_errors(_CIDRS / i, cidr)
            network = parse_cidr(cidr)
            if network is not None and str(network) != cidr:
                text = f'must be in canonical form ("{network}")'
                errors.append(FieldError.invalid(_CIDRS / i, cidr, text))
        return errors

    def validate_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        cidrs, before = (value_at(o, "spec", "cidrs") or [] for o in (obj, old))
        if len(cidrs) == len(before):
            pairs = enumerate(zip(cidrs, before, strict=True))
            return [FieldError.invalid(_CIDRS / i, cidr, IMMUTABLE) for i, (cidr, was) in pairs if cidr != was]
        if len(before) == 1 and len(cidrs) == 2:
            # A second family may be added.
            errors = [] if cidrs[0] == before[0] else [FieldError.invalid(_CIDRS / 0, cidrs[0], IMMUTABLE)]
            return errors + self.validate(ctx, obj)
        return [FieldError.invalid(_CIDRS, cidrs, IMMUTABLE)]


def _cidrs(obj: dict[str, Any]) -> str:
    return ",".join(value_at(obj, "spec", "cidrs") or ())


STRATEGY = ServiceCIDRStrategy()
STATUS = StatusStrategy(STRATEGY)
COLUMNS = (Column("CIDRs", _cidrs, field="spec.cidrs"), AGE)
