"""Nodes.

COMPAT: pkg/apis/core/validation ValidateNode, ValidateNodeUpdate; pkg/registry/core/node; printNode
"""

from __future__ import annotations

from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.resource import Column
from apiserver.api.rest import Context
from apiserver.api.strategy import StatusStrategy, Strategy, keep_status
from apiserver.api.validation import label_value
from apiserver_plugins.resources.common.addresses import cidr_errors, parse_cidr
from apiserver_plugins.resources.common.columns import AGE, NONE, cell, value_at
from apiserver_plugins.resources.common.pod_validation.resources import quantity_errors
from apiserver_plugins.resources.common.values import invalid, is_qualified

ROLE_PREFIX = "node-role.kubernetes.io/"
ROLE_LABEL = "kubernetes.io/role"
UNKNOWN = "<unknown>"
_SPEC = Path("spec")
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_ONCE = 'node updates may not change {} except from "" to valid'
_SETTLED = ("podCIDR", "podCIDRs", "providerID", "unschedulable", "taints")


def _sync_cidrs(spec: dict[str, Any]) -> None:
    """``podCIDR`` is the first of ``podCIDRs``; either may be given alone. COMPAT: Convert_v1_NodeSpec_To_core."""
    one, several = spec.get("podCIDR"), spec.get("podCIDRs")
    if one and not several:
        spec["podCIDRs"] = [one]
    elif several and not one:
        spec["podCIDR"] = several[0]


def _effect_errors(effect: str, path: Path) -> list[FieldError]:
    if not effect:
        return [FieldError.required(path)]
    return [] if effect in _EFFECTS else [FieldError.not_supported(path, effect, _EFFECTS)]


def _taint_errors(taints: list[dict[str, Any]]) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[tuple[str, str]] = set()
    for i, taint in enumerate(taints):
        path, key, effect = _SPEC / "taints" / i, taint.get("key") or "", taint.get("effect") or ""
        errors += is_qualified(path / "key", key)
        value = taint.get("value") or ""
        errors += invalid(path / "value", value, label_value(value))
        errors += _effect_errors(effect, path / "effect")
        if (key, effect) in seen:
            problem = FieldError.duplicate(path, taint)
            text = f"{problem.body}: taints must be unique by key and effect pair"
            errors.append(FieldError(problem.reason, problem.field, text))
        seen.add((key, effect))
    return errors


def _cidr_errors(cidrs: list[str]) -> list[FieldError]:
    path = _SPEC / "podCIDRs"
    errors = [error for i, cidr in enumerate(cidrs) for error in cidr_errors(path / i, cidr)]
    if len(cidrs) < 2 or errors:
        return errors
    versions = sorted(network.version for network in map(parse_cidr, cidrs) if network)
    if len(cidrs) > 2 or versions != [4, 6]:
        text = "may specify no more than one CIDR for each IP family"
        errors.append(FieldError.invalid(path, cidrs, text))
    return errors


def _capacity_errors(obj: dict[str, Any]) -> list[FieldError]:
    errors: list[FieldError] = []
    for field in ("capacity", "allocatable"):
        path = Path("status") / field
        for name, quantity in (value_at(obj, "status", field) or {}).items():
            errors += quantity_errors(path.key(name), name, quantity)
    return errors


def _change_errors(spec: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
    errors = []
    if old.get("podCIDRs") and spec.get("podCIDRs") != old["podCIDRs"]:
        errors.append(FieldError.forbidden(_SPEC / "podCIDRs", _ONCE.format("podCIDR")))
    if old.get("providerID") and spec.get("providerID") != old["providerID"]:
        errors.append(FieldError.forbidden(_SPEC / "providerID", _ONCE.format("providerID")))
    rest, before = ({k: v for k, v in s.items() if k not in _SETTLED and v} for s in (spec, old))
    if rest != before:
        errors.append(FieldError.forbidden("", "node updates may only change labels, taints, or capacity"))
    return errors


class NodeStrategy(Strategy):
    """Rules of Nodes. A node may be created with its status."""

    def default(self, obj: dict[str, Any]) -> None:
        _sync_cidrs(obj.setdefault("spec", {}))
        status = obj.get("status") or {}
        if status.get("capacity") and status.get("allocatable") is None:
            status["allocatable"] = dict(status["capacity"])

    def prepare_for_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> None:
        keep_status(obj, old)

    def validate(self, ctx: Context, obj: dict[str, Any]) -> list[FieldError]:
        spec = obj.get("spec") or {}
        errors = _taint_errors(spec.get("taints") or [])
        return errors + _capacity_errors(obj) + _cidr_errors(spec.get("podCIDRs") or [])

    def validate_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        return self.validate(ctx, obj) + _change_errors(obj.get("spec") or {}, old.get("spec") or {})

    def selectable_fields(self, obj: dict[str, Any]) -> dict[str, str]:
        return {"spec.unschedulable": "true" if value_at(obj, "spec", "unschedulable") else "false"}


class NodeStatusStrategy(StatusStrategy):
    """Rules of ``/status``."""

    def validate_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        return _capacity_errors(obj)


def _status(obj: dict[str, Any]) -> str:
    ready = [c for c in value_at(obj, "status", "conditions") or () if c.get("type") == "Ready"]
    words = ["Ready" if ready[-1].get("status") == "True" else "NotReady"] if ready else ["Unknown"]
    if value_at(obj, "spec", "unschedulable"):
        words.append("SchedulingDisabled")
    return ",".join(words)


def _roles(obj: dict[str, Any]) -> str:
    labels = obj["metadata"].get("labels") or {}
    roles = {label.removeprefix(ROLE_PREFIX) for label in labels if label.startswith(ROLE_PREFIX)}
    roles.add(labels.get(ROLE_LABEL) or "")
    return ",".join(sorted(roles - {""})) or NONE


def _address(kind: str, obj: dict[str, Any]) -> str:
    addresses = value_at(obj, "status", "addresses") or ()
    return next((str(a.get("address", "")) for a in addresses if a.get("type") == kind), NONE)


def _internal_ip(obj: dict[str, Any]) -> str:
    return _address("InternalIP", obj)


def _external_ip(obj: dict[str, Any]) -> str:
    return _address("ExternalIP", obj)


def _info(name: str, field: str) -> Column:
    """A column of ``status.nodeInfo``."""

    def show(obj: dict[str, Any]) -> str:
        return value_at(obj, "status", "nodeInfo", field) or UNKNOWN

    return Column(name, show, priority=1, field=f"status.nodeInfo.{field}")


STRATEGY = NodeStrategy()
STATUS = NodeStatusStrategy(STRATEGY)
COLUMNS = (
    Column("Status", _status, description="The status of the node"),
    Column("Roles", _roles, description="The roles of the node"),
    AGE,
    Column("Version", cell("status", "nodeInfo", "kubeletVersion"), field="status.nodeInfo.kubeletVersion"),
    Column("Internal-IP", _internal_ip, priority=1, field="status.addresses"),
    Column("External-IP", _external_ip, priority=1, field="status.addresses"),
    _info("OS-Image", "osImage"),
    _info("Kernel-Version", "kernelVersion"),
    _info("Container-Runtime", "containerRuntimeVersion"),
)
