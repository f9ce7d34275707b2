"""CSIDrivers.

COMPAT: pkg/apis/storage/v1 SetDefaults_CSIDriver; pkg/apis/storage/validation ValidateCSIDriver
"""

from __future__ import annotations

from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.resource import Column
from apiserver.api.rest import Context
from apiserver.api.strategy import Strategy
from apiserver_plugins.resources.common.columns import AGE, NONE, UNSET, cell, value_at
from apiserver_plugins.resources.common.values import immutable
from apiserver_plugins.resources.storage_v1.names import driver_name_errors

_SPEC = Path("spec")
_DEFAULTS: tuple[tuple[str, Any], ...] = (
    ("attachRequired", True),
    ("podInfoOnMount", False),
    ("storageCapacity", False),
    ("fsGroupPolicy", "ReadWriteOnceWithFSType"),
    ("requiresRepublish", False),
    ("seLinuxMount", False),
)
_MODES = ("Persistent", "Ephemeral")
_GROUP_POLICIES = frozenset(("ReadWriteOnceWithFSType", "File", "None"))
_SHORTEST, _LONGEST = 600, 1 << 32
_SHORTEST_PERIOD = 10


def _token_errors(requests: list[dict[str, Any]], path: Path) -> list[FieldError]:
    errors: list[FieldError] = []
    audiences = [request.get("audience") or "" for request in requests]
    for i, request in enumerate(requests):
        if audiences[i] in audiences[:i]:
            errors.append(FieldError.duplicate(path / i / "audience", audiences[i]))
        seconds, where = request.get("expirationSeconds"), path / i / "expirationSeconds"
        if seconds is not None and seconds < _SHORTEST:
            text = "may not specify a duration less than 10 minutes"
            errors.append(FieldError.invalid(where, seconds, text))
        if seconds is not None and seconds > _LONGEST:
            text = "may not specify a duration larger than 2^32 seconds"
            errors.append(FieldError.invalid(where, seconds, text))
    return errors


class CSIDriverStrategy(Strategy):
    """Rules of CSIDrivers."""

    def default(self, obj: dict[str, Any]) -> None:
        spec = obj.setdefault("spec", {})
        for field, value in _DEFAULTS:
            if spec.get(field) is None:
                spec[field] = value
        if not spec.get("volumeLifecycleModes"):
            spec["volumeLifecycleModes"] = ["Persistent"]

    def validate(self, ctx: Context, obj: dict[str, Any]) -> list[FieldError]:
        return driver_name_errors("metadata.name", obj["metadata"].get("name") or "") + self._spec_errors(obj["spec"])

    def _spec_errors(self, spec: dict[str, Any]) -> list[FieldError]:
        policy = spec.get("fsGroupPolicy")
        errors: list[FieldError] = []
        if policy not in _GROUP_POLICIES:
            errors.append(FieldError.not_supported(_SPEC / "fsGroupPolicy", policy, _GROUP_POLICIES))
        errors += _token_errors(spec.get("tokenRequests") or [], _SPEC / "tokenRequests")
        for mode in spec.get("volumeLifecycleModes") or ():
            if mode not in _MODES:
                errors.append(FieldError.not_supported(_SPEC / "volumeLifecycleModes", mode, _MODES))
        period, path = spec.get("nodeAllocatableUpdatePeriodSeconds"), _SPEC / "nodeAllocatableUpdatePeriodSeconds"
        if period is not None and period < _SHORTEST_PERIOD:
            text = f"must be greater than or equal to {_SHORTEST_PERIOD} seconds"
            errors.append(FieldError.invalid(path, period, text))
        return errors

    def validate_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        spec, before = obj["spec"], old["spec"]
        errors = self._spec_errors(spec)
        # COMPAT: attachedRequired, in this path alone
        errors += immutable(_SPEC / "attachedRequired", spec.get("attachRequired"), before.get("attachRequired"))
        modes, were = spec.get("volumeLifecycleModes"), before.get("volumeLifecycleModes")
        return errors + immutable(_SPEC / "volumeLifecycleModes", modes, were)


def _modes(obj: dict[str, Any]) -> str:
    return ",".join(value_at(obj, "spec", "volumeLifecycleModes") or ()) or NONE


def _tokens(obj: dict[str, Any]) -> str:
    requests = value_at(obj, "spec", "tokenRequests")
    return UNSET if requests is None else ",".join(request.get("audience", "") for request in requests)


def _flag(name: str, field: str, default: bool) -> Column:
    return Column(name, cell("spec", field, default=default), "boolean", field=f"spec.{field}")


STRATEGY = CSIDriverStrategy()
COLUMNS = (
    _flag("AttachRequired", "attachRequired", True),
    _flag("PodInfoOnMount", "podInfoOnMount", False),
    _flag("StorageCapacity", "storageCapacity", False),
    Column("TokenRequests", _tokens, field="spec.tokenRequests"),
    _flag("RequiresRepublish", "requiresRepublish", False),
    Column("Modes", _modes, field="spec.volumeLifecycleModes"),
    AGE,
)
