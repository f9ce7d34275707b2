"""APIServices: who serves a version of a group, this server or another.

COMPAT: kube-aggregator pkg/apis/apiregistration/validation, v1 defaults; pkg/registry/apiservice strategy
"""

from __future__ import annotations

import base64
from typing import Any

from apiserver.api.durations import now
from apiserver.api.fields import FieldError, Path
from apiserver.api.resource import Column
from apiserver.api.rest import Context
from apiserver.api.strategy import StatusStrategy, Strategy, keep_status
from apiserver.api.validation import dns_1035_label, dns_subdomain, path_segment
from apiserver_plugins.resources.common.columns import AGE

Object = dict[str, Any]

HIGHEST_GROUP, HIGHEST_VERSION = 20000, 1000
AVAILABLE = "Available"
DEFAULT_PORT = 443
_SPEC = Path("spec")


class APIServiceStrategy(Strategy):
    """Rules of APIServices."""

    def default(self, obj: Object) -> None:
        service = obj.setdefault("spec", {}).get("service")
        if service is not None and service.get("port") is None:
            service["port"] = DEFAULT_PORT

    def prepare_for_create(self, ctx: Context, obj: Object) -> None:
        obj["status"] = {}
        if obj["spec"].get("service") is None:
            obj["status"]["conditions"] = [
                {
                    "type": AVAILABLE,
                    "status": "True",
                    "lastTransitionTime": now(),
                    "reason": "Local",
                    "message": "Local APIServices are always available",
                }
            ]

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        keep_status(obj, old)

    def validate_name(self, name: str, prefix: bool) -> list[str]:
        return path_segment(name)

    def validate(self, ctx: Context, obj: Object) -> list[FieldError]:
        spec, name = obj["spec"], obj["metadata"].get("name") or ""
        group, version = spec.get("group") or "", spec.get("version") or ""
        errors: list[FieldError] = []
        if name != f"{version}.{group}":
            text = f'must be `spec.version+"."+spec.group`: "{version}.{group}"'
            errors.append(FieldError.invalid("metadata.name", name, text))
        errors += _joined(_SPEC / "group", group, dns_subdomain(group)) if group else []
        errors += _joined(_SPEC / "version", version, dns_1035_label(version))
        for field, highest in (("groupPriorityMinimum", HIGHEST_GROUP), ("versionPriority", HIGHEST_VERSION)):
            value = spec.get(field) or 0
            if not 0 < value <= highest:
                text = f"must be positive and less than {highest}"
                errors.append(FieldError.invalid(_SPEC / field, value, text))
        return [*errors, *(_local_errors(spec) if spec.get("service") is None else _remote_errors(spec))]


def _joined(path: str, value: str, texts: list[str]) -> list[FieldError]:
    return [FieldError.invalid(path, value, ",".join(texts))] if texts else []


def _local_errors(spec: Object) -> list[FieldError]:
    """Of a version that this server serves."""
    errors = []
    bundle = spec.get("caBundle")
    if bundle:
        shown = f"{len(base64.b64decode(bundle))} bytes"
        errors.append(FieldError.invalid(_SPEC / "caBundle", shown, "local APIServices may not have a caBundle"))
    if spec.get("insecureSkipTLSVerify"):
        text = "local APIServices may not have insecureSkipTLSVerify"
        errors.append(FieldError.invalid(_SPEC / "insecureSkipTLSVerify", True, text))
    return errors


def _remote_errors(spec: Object) -> list[FieldError]:
    """Of a version that a service serves."""
    service, path = spec["service"], _SPEC / "service"
    errors = [FieldError.required(path / field) for field in ("namespace", "name") if not service.get(field)]
    if not 1 <= service["port"] <= 65535:
        text = "port is not valid: must be between 1 and 65535, inclusive"
        errors.append(FieldError.invalid(path / "port", service["port"], text))
    if spec.get("insecureSkipTLSVerify") and spec.get("caBundle"):
        text = "may not be true if caBundle is present"
        errors.append(FieldError.invalid(_SPEC / "insecureSkipTLSVerify", True, text))
    return errors


def _service(obj: Object) -> str:
    service = obj["spec"].get("service")
    return f"{service.get('namespace', '')}/{service.get('name', '')}" if service else "Local"


def _available(obj: Object) -> str:
    for condition in (obj.get("status") or {}).get("conditions") or ():
        if condition.get("type") == AVAILABLE:
            status = str(condition.get("status"))
            return status if status == "True" else f"{status} ({condition.get('reason', '')})"
    return "Unknown"


STRATEGY = APIServiceStrategy()
STATUS = StatusStrategy(STRATEGY)
COLUMNS = (
    Column("Service", _service, description="The reference to the service that hosts this API endpoint."),
    Column("Available", _available, description="Whether this service is available."),
    AGE,
)
