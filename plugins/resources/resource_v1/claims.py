"""ResourceClaims and templates of them.

COMPAT: pkg/apis/resource/v1 SetDefaults_ExactDeviceRequest; pkg/apis/resource/validation ValidateResourceClaim
"""

from __future__ import annotations

from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.resource import Column
from apiserver.api.rest import Context
from apiserver.api.strategy import StatusStrategy, Strategy, keep_status
from apiserver.api.validation import dns_label, dns_subdomain
from apiserver_plugins.resources.common.columns import AGE, value_at
from apiserver_plugins.resources.common.values import immutable, invalid
from apiserver_plugins.resources.resource_v1.selectors import selectors_errors

Object = dict[str, Any]

EXACT_COUNT, ALL = "ExactCount", "All"
_SPEC = Path("spec")
_MOST_REQUESTS = 32


def _set_request_defaults(request: Object) -> None:
    request["allocationMode"] = request.get("allocationMode") or EXACT_COUNT
    if request["allocationMode"] == EXACT_COUNT and not request.get("count"):
        request["count"] = 1


def set_claim_defaults(spec: Object) -> None:
    """Of the spec of a claim, in place."""
    for request in value_at(spec, "devices", "requests") or ():
        if request.get("exactly") is not None:
            _set_request_defaults(request["exactly"])
        for each in request.get("firstAvailable") or ():
            _set_request_defaults(each)


def _exact_errors(request: Object, path: Path) -> list[FieldError]:
    name, mode, count = (request.get(field) for field in ("deviceClassName", "allocationMode", "count"))
    errors: list[FieldError] = []
    where = path / "deviceClassName"
    errors += invalid(where, name, dns_subdomain(name)) if name else [FieldError.required(where)]
    if mode == ALL and count:
        text = f"must not be specified when allocationMode is '{mode}'"
        errors.append(FieldError.invalid(path / "count", count, text))
    elif mode == EXACT_COUNT and (count or 0) <= 0:
        errors.append(FieldError.invalid(path / "count", count or 0, "must be greater than zero"))
    elif mode not in (ALL, EXACT_COUNT):
        errors.append(FieldError.not_supported(path / "allocationMode", mode, (ALL, EXACT_COUNT)))
    return errors + selectors_errors(request.get("selectors"), path / "selectors")


def _request_errors(request: Object, path: Path) -> list[FieldError]:
    name, exactly, several = (request.get(field) for field in ("name", "exactly", "firstAvailable"))
    errors: list[FieldError] = []
    errors += invalid(path / "name", name, dns_label(name)) if name else [FieldError.required(path / "name")]
    text = "exactly one of `exactly` or `firstAvailable` is required"
    if exactly is not None and several:
        errors.append(FieldError.invalid(path, None, text))
    elif exactly is None and not several:
        errors.append(FieldError.required(path, text))
    elif exactly is not None:
        errors += _exact_errors(exactly, path / "exactly")
    else:
        for i, each in enumerate(several or ()):
            errors += _exact_errors(each, path / "firstAvailable" / i)
    return errors


def claim_spec_errors(spec: Object, path: Path) -> list[FieldError]:
    """Problems of the spec of a claim."""
    requests, where = value_at(spec, "devices", "requests") or [], path / "devices" / "requests"
    errors: list[FieldError] = []
    if len(requests) > _MOST_REQUESTS:
        errors.append(FieldError.too_many(where, len(requests), _MOST_REQUESTS))
    names = [request.get("name") for request in requests]
    for i, request in enumerate(requests):
        errors += _request_errors(request, where / i)
        if names[i] and names[i] in names[:i]:
            errors.append(FieldError.duplicate(where / i, names[i]))
    return errors


class ResourceClaimStrategy(Strategy):
    """Rules of ResourceClaims: the spec never changes."""

    def default(self, obj: Object) -> None:
        set_claim_defaults(obj.setdefault("spec", {}))

    def prepare_for_create(self, ctx: Context, obj: Object) -> None:
        obj["status"] = {}

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        keep_status(obj, old)

    def validate(self, ctx: Context, obj: Object) -> list[FieldError]:
        return claim_spec_errors(obj["spec"], _SPEC)

    def validate_update(self, ctx: Context, obj: Object, old: Object) -> list[FieldError]:
        return immutable(_SPEC, obj.get("spec"), old.get("spec"))


class ResourceClaimTemplateStrategy(Strategy):
    """Rules of ResourceClaimTemplates: the spec never changes."""

    def default(self, obj: Object) -> None:
        set_claim_defaults(obj.setdefault("spec", {}).setdefault("spec", {}))

    def validate(self, ctx: Context, obj: Object) -> list[FieldError]:
        return claim_spec_errors(obj["spec"]["spec"], _SPEC / "spec")

    def validate_update(self, ctx: Context, obj: Object, old: Object) -> list[FieldError]:
        return immutable(_SPEC, obj.get("spec"), old.get("spec"))


def _state(obj: Object) -> str:
    """COMPAT: resourceClaimState."""
    deleting, status = bool(obj["metadata"].get("deletionTimestamp")), obj.get("status") or {}
    words = ["deleted"] if deleting else []
    if status.get("allocation") is None:
        words += [] if deleting else ["pending"]
    else:
        words.append("allocated")
        if status.get("reservedFor"):
            words.append("reserved")
    return ",".join(words)


CLAIM = ResourceClaimStrategy()
CLAIM_STATUS = StatusStrategy(CLAIM)
CLAIM_COLUMNS = (
    Column("State", _state, description="A summary of the current state (allocated, pending, reserved, etc.)."),
    AGE,
)
TEMPLATE = ResourceClaimTemplateStrategy()
TEMPLATE_COLUMNS = (AGE,)
