"""CSINodes.

COMPAT: pkg/apis/storage/validation ValidateCSINode, ValidateCSINodeUpdate
"""

from __future__ import annotations

from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.resource import Column
from apiserver.api.rest import Context
from apiserver.api.strategy import Strategy
from apiserver.api.validation import qualified_name
from apiserver_plugins.resources.common.columns import AGE, value_at
from apiserver_plugins.resources.common.values import IMMUTABLE, invalid, nonnegative
from apiserver_plugins.resources.storage_v1.names import driver_name_errors

_DRIVERS = Path("spec.drivers")
_LONGEST_ID = 192


def _drivers(obj: dict[str, Any]) -> list[dict[str, Any]]:
    return value_at(obj, "spec", "drivers") or []


def _driver_errors(driver: dict[str, Any], path: Path) -> list[FieldError]:
    node = driver.get("nodeID") or ""
    errors = driver_name_errors(path / "name", driver.get("name") or "")
    if not node:
        errors.append(FieldError.required(path / "nodeID"))
    elif len(node) > _LONGEST_ID:
        errors.append(FieldError.invalid(path / "nodeID", node, f"must be {_LONGEST_ID} characters or less"))
    errors += nonnegative(path / "allocatable" / "count", value_at(driver, "allocatable", "count"))
    keys = driver.get("topologyKeys") or []
    for i, key in enumerate(keys):
        if not key:
            errors.append(FieldError.required(path))
        # COMPAT: the path is that of the driver
        if key in keys[:i]:
            errors.append(FieldError.duplicate(path, key))
        errors += invalid(path, key, qualified_name(key))
    return errors


class CSINodeStrategy(Strategy):
    """Rules of CSINodes."""

    def validate(self, ctx: Context, obj: dict[str, Any]) -> list[FieldError]:
        errors: list[FieldError] = []
        names: set[str] = set()
        for i, driver in enumerate(_drivers(obj)):
            errors += _driver_errors(driver, _DRIVERS / i)
            name = driver.get("name") or ""
            if name in names:
                errors.append(FieldError.duplicate(_DRIVERS / i / "name", name))
            names.add(name)
        return errors

    def validate_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        errors = self.validate(ctx, obj)
        before = {driver.get("name"): driver for driver in _drivers(old)}
        for driver in _drivers(obj):
            was = before.get(driver.get("name"), driver)
            # COMPAT: what a driver can take on may change
            if {**driver, "allocatable": None} != {**was, "allocatable": None}:
                errors.append(FieldError.invalid("CSINode.spec.drivers", driver, IMMUTABLE))
        return errors


def _count(obj: dict[str, Any]) -> int:
    return len(_drivers(obj))


STRATEGY = CSINodeStrategy()
COLUMNS = (
    Column(
        "Drivers",
        _count,
        "integer",
        description="Drivers indicates the number of CSI drivers registered on the node",
    ),
    AGE,
)
