"""ResourcePoolStatusRequests: questions about the devices of a driver that a controller answers in the status.

COMPAT: pkg/apis/resource/validation ValidateResourcePoolStatusRequest
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from apiserver.api.columns import value_at
from apiserver.api.durations import since
from apiserver.api.fields import FieldError, Path
from apiserver.api.resource import Column
from apiserver.api.rest import Context
from apiserver.api.strategy import Strategy, keep_status
from apiserver.api.validation import dns_subdomain
from apiserver_plugins.resources.common.columns import NONE, cell
from apiserver_plugins.resources.common.values import immutable, invalid

Object = dict[str, Any]

_SPEC = Path("spec")
DEFAULT_LIMIT, LOWEST, HIGHEST = 100, 1, 1000


class ResourcePoolStatusRequestStrategy(Strategy):
    """Rules of ResourcePoolStatusRequests: the spec never changes."""

    def default(self, obj: Object) -> None:
        obj.setdefault("spec", {}).setdefault("limit", DEFAULT_LIMIT)

    def prepare_for_create(self, ctx: Context, obj: Object) -> None:
        obj.pop("status", None)

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        keep_status(obj, old)

    def validate(self, ctx: Context, obj: Object) -> list[FieldError]:
        spec = obj["spec"]
        driver, pool, limit = spec.get("driver"), spec.get("poolName"), spec["limit"]
        path = _SPEC / "driver"
        errors = invalid(path, driver, dns_subdomain(driver)) if driver else [FieldError.required(path)]
        if pool is not None:
            errors += invalid(_SPEC / "poolName", pool, [t for part in pool.split("/") for t in dns_subdomain(part)])
        if limit < LOWEST:
            errors.append(FieldError.invalid(_SPEC / "limit", limit, f"must be greater than or equal to {LOWEST}"))
        elif limit > HIGHEST:
            errors.append(FieldError.invalid(_SPEC / "limit", limit, f"must be less than or equal to {HIGHEST}"))
        return errors

    def validate_update(self, ctx: Context, obj: Object, old: Object) -> list[FieldError]:
        return immutable(_SPEC, obj.get("spec"), old.get("spec"))


def _sum(field: str) -> Callable[[Object], str]:
    def total(obj: Object) -> str:
        pools = value_at(obj, "status", "pools")
        return NONE if pools is None else str(sum(pool.get(field) or 0 for pool in pools))

    return total


def _errors(obj: Object) -> str:
    pools = value_at(obj, "status", "pools")
    return NONE if pools is None else str(sum(bool(pool.get("validationError")) for pool in pools))


def _ended(obj: Object) -> Object:
    conditions = value_at(obj, "status", "conditions") or ()
    ended = (c for c in conditions if c.get("type") in ("Complete", "Failed") and c.get("status") == "True")
    return next(ended, {})


def _completed(obj: Object) -> str:
    time = _ended(obj).get("lastTransitionTime")
    return since(time) if time else NONE


REQUEST = ResourcePoolStatusRequestStrategy()
REQUEST_COLUMNS = (
    Column("Driver", cell("spec", "driver"), field="spec.driver"),
    Column("Total", _sum("totalDevices"), description="Devices of all pools together."),
    Column("Available", _sum("availableDevices"), description="Devices that may be allocated."),
    Column("Allocated", _sum("allocatedDevices"), description="Devices that claims have."),
    Column("Unavailable", _sum("unavailableDevices"), description="Devices that may not be allocated."),
    Column("Errors", _errors, description="Pools whose data could not be validated."),
    Column("Pools", lambda obj: value_at(obj, "status", "poolCount") or 0, type="integer", field="status.poolCount"),
    Column("Status", lambda obj: _ended(obj).get("type", "Pending"), description="Whether the answer is there."),
    Column("Completed", _completed, description="Time since the answer is there."),
)
