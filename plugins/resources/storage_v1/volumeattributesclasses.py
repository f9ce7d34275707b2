"""VolumeAttributesClasses.

COMPAT: pkg/apis/storage/validation ValidateVolumeAttributesClass
"""

from __future__ import annotations

from typing import Any

from apiserver.api.fields import FieldError
from apiserver.api.resource import Column
from apiserver.api.rest import Context
from apiserver.api.strategy import Strategy
from apiserver_plugins.resources.common.columns import AGE, cell
from apiserver_plugins.resources.common.values import immutable
from apiserver_plugins.resources.storage_v1.names import parameter_errors, provisioner_errors


class VolumeAttributesClassStrategy(Strategy):
    """Rules of VolumeAttributesClasses."""

    def validate(self, ctx: Context, obj: dict[str, Any]) -> list[FieldError]:
        errors = provisioner_errors("driverName", obj.get("driverName") or "")
        return errors + parameter_errors(obj.get("parameters"), needed=True)

    def validate_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        errors = immutable("driverName", obj.get("driverName"), old.get("driverName"))
        return errors + immutable("parameters", obj.get("parameters"), old.get("parameters"))


STRATEGY = VolumeAttributesClassStrategy()
COLUMNS = (Column("DriverName", cell("driverName"), field="driverName"), AGE)
