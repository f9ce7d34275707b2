"""StorageVersions: in which version each API server stores a resource.

COMPAT: pkg/apis/apiserverinternal/validation
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.resource import Column
from apiserver.api.rest import Context
from apiserver.api.strategy import StatusStrategy, Strategy, keep_status
from apiserver.api.validation import dns_1035_label, dns_subdomain
from apiserver_plugins.resources.common.columns import AGE, NONE, UNSET, value_at
from apiserver_plugins.resources.common.values import invalid, is_qualified

Object = dict[str, Any]

_STATUS = Path("status")
_SHOWN = 3


class StorageVersionStrategy(Strategy):
    """Rules of StorageVersions."""

    def prepare_for_create(self, ctx: Context, obj: Object) -> None:
        obj["status"] = {}

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        keep_status(obj, old)

    def validate_name(self, name: str, prefix: bool) -> list[str]:
        group, dot, resource = name.rpartition(".")
        if not dot:
            return ["name must be in the form of <group>.<resource>"]
        return [
            *(f"the group segment {text}" for text in dns_subdomain(group)),
            *(f"the resource segment {text}" for text in dns_1035_label(resource)),
        ]


class StorageVersionStatusStrategy(StatusStrategy):
    """Rules of what servers report."""

    def validate_update(self, ctx: Context, obj: Object, old: Object) -> list[FieldError]:
        status = obj.get("status") or {}
        reports = status.get("storageVersions") or []
        errors: list[FieldError] = []
        for i, report in enumerate(reports):
            errors += _report_errors(report, _STATUS / "storageVersions" / i)
        errors += _common_errors(status.get("commonEncodingVersion"), reports)
        return [*errors, *_condition_errors(status.get("conditions") or [])]


def _report_errors(report: Object, path: Path) -> list[FieldError]:
    server, encoding = report.get("apiServerID") or "", report.get("encodingVersion") or ""
    decodable, served = report.get("decodableVersions") or [], report.get("servedVersions") or []
    errors = invalid(path / "apiServerID", server, dns_subdomain(server))
    if encoding not in decodable:
        text = f"decodableVersions must include encodingVersion {encoding}"
        errors.append(FieldError.invalid(path / "decodableVersions", decodable, text))
    for i, version in enumerate(served):
        if version not in decodable:
            known = " ".join(decodable)
            text = f"individual served version : {version} must be included in decodableVersions : [{known}]"
            errors.append(FieldError.invalid(path / "servedVersions" / i, version, text))
    return errors


def common_version(reports: Sequence[Object]) -> str | None:
    """What all servers encode in, None if they differ or there are none."""
    found = {report.get("encodingVersion") for report in reports}
    return found.pop() if len(found) == 1 else None


def _common_errors(given: str | None, reports: Sequence[Object]) -> list[FieldError]:
    actual, path = common_version(reports), _STATUS / "commonEncodingVersion"
    if given == actual:
        return []
    if actual is None:
        text = (
            "should be nil if servers do not agree on the same encoding version, "
            "or if there is no server reporting the supported versions yet"
        )
    elif given is None:
        text = f"the common encoding version is {actual}"
    else:
        text = f"the actual common encoding version is {actual}"
    return [FieldError.invalid(path, given, text)]


def _condition_errors(conditions: Sequence[Object]) -> list[FieldError]:
    errors: list[FieldError] = []
    types = [condition.get("type") for condition in conditions]
    for i, condition in enumerate(conditions):
        path = _STATUS / "conditions" / i
        if types.index(types[i]) < i:
            first = types.index(types[i])
            text = f"the type of the condition is not unique, it also appears in conditions[{first}]"
            errors.append(FieldError.invalid(path / "type", types[i], text))
        for field in ("type", "reason"):
            errors += is_qualified(path / field, condition.get(field) or "")
        if not condition.get("message"):
            errors.append(FieldError.required(path / "message", "condition message cannot be empty"))
    return errors


def _reported(obj: Object) -> str:
    """COMPAT: formatStorageVersions."""
    reports = value_at(obj, "status", "storageVersions") or []
    shown = ",".join(f"{r.get('apiServerID')}={r.get('encodingVersion')}" for r in reports[:_SHOWN])
    return f"{shown} + {len(reports) - _SHOWN} more..." if len(reports) > _SHOWN else shown or NONE


STRATEGY = StorageVersionStrategy()
STATUS = StorageVersionStatusStrategy(STRATEGY)
COLUMNS = (
    Column(
        "CommonEncodingVersion",
        lambda obj: value_at(obj, "status", "commonEncodingVersion") or UNSET,
        field="status.commonEncodingVersion",
    ),
    Column("StorageVersions", _reported, field="status.storageVersions"),
    AGE,
)
