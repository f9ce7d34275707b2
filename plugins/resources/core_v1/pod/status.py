"""The status of a pod, as kubelets write it.

COMPAT: pkg/registry/core/pod podStatusStrategy; pkg/apis/core/validation ValidatePodStatusUpdate
"""

from __future__ import annotations

from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.rest import Context
from apiserver.api.strategy import StatusStrategy
from apiserver.api.validation import dns_subdomain
from apiserver_plugins.resources.common.values import invalid

_STATUS = Path("status")


def sync_pod_ips(status: dict[str, Any]) -> None:
    """``podIP`` is the first of ``podIPs``; where they differ, the old field is right. COMPAT: pod IP conversion."""
    for one, many in (("podIP", "podIPs"), ("hostIP", "hostIPs")):
        ip, entries = status.get(one) or "", status.get(many) or []
        if ip and (not entries or entries[0].get("ip") != ip):
            status[many] = [{"ip": ip}]
        elif not ip and entries and one == "podIP":
            status[one] = entries[0].get("ip", "")


class PodStatusStrategy(StatusStrategy):
    """Rules of ``pods/x/status``."""

    def prepare_for_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> None:
        super().prepare_for_update(ctx, obj, old)
        # COMPAT: owners and the quality of service are not the kubelet's to change
        owners = old["metadata"].get("ownerReferences")
        if owners:
            obj["metadata"]["ownerReferences"] = owners
        else:
            obj["metadata"].pop("ownerReferences", None)
        status, before = obj.setdefault("status", {}), old.get("status") or {}
        if before.get("qosClass"):
            status["qosClass"] = before["qosClass"]
        sync_pod_ips(status)

    def validate_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        status = obj.get("status") or {}
        errors: list[FieldError] = []
        nominated = status.get("nominatedNodeName")
        if nominated:
            errors += invalid(_STATUS / "nominatedNodeName", nominated, dns_subdomain(nominated))
        names = {c.get("name") for c in (obj.get("spec") or {}).get("containers") or ()}
        for i, container in enumerate(status.get("containerStatuses") or ()):
            if container.get("name") not in names:
                # COMPAT: a status of a container that the pod does not have is ignored, but must have a name
                path = _STATUS / "containerStatuses" / i / "name"
                errors += [] if container.get("name") else [FieldError.required(path)]
        seen: set[str] = set()
        for i, condition in enumerate(status.get("conditions") or ()):
            kind = condition.get("type", "")
            if kind in seen:
                errors.append(FieldError.duplicate(_STATUS / "conditions" / i / "type", kind))
            seen.add(kind)
        return errors
