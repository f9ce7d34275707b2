"""Jobs. The server gives each its own selector, made of its uid.

COMPAT: pkg/apis/batch/v1 SetDefaults_Job; pkg/apis/batch/validation; pkg/registry/batch/job
"""

from __future__ import annotations

import time
from typing import Any

from apiserver.api.durations import human_duration, parse_time
from apiserver.api.fields import FieldError
from apiserver.api.resource import Column
from apiserver.api.rest import Context, DeleteOptions
from apiserver.api.strategy import SpecStatusStrategy, StatusStrategy
from apiserver.api.validation import dns_label
from apiserver_plugins.resources.batch_v1 import job_spec
from apiserver_plugins.resources.batch_v1.job_status import status_errors, true_conditions
from apiserver_plugins.resources.common.columns import AGE, value_at
from apiserver_plugins.resources.common.pod_defaults import set_template_defaults
from apiserver_plugins.resources.common.selectors import matches, selector_errors
from apiserver_plugins.resources.common.values import MAX_INT32, immutable
from apiserver_plugins.resources.common.workloads import SPEC, TEMPLATE_COLUMNS, unusable_selector

UID_LABEL, NAME_LABEL = "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name"
OLD_UID_LABEL, OLD_NAME_LABEL = "controller-uid", "job-name"
ORPHAN_WARNING = (
    "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set "
    "propagationPolicy=Orphan to suppress this warning"
)
_FIXED = ("selector", "completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy")
# What may change of the template while a job is suspended and never ran.
_SCHEDULING = ("nodeSelector", "tolerations", "schedulingGates")


def name_warnings(name: str) -> list[str]:
    """Names of jobs become names of pods and hosts."""
    problems = dns_label(name)
    if not problems:
        return []
    return [
        "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; "
        f"a DNS label is recommended: [{' '.join(problems)}]"
    ]


def _generate_selector(obj: dict[str, Any]) -> None:
    """COMPAT: generateSelector."""
    spec, meta = obj["spec"], obj["metadata"]
    if spec.get("manualSelector"):
        return
    template = spec.setdefault("template", {})
    labels = dict(value_at(template, "metadata", "labels") or {})
    name, uid = meta.get("name") or "", meta.get("uid") or ""
    if OLD_NAME_LABEL not in labels:
        labels[OLD_NAME_LABEL] = labels[NAME_LABEL] = name
    if OLD_UID_LABEL not in labels:
        labels[OLD_UID_LABEL] = labels[UID_LABEL] = uid
    template["metadata"] = {**(template.get("metadata") or {}), "labels": labels}
    selector = spec.get("selector") or {}
    chosen = selector.get("matchLabels") or {}
    if UID_LABEL not in chosen:
        chosen = {**chosen, UID_LABEL: uid}
    spec["selector"] = {**selector, "matchLabels": chosen}


def _set_labels(obj: dict[str, Any]) -> None:
    """A job without labels has those of its template."""
    labels, meta = value_at(obj, "spec", "template", "metadata", "labels"), obj["metadata"]
    if labels and not meta.get("labels"):
        meta["labels"] = dict(labels)


def _has_label(labels: dict[str, str], key: str, expected: str) -> list[FieldError]:
    """COMPAT: ValidateHasLabel."""
    path = (SPEC / "template" / "metadata" / "labels").key(key)
    if key not in labels:
        return [FieldError.required(SPEC / "template" / "metadata" / "labels", f"must be '{expected}'")]
    if labels[key] != expected:
        return [FieldError.invalid(path, labels, f"must be '{expected}'")]
    return []


def _generated_errors(obj: dict[str, Any]) -> list[FieldError]:
    """COMPAT: validateGeneratedSelector."""
    spec, meta = obj["spec"], obj["metadata"]
    chosen = spec.get("selector")
    if spec.get("manualSelector") or chosen is None:
        return []
    uid, name = meta.get("uid") or "", meta.get("name") or ""
    expected = {OLD_UID_LABEL: uid, OLD_NAME_LABEL: name, UID_LABEL: uid, NAME_LABEL: name}
    labels = value_at(spec, "template", "metadata", "labels") or {}
    errors = _has_label(labels, OLD_UID_LABEL, uid) + _has_label(labels, OLD_NAME_LABEL, name)
    errors += _has_label(labels, UID_LABEL, uid) + _has_label(labels, NAME_LABEL, name)
    if not unusable_selector(chosen) and not matches(chosen, expected):
        errors.append(FieldError.invalid(SPEC / "selector", chosen, "`selector` not auto-generated"))
    return errors


def _spec_errors(spec: dict[str, Any]) -> list[FieldError]:
    errors = job_spec.job_spec_errors(spec, SPEC)
    chosen = spec.get("selector")
    errors += [FieldError.required(SPEC / "selector")] if chosen is None else selector_errors(SPEC / "selector", chosen)
    labels = value_at(spec, "template", "metadata", "labels")
    if not unusable_selector(chosen) and not matches(chosen, labels):
        text = "`selector` does not match template `labels`"
        errors.append(FieldError.invalid(SPEC / "template" / "metadata" / "labels", labels, text))
    return errors


def _hostname_errors(obj: dict[str, Any]) -> list[FieldError]:
    """An indexed job's pods have the index in their host names."""
    spec, name = obj["spec"], obj["metadata"].get("name") or ""
    completions = spec.get("completions") or 0
    if spec.get("completionMode") != job_spec.INDEXED or completions <= 0:
        return []
    longest = f"{name}-{completions - 1}"
    text = f"will not able to create pod with invalid DNS label: {longest}"
    return [FieldError.invalid("metadata.name", name, text)] if dns_label(longest) else []


def _completions_errors(spec: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
    path, value = SPEC / "completions", spec.get("completions")
    if spec.get("completionMode") != job_spec.INDEXED:
        return immutable(path, value, old.get("completions"))
    if value in (None, old.get("completions")) or value == spec.get("parallelism"):
        return []
    # COMPAT: the path is that of the root
    return [FieldError.invalid(path, value, "can only be modified in tandem with spec.parallelism")]


def _fixed_template(template: dict[str, Any], *, schedulable: bool) -> dict[str, Any]:
    """The template without what may change."""
    if not schedulable:
        return template
    pod = {k: v for k, v in (template.get("spec") or {}).items() if k not in _SCHEDULING}
    affinity = {k: v for k, v in (pod.pop("affinity", None) or {}).items() if k != "nodeAffinity" and v}
    meta = {k: v for k, v in (template.get("metadata") or {}).items() if k not in ("labels", "annotations")}
    return {**template, "metadata": meta, "spec": {**pod, **({"affinity": affinity} if affinity else {})}}


class JobStrategy(SpecStatusStrategy):
    """Rules of Jobs."""

    default_propagation = "Orphan"

    def default(self, obj: dict[str, Any]) -> None:
        spec = obj.setdefault("spec", {})
        if spec.get("completions") is None and spec.get("parallelism") is None:
            spec["completions"] = 1
        policy = spec.get("podFailurePolicy")
        for rule in (policy or {}).get("rules") or ():
            for pattern in rule.get("onPodConditions") or ():
                pattern["status"] = pattern.get("status") or "True"
        for field, value in (
            ("parallelism", 1),
            ("backoffLimit", 6 if spec.get("backoffLimitPerIndex") is None else MAX_INT32),
            ("completionMode", job_spec.NON_INDEXED),
            ("suspend", False),
            ("podReplacementPolicy", job_spec.FAILED if policy is not None else job_spec.TERMINATING_OR_FAILED),
            ("manualSelector", False),
        ):
            if spec.get(field) is None:
                spec[field] = value
        _set_labels(obj)
        set_template_defaults(spec.setdefault("template", {}))

    def prepare_for_create(self, ctx: Context, obj: dict[str, Any]) -> None:
        super().prepare_for_create(ctx, obj)
        obj["status"] = {}
        _generate_selector(obj)

    def validate(self, ctx: Context, obj: dict[str, Any]) -> list[FieldError]:
        return _generated_errors(obj) + _spec_errors(obj["spec"]) + _hostname_errors(obj)

    def validate_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        spec, before = obj["spec"], old["spec"]
        errors = _spec_errors(spec) + _completions_errors(spec, before)
        for field in _FIXED:
            errors += immutable(SPEC / field, spec.get(field), before.get(field))
        schedulable = bool(before.get("suspend")) and value_at(old, "status", "startTime") is None
        template, was = (_fixed_template(s.get("template") or {}, schedulable=schedulable) for s in (spec, before))
        if template != was:
            errors += immutable(SPEC / "template", template, was)
        return errors

    def warnings_on_create(self, ctx: Context, obj: dict[str, Any]) -> list[str]:
        return name_warnings(obj["metadata"].get("name") or "")

    def canonicalize(self, obj: dict[str, Any]) -> None:
        # COMPAT: defaults are set again when the stored object is read, and by then the template has its labels
        _set_labels(obj)

    def grace_period(self, ctx: Context, obj: dict[str, Any], options: DeleteOptions) -> int | None:
        if options.propagation_policy is None and options.orphan_dependents is None:
            ctx.request.warn(ORPHAN_WARNING)
        return None

    def selectable_fields(self, obj: dict[str, Any]) -> dict[str, str]:
        return {"status.successful": str(value_at(obj, "status", "succeeded") or 0)}


class JobStatusStrategy(StatusStrategy):
    """Rules of ``/status``."""

    def validate_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        return status_errors(obj, old)


def _status(obj: dict[str, Any]) -> str:
    true = true_conditions(obj)
    words = ["Complete", "Failed", "Suspended", "FailureTarget", "SuccessCriteriaMet"]
    if obj["metadata"].get("deletionTimestamp"):
        words.insert(2, "Terminating")
        true.add("Terminating")
    return next((word for word in words if word in true), "Running")


def _completions(obj: dict[str, Any]) -> str:
    done, wanted = value_at(obj, "status", "succeeded") or 0, value_at(obj, "spec", "completions")
    if wanted is not None:
        return f"{done}/{wanted}"
    parallel = value_at(obj, "spec", "parallelism") or 0
    return f"{done}/1 of {parallel}" if parallel > 1 else f"{done}/1"


def _duration(obj: dict[str, Any]) -> str:
    started = parse_time(value_at(obj, "status", "startTime") or "")
    if started is None:
        return ""
    ended = parse_time(value_at(obj, "status", "completionTime") or "")
    return human_duration((ended.timestamp() if ended else time.time()) - started.timestamp())


STRATEGY = JobStrategy()
STATUS = JobStatusStrategy(STRATEGY)
COLUMNS = (
    Column("Status", _status, description="Status of the job."),
    Column("Completions", _completions, field="status.succeeded"),
    Column("Duration", _duration, description="Time required to complete the job."),
    AGE,
    *TEMPLATE_COLUMNS,
)
