"""StatefulSets.

COMPAT: pkg/apis/apps/v1 SetDefaults_StatefulSet; pkg/apis/apps/validation; pkg/registry/apps/statefulset
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.resource import Column
from apiserver.api.rest import Context
from apiserver.api.strategy import SpecStatusStrategy, StatusStrategy
from apiserver_plugins.resources.common.columns import AGE, value_at
from apiserver_plugins.resources.common.pod_defaults import set_template_defaults
from apiserver_plugins.resources.common.pod_validation import template_errors
from apiserver_plugins.resources.common.selectors import is_empty, matches, selector_errors
from apiserver_plugins.resources.common.storage import claim_spec_errors
from apiserver_plugins.resources.common.values import is_label, nonnegative, not_more_than_all, positive_int_or_percent
from apiserver_plugins.resources.common.workloads import (
    SPEC,
    TEMPLATE_COLUMNS,
    counted_status_errors,
    decremented,
    ready_of_desired,
    unusable_selector,
)

ORDERED, PARALLEL = "OrderedReady", "Parallel"
ROLLING, ON_DELETE = "RollingUpdate", "OnDelete"
RETAIN, DELETE = "Retain", "Delete"
HISTORY_WARNING = (
    "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended"
)
_RETENTION = ("whenDeleted", "whenScaled")
_CHANGEABLE = (
    "replicas", "template", "updateStrategy", "minReadySeconds", "ordinals", "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
)  # fmt: skip
_FIXED_TEXT = (
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "
    "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
)
_COUNTS = (
    "replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas", "observedGeneration",
    "collisionCount",
)  # fmt: skip
_LIMITS = (
    *(
        (part, "replicas", "cannot be greater than status.replicas")
        for part in ("readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas")
    ),
    ("availableReplicas", "readyReplicas", "cannot be greater than status.readyReplicas"),
)


def _set_claim_defaults(claim: dict[str, Any]) -> None:
    """A claim template is shown like a claim of its own."""
    claim["apiVersion"], claim["kind"] = "v1", "PersistentVolumeClaim"
    spec = claim.setdefault("spec", {})
    spec["volumeMode"] = spec.get("volumeMode") or "Filesystem"
    status = claim["status"] = claim.get("status") or {}
    status["phase"] = status.get("phase") or "Pending"


def _update_errors(strategy: dict[str, Any], path: Path) -> list[FieldError]:
    kind, rolling = strategy.get("type") or "", strategy.get("rollingUpdate")
    if not kind:
        return [FieldError.required(path)]
    if kind == ON_DELETE:
        if rolling is None:
            return []
        return [FieldError.invalid(path / "rollingUpdate", rolling, f"only allowed for updateStrategy '{ROLLING}'")]
    if kind != ROLLING:
        return [FieldError.invalid(path, strategy, f"must be '{ROLLING}' or '{ON_DELETE}'")]
    if rolling is None:
        return []
    errors = nonnegative(path / "rollingUpdate" / "partition", rolling.get("partition"))
    unavailable = rolling.get("maxUnavailable")
    if unavailable is not None:
        where = path / "rollingUpdate" / "maxUnavailable"
        errors += positive_int_or_percent(where, unavailable)
        if unavailable in (0, "0%"):
            errors.append(FieldError.invalid(where, unavailable, "cannot be 0"))
        errors += not_more_than_all(where, unavailable)
    return errors


def _retention_errors(policy: dict[str, Any] | None, path: Path) -> list[FieldError]:
    if policy is None:
        return []
    supported = (RETAIN, DELETE)
    wrong = [field for field in _RETENTION if policy.get(field) not in supported]
    return [FieldError.not_supported(path / field, policy.get(field) or "", supported) for field in wrong]


def _with_claims(template: dict[str, Any], claims: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The template as pods get it: the claims are volumes, and hide volumes of the same name."""
    spec = template.get("spec") or {}
    names = [value_at(claim, "metadata", "name") or "" for claim in claims]
    volumes = [volume for volume in spec.get("volumes") or () if volume.get("name") not in names]
    volumes += [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in names]
    return {**template, "spec": {**spec, "volumes": volumes}}


def _selector_errors(spec: dict[str, Any]) -> list[FieldError]:
    path, chosen = SPEC / "selector", spec.get("selector")
    if chosen is None:
        return [FieldError.required(path)]
    errors = selector_errors(path, chosen)
    if is_empty(chosen):
        errors.append(FieldError.invalid(path, chosen, "empty selector is invalid for statefulset"))
    if unusable_selector(chosen):
        errors.append(FieldError.invalid(path, chosen, ""))
    return errors


def _template_errors(spec: dict[str, Any]) -> list[FieldError]:
    chosen, template, where = spec.get("selector"), spec.get("template") or {}, SPEC / "template"
    errors: list[FieldError] = []
    labels = value_at(template, "metadata", "labels")
    if (chosen is None or not is_empty(chosen)) and not matches(chosen, labels):
        text = "`selector` does not match template `labels`"
        errors.append(FieldError.invalid(where / "metadata" / "labels", labels, text))
    errors += template_errors(_with_claims(template, spec.get("volumeClaimTemplates") or ()), where)
    pod = template.get("spec") or {}
    if pod.get("restartPolicy") != "Always":
        policy = pod.get("restartPolicy") or ""
        errors.append(FieldError.not_supported(where / "spec" / "restartPolicy", policy, ("Always",)))
    if pod.get("activeDeadlineSeconds") is not None:
        text = "activeDeadlineSeconds in StatefulSet is not Supported"
        errors.append(FieldError.forbidden(where / "spec" / "activeDeadlineSeconds", text))
    return errors


def _spec_errors(spec: dict[str, Any]) -> list[FieldError]:
    """What is checked on each update, too."""
    policy = spec.get("podManagementPolicy")
    errors: list[FieldError] = []
    if policy not in (ORDERED, PARALLEL):
        text = f"must be '{ORDERED}' or '{PARALLEL}'"
        errors.append(FieldError.invalid(SPEC / "podManagementPolicy", policy, text))
    errors += _update_errors(spec.get("updateStrategy") or {}, SPEC / "updateStrategy")
    path = SPEC / "persistentVolumeClaimRetentionPolicy"
    errors += _retention_errors(spec.get("persistentVolumeClaimRetentionPolicy"), path)
    for field in ("replicas", "minReadySeconds"):
        errors += nonnegative(SPEC / field, spec.get(field))
    errors += nonnegative(SPEC / "ordinals" / "start", value_at(spec, "ordinals", "start"))
    return errors + _selector_errors(spec)


def _drop_disabled(obj: dict[str, Any], old: dict[str, Any]) -> None:
    """COMPAT: dropStatefulSetDisabledFields: the gate MaxUnavailableStatefulSet is off."""
    rolling = value_at(obj, "spec", "updateStrategy", "rollingUpdate")
    if rolling and value_at(old, "spec", "updateStrategy", "rollingUpdate", "maxUnavailable") is None:
        rolling.pop("maxUnavailable", None)


class StatefulSetStrategy(SpecStatusStrategy):
    """Rules of StatefulSets."""

    def default(self, obj: dict[str, Any]) -> None:
        spec = obj.setdefault("spec", {})
        spec["podManagementPolicy"] = spec.get("podManagementPolicy") or ORDERED
        strategy = spec["updateStrategy"] = spec.get("updateStrategy") or {}
        if not strategy.get("type"):
            strategy["type"] = ROLLING
            strategy["rollingUpdate"] = strategy.get("rollingUpdate") or {}
        rolling = strategy.get("rollingUpdate")
        if strategy["type"] == ROLLING and rolling is not None and rolling.get("partition") is None:
            rolling["partition"] = 0
        policy = spec["persistentVolumeClaimRetentionPolicy"] = spec.get("persistentVolumeClaimRetentionPolicy") or {}
        for field in _RETENTION:
            policy[field] = policy.get(field) or RETAIN
        for field, value in (("replicas", 1), ("revisionHistoryLimit", 10)):
            if spec.get(field) is None:
                spec[field] = value
        set_template_defaults(spec.setdefault("template", {}))
        for claim in spec.get("volumeClaimTemplates") or ():
            _set_claim_defaults(claim)

    def prepare_for_create(self, ctx: Context, obj: dict[str, Any]) -> None:
        super().prepare_for_create(ctx, obj)
        obj["status"] = {"replicas": 0, "availableReplicas": 0}
        _drop_disabled(obj, {})

    def prepare_for_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> None:
        _drop_disabled(obj, old)
        super().prepare_for_update(ctx, obj, old)

    def validate(self, ctx: Context, obj: dict[str, Any]) -> list[FieldError]:
        spec = obj["spec"]
        errors = _spec_errors(spec)
        if spec.get("serviceName"):
            errors += is_label(SPEC / "serviceName", spec["serviceName"])
        for i, claim in enumerate(spec.get("volumeClaimTemplates") or ()):
            errors += claim_spec_errors(claim.get("spec") or {}, SPEC / "volumeClaimTemplates" / i / "spec")
        return errors + _template_errors(spec)

    def validate_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        spec, before = obj["spec"], old["spec"]
        errors = _spec_errors(spec)
        if spec.get("template") != before.get("template") or spec.get("selector") != before.get("selector"):
            errors += _template_errors(spec)
        fixed, was = ({k: v for k, v in s.items() if k not in _CHANGEABLE and v} for s in (spec, before))
        if fixed != was:
            errors.append(FieldError.forbidden(SPEC, _FIXED_TEXT))
        return errors

    def warnings_on_create(self, ctx: Context, obj: dict[str, Any]) -> list[str]:
        return [HISTORY_WARNING] if (obj["spec"].get("revisionHistoryLimit") or 0) < 0 else []

    def warnings_on_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[str]:
        return self.warnings_on_create(ctx, obj)


class StatefulSetStatusStrategy(StatusStrategy):
    """Rules of ``/status``."""

    def validate_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        status = obj.get("status") or {}
        return counted_status_errors(status, _COUNTS, _LIMITS) + decremented(obj, old)


STRATEGY = StatefulSetStrategy()
STATUS = StatefulSetStatusStrategy(STRATEGY)
COLUMNS = (
    Column("Ready", ready_of_desired, description="Number of the pod with ready state"),
    AGE,
    *TEMPLATE_COLUMNS[:2],
)
