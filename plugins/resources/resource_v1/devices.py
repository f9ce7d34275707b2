"""DeviceClasses and ResourceSlices.

COMPAT: pkg/apis/resource/validation ValidateDeviceClass, ValidateResourceSlice
"""

from __future__ import annotations

from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.resource import Column
from apiserver.api.rest import Context
from apiserver.api.strategy import Strategy, bump_generation
from apiserver.api.validation import dns_subdomain
from apiserver_plugins.resources.common.columns import AGE, cell, value_at
from apiserver_plugins.resources.common.values import immutable, invalid
from apiserver_plugins.resources.resource_v1.selectors import selectors_errors

Object = dict[str, Any]

_SPEC = Path("spec")


class GenerationStrategy(Strategy):
    """What both have: a spec whose changes are counted."""

    def prepare_for_create(self, ctx: Context, obj: Object) -> None:
        obj["metadata"]["generation"] = 1

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        bump_generation(obj, old)


class DeviceClassStrategy(GenerationStrategy):
    """Rules of DeviceClasses."""

    def validate(self, ctx: Context, obj: Object) -> list[FieldError]:
        return selectors_errors(value_at(obj, "spec", "selectors"), _SPEC / "selectors")


class ResourceSliceStrategy(GenerationStrategy):
    """Rules of ResourceSlices."""

    def validate(self, ctx: Context, obj: Object) -> list[FieldError]:
        spec = obj.get("spec") or {}
        driver, pool = spec.get("driver") or "", value_at(spec, "pool", "name") or ""
        errors: list[FieldError] = []
        errors += (
            invalid(_SPEC / "driver", driver, dns_subdomain(driver))
            if driver
            else [FieldError.required(_SPEC / "driver")]
        )
        if not pool:
            errors.append(FieldError.required(_SPEC / "pool" / "name"))
        count = value_at(spec, "pool", "resourceSliceCount") or 0
        if count <= 0:
            path = _SPEC / "pool" / "resourceSliceCount"
            errors.append(FieldError.invalid(path, count, "must be greater than zero"))
        return errors

    def validate_update(self, ctx: Context, obj: Object, old: Object) -> list[FieldError]:
        errors = self.validate(ctx, obj)
        for field in ("driver", "nodeName"):
            errors += immutable(_SPEC / field, value_at(obj, "spec", field), value_at(old, "spec", field))
        pool, before = (value_at(o, "spec", "pool", "name") for o in (obj, old))
        return errors + immutable(_SPEC / "pool" / "name", pool, before)

    def selectable_fields(self, obj: Object) -> dict[str, str]:
        return {f"spec.{field}": value_at(obj, "spec", field) or "" for field in ("driver", "nodeName")}


CLASS = DeviceClassStrategy()
CLASS_COLUMNS = (AGE,)
SLICE = ResourceSliceStrategy()
SLICE_COLUMNS = (
    Column("Node", cell("spec", "nodeName"), field="spec.nodeName"),
    Column("Driver", cell("spec", "driver"), field="spec.driver"),
    Column("Pool", cell("spec", "pool", "name"), field="spec.pool.name"),
    AGE,
)
