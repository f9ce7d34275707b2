"""CronJobs.

COMPAT: pkg/apis/batch/v1 SetDefaults_CronJob; pkg/apis/batch/validation; pkg/registry/batch/cronjob
"""

from __future__ import annotations

from typing import Any

from apiserver.api.durations import since
from apiserver.api.fields import FieldError
from apiserver.api.resource import Column
from apiserver.api.rest import Context
from apiserver.api.strategy import SpecStatusStrategy, StatusStrategy
from apiserver_plugins.resources.batch_v1.job_spec import job_spec_errors
from apiserver_plugins.resources.batch_v1.jobs import name_warnings
from apiserver_plugins.resources.batch_v1.schedules import schedule_problem, zone_problems
from apiserver_plugins.resources.common.columns import AGE, NONE, UNSET, cell, format_names, value_at
from apiserver_plugins.resources.common.pod_defaults import set_template_defaults
from apiserver_plugins.resources.common.selectors import format_selector
from apiserver_plugins.resources.common.values import invalid, nonnegative, one_of
from apiserver_plugins.resources.common.workloads import SPEC

POLICIES = ("Allow", "Forbid", "Replace")
LONGEST_NAME = 52
_DEFAULTS = (("suspend", False), ("successfulJobsHistoryLimit", 3), ("failedJobsHistoryLimit", 1))
_TZ_WARNING = (
    "CRON_TZ or TZ used in spec.schedule is not officially supported, see "
    "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"
)


def _schedule_errors(spec: dict[str, Any], *, zone_allowed: bool) -> list[FieldError]:
    path, schedule = SPEC / "schedule", spec.get("schedule") or ""
    if not schedule:
        return [FieldError.required(path)]
    problem = schedule_problem(schedule)
    errors = [FieldError.invalid(path, schedule, problem)] if problem else []
    if "TZ" not in schedule:
        return errors
    if not zone_allowed:
        text = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
        errors.append(FieldError.invalid(path, schedule, text))
    elif spec.get("timeZone") is not None:
        text = "cannot use both timeZone field and TZ or CRON_TZ in schedule"
        errors.append(FieldError.invalid(path, schedule, text))
    return errors


def _spec_errors(spec: dict[str, Any], old: dict[str, Any] | None) -> list[FieldError]:
    errors = _schedule_errors(spec, zone_allowed=old is not None and "TZ" in (old.get("schedule") or ""))
    errors += nonnegative(SPEC / "startingDeadlineSeconds", spec.get("startingDeadlineSeconds"))
    zone = spec.get("timeZone")
    if zone is not None and (old is None or old.get("timeZone") != zone):
        errors += invalid(SPEC / "timeZone", zone, zone_problems(zone))
    errors += one_of(SPEC / "concurrencyPolicy", spec.get("concurrencyPolicy"), POLICIES)
    job, path = value_at(spec, "jobTemplate", "spec") or {}, SPEC / "jobTemplate" / "spec"
    errors += job_spec_errors(job, path)
    if job.get("selector") is not None:
        text = "`selector` will be auto-generated"
        errors.append(FieldError.invalid(path / "selector", job["selector"], text))
    if job.get("manualSelector"):
        errors.append(FieldError.not_supported(path / "manualSelector", True, ("nil", "false")))
    for field in ("successfulJobsHistoryLimit", "failedJobsHistoryLimit"):
        errors += nonnegative(SPEC / field, spec.get(field))
    return errors


class CronJobStrategy(SpecStatusStrategy):
    """Rules of CronJobs."""

    def default(self, obj: dict[str, Any]) -> None:
        spec = obj.setdefault("spec", {})
        spec["concurrencyPolicy"] = spec.get("concurrencyPolicy") or "Allow"
        for field, value in _DEFAULTS:
            if spec.get(field) is None:
                spec[field] = value
        job = spec.setdefault("jobTemplate", {}).setdefault("spec", {})
        set_template_defaults(job.setdefault("template", {}))

    def prepare_for_create(self, ctx: Context, obj: dict[str, Any]) -> None:
        super().prepare_for_create(ctx, obj)
        obj["status"] = {}

    def validate(self, ctx: Context, obj: dict[str, Any]) -> list[FieldError]:
        errors = _spec_errors(obj["spec"], None)
        name = obj["metadata"].get("name") or ""
        if len(name) > LONGEST_NAME:
            # COMPAT: jobs are called after it, with eleven characters more
            text = f"must be no more than {LONGEST_NAME} characters"
            errors.append(FieldError.invalid("metadata.name", name, text))
        return errors

    def validate_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        return _spec_errors(obj["spec"], old["spec"])

    def warnings_on_create(self, ctx: Context, obj: dict[str, Any]) -> list[str]:
        return name_warnings(obj["metadata"].get("name") or "")

    def warnings_on_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[str]:
        return [_TZ_WARNING] if "TZ" in (obj["spec"].get("schedule") or "") else []


def _suspend(obj: dict[str, Any]) -> str:
    value = value_at(obj, "spec", "suspend")
    return UNSET if value is None else str(bool(value))


def _active(obj: dict[str, Any]) -> int:
    return len(value_at(obj, "status", "active") or ())


def _last(obj: dict[str, Any]) -> str:
    last = value_at(obj, "status", "lastScheduleTime")
    return since(last) if last else NONE


def _containers(obj: dict[str, Any]) -> str:
    return format_names(value_at(obj, "spec", "jobTemplate", "spec", "template", "spec", "containers"), "name")


def _images(obj: dict[str, Any]) -> str:
    return format_names(value_at(obj, "spec", "jobTemplate", "spec", "template", "spec", "containers"), "image")


def _selector(obj: dict[str, Any]) -> str:
    return format_selector(value_at(obj, "spec", "jobTemplate", "spec", "selector"))


STRATEGY = CronJobStrategy()
STATUS = StatusStrategy(STRATEGY)
COLUMNS = (
    Column("Schedule", cell("spec", "schedule"), field="spec.schedule"),
    Column("Timezone", cell("spec", "timeZone", default=NONE), field="spec.timeZone"),
    Column("Suspend", _suspend, "boolean", field="spec.suspend"),
    Column("Active", _active, "integer", field="status.active"),
    Column("Last Schedule", _last, field="status.lastScheduleTime"),
    AGE,
    Column("Containers", _containers, priority=1, description="Names of each container in the template."),
    Column("Images", _images, priority=1, description="Images referenced by each container in the template."),
    Column("Selector", _selector, priority=1, field="spec.jobTemplate.spec.selector"),
)
