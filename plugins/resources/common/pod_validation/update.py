"""What may change in a pod that exists: next to nothing.

COMPAT: pkg/apis/core/validation ValidatePodUpdate
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver_plugins.resources.common.pod_validation.scheduling import toleration_errors
from apiserver_plugins.resources.common.values import MAX_INT32

_SPEC = Path("spec")
_DEADLINE = _SPEC / "activeDeadlineSeconds"
_CHANGEABLE = ",".join(
    (
        "`spec.containers[*].image`",
        "`spec.initContainers[*].image`",
        "`spec.activeDeadlineSeconds`",
        "`spec.tolerations` (only additions to existing tolerations)",
        "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
    )
)


def change_errors(pod: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
    """Changes of a pod's spec that are not allowed."""
    spec, before = pod.get("spec") or {}, old.get("spec") or {}
    for field in ("containers", "initContainers"):
        if len(spec.get(field) or ()) != len(before.get(field) or ()):
            return [FieldError.forbidden(_SPEC / field, "pod updates may not add or remove containers")]
    errors, stop = _deadline(spec.get("activeDeadlineSeconds"), before.get("activeDeadlineSeconds"))
    if stop:
        return errors
    errors += _tolerations(spec.get("tolerations") or (), before.get("tolerations") or ())
    errors += _gates(spec.get("schedulingGates") or (), before.get("schedulingGates") or ())
    if _fixed_part(spec, before) != before:
        errors.append(FieldError.forbidden(_SPEC, f"pod updates may not change fields other than {_CHANGEABLE}"))
    return errors


def _deadline(value: int | None, old: int | None) -> tuple[list[FieldError], bool]:
    """The errors, and whether they make further checks pointless."""
    if value is None:
        if old is None:
            return [], False
        return [FieldError.invalid(_DEADLINE, None, "must not update from a positive integer to nil value")], False
    if not 0 <= value <= MAX_INT32:
        return [FieldError.invalid(_DEADLINE, value, f"must be between 0 and {MAX_INT32}, inclusive")], True
    if old is not None and old < value:
        return [FieldError.invalid(_DEADLINE, value, "must be less than or equal to previous value")], True
    return [], False


def _tolerations(now: Sequence[Mapping[str, Any]], before: Sequence[Mapping[str, Any]]) -> list[FieldError]:
    path = _SPEC / "tolerations"

    def without_seconds(toleration: Mapping[str, Any]) -> dict[str, Any]:
        return {k: v for k, v in toleration.items() if k != "tolerationSeconds"}

    kept = [without_seconds(toleration) for toleration in now]
    if any(without_seconds(toleration) not in kept for toleration in before):
        return [FieldError.forbidden(path, "existing toleration can not be modified except its tolerationSeconds")]
    return toleration_errors(now, path)


def _gates(now: Sequence[Mapping[str, Any]], before: Sequence[Mapping[str, Any]]) -> list[FieldError]:
    names = {gate.get("name") for gate in before}
    added = sorted({str(gate.get("name")) for gate in now if gate.get("name") not in names})
    text = f"only deletion is allowed, but found new scheduling gates '{added[0]}'" if added else ""
    return [FieldError.forbidden(_SPEC / "schedulingGates", text)] if added else []


def _fixed_part(spec: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    """The new spec with everything that may change set back."""
    fixed = dict(spec)
    for field in ("containers", "initContainers"):
        if spec.get(field):
            pairs = zip(spec[field], before[field], strict=True)
            fixed[field] = [{**new, "image": then.get("image")} for new, then in pairs]
    for field in ("activeDeadlineSeconds", "tolerations", "schedulingGates"):
        if before.get(field) is not None:
            fixed[field] = before[field]
        else:
            fixed.pop(field, None)
    grace = before.get("terminationGracePeriodSeconds")
    if grace is not None and grace < 0 and spec.get("terminationGracePeriodSeconds") == 1:
        fixed["terminationGracePeriodSeconds"] = grace
    return fixed
