"""CSIStorageCapacities.

COMPAT: pkg/apis/storage/validation ValidateCSIStorageCapacity
"""

from __future__ import annotations

from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.rest import Context
from apiserver.api.strategy import Strategy
from apiserver.api.validation import dns_subdomain
from apiserver_plugins.resources.common.selectors import selector_errors
from apiserver_plugins.resources.common.values import immutable, invalid
from apiserver_plugins.resources.storage_v1.names import nonnegative_quantity

_FIXED = ("nodeTopology", "storageClassName")


class CSIStorageCapacityStrategy(Strategy):
    """Rules of CSIStorageCapacities."""

    allow_unconditional_update = False

    def validate(self, ctx: Context, obj: dict[str, Any]) -> list[FieldError]:
        name = obj.get("storageClassName") or ""
        errors = selector_errors(Path("nodeTopology"), obj.get("nodeTopology"))
        errors += invalid("storageClassName", name, dns_subdomain(name))
        for field in ("capacity", "maximumVolumeSize"):
            errors += nonnegative_quantity(field, obj.get(field))
        return errors

    def validate_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        errors = self.validate(ctx, obj)
        for field in _FIXED:
            errors += immutable(field, obj.get(field), old.get(field))
        return errors


STRATEGY = CSIStorageCapacityStrategy()
