"""What the status of a Job may say, and how it may change: a job that has ended stays as it is.

Rules that older controllers broke are applied to what an update changes only.

COMPAT: pkg/apis/batch/validation validateJobStatus, ValidateJobStatusUpdate; pkg/registry/batch/job
getStatusValidationOptions
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver_plugins.resources.batch_v1.indexes import count_indexes, first_common
from apiserver_plugins.resources.common.values import nonnegative

Object = dict[str, Any]

_STATUS = Path("status")
_CONDITIONS = _STATUS / "conditions"
_COUNTS = ("active", "succeeded", "failed", "ready", "terminating")
COMPLETE, FAILED, FAILURE_TARGET, SUCCESS = "Complete", "Failed", "FailureTarget", "SuccessCriteriaMet"
# Conditions that can't both be true.
_EXCLUSIVE = (
    (COMPLETE, FAILED, "cannot set Complete=True and Failed=true conditions"),
    (COMPLETE, FAILURE_TARGET, "cannot set Complete=True and FailureTarget=true conditions"),
    (SUCCESS, FAILED, "cannot set SuccessCriteriaMet=True and Failed=true conditions"),
    (SUCCESS, FAILURE_TARGET, "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions"),
)
# Conditions that come only after another.
_ORDERED = (
    (FAILED, FAILURE_TARGET, "cannot set Failed=True condition without the FailureTarget=true condition"),
    (COMPLETE, SUCCESS, "cannot set Complete=True condition without the SuccessCriteriaMet=true condition"),
)


def true_conditions(obj: Object) -> set[str]:
    """The types of the conditions that are true."""
    conditions = (obj.get("status") or {}).get("conditions") or ()
    return {c.get("type", "") for c in conditions if c.get("status") == "True"}


def _no_value(path: str, text: str) -> FieldError:
    return FieldError("FieldValueInvalid", path, f"Invalid value: {text}")


def status_errors(obj: Object, old: Object) -> list[FieldError]:
    """Problems of an update of ``status``."""
    status, before = obj.get("status") or {}, old.get("status") or {}
    errors: list[FieldError] = []
    for field in _COUNTS:
        errors += nonnegative(_STATUS / field, status.get(field))
    errors += _uncounted_errors(status.get("uncountedTerminatedPods") or {})
    errors += _condition_errors(true_conditions(obj), true_conditions(old))
    errors += _end_errors(obj, old)
    errors += _index_errors(obj, old)
    errors += _decrease_errors(status, before)
    ready = status.get("ready")
    if ready is not None and ready > (status.get("active") or 0) and ready != before.get("ready"):
        errors.append(FieldError.invalid(_STATUS / "ready", ready, "cannot set more ready pods than active"))
    started, suspended = before.get("startTime"), (obj.get("spec") or {}).get("suspend")
    if started is not None and status.get("startTime") != started and not suspended:
        text = "startTime cannot be removed for unsuspended job"
        errors.append(FieldError.required(_STATUS / "startTime", text))
    return errors


def _uncounted_errors(uncounted: Object) -> list[FieldError]:
    errors, seen = [], set()
    for field in ("succeeded", "failed"):
        for i, uid in enumerate(uncounted.get(field) or ()):
            path = _STATUS / "uncountedTerminatedPods" / field / i
            if not uid:
                errors.append(FieldError.invalid(path, uid, "must not be empty"))
            elif uid in seen:
                errors.append(FieldError.duplicate(path, uid))
            seen.add(uid)
    return errors


def _condition_errors(now: set[str], before: set[str]) -> list[FieldError]:
    fresh = now - before
    errors = [_no_value(_CONDITIONS, text) for one, other, text in _EXCLUSIVE if {one, other} <= now]
    for later, first, text in _ORDERED:
        if later in fresh and first not in now:
            errors.append(_no_value(_CONDITIONS, text))
    gone = [kind for kind in (FAILED, COMPLETE, FAILURE_TARGET) if kind in before - now]
    errors += [_no_value(_CONDITIONS, f"cannot disable the terminal {kind}=True condition") for kind in gone]
    if SUCCESS in before - now:
        errors.append(_no_value(_CONDITIONS, "cannot disable the SuccessCriteriaMet=True condition"))
    if COMPLETE in before and SUCCESS in fresh:
        text = "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions"
        errors.append(_no_value(_CONDITIONS, text))
    return errors


def _end_errors(obj: Object, old: Object) -> list[FieldError]:
    """What a job that ends now must say."""
    now, before = true_conditions(obj), true_conditions(old)
    status, was = obj.get("status") or {}, old.get("status") or {}
    ended = status.get("completionTime")
    errors = []
    if ended is not None and ended != was.get("completionTime") and COMPLETE not in now:
        text = "cannot set completionTime when there is no Complete=True condition"
        errors.append(FieldError.invalid(_STATUS / "completionTime", ended, text))
    if COMPLETE in now - before and ended is None:
        text = "completionTime is required for Complete jobs"
        errors.append(FieldError.required(_STATUS / "completionTime", text))
    if ended is not None and status.get("startTime") is not None and ended < status["startTime"]:
        text = "completionTime cannot be set before startTime"
        errors.append(FieldError.invalid(_STATUS / "completionTime", ended, text))
    if ended is not None and was.get("completionTime") not in (None, ended):
        text = "completionTime cannot be mutated"
        errors.append(FieldError.invalid(_STATUS / "completionTime", ended, text))
    if (now & {COMPLETE, FAILED}) and not (before & {COMPLETE, FAILED}):
        errors += list(_leftovers(status))
    return errors


def _leftovers(status: Object) -> Iterator[FieldError]:
    if status.get("active"):
        yield FieldError.invalid(_STATUS / "active", status["active"], "active>0 is invalid for finished job")
    if status.get("startTime") is None:
        yield FieldError.required(_STATUS / "startTime", "startTime is required for finished job")
    uncounted = status.get("uncountedTerminatedPods") or {}
    if uncounted.get("failed") or uncounted.get("succeeded"):
        text = "uncountedTerminatedPods needs to be empty for finished job"
        yield FieldError.invalid(_STATUS / "uncountedTerminatedPods", uncounted, text)
    if status.get("terminating"):
        text = "terminating>0 is invalid for finished job"
        yield FieldError.invalid(_STATUS / "terminating", status["terminating"], text)


def _index_errors(obj: Object, old: Object) -> list[FieldError]:
    spec, status, before = obj.get("spec") or {}, obj.get("status") or {}, old.get("status") or {}
    completions, done, failed = spec.get("completions"), status.get("completedIndexes"), status.get("failedIndexes")
    errors = []
    for field, text in (("completedIndexes", done), ("failedIndexes", failed)):
        if text and text != before.get(field) and completions is not None:
            try:
                count_indexes(text, completions)
            except ValueError as ex:
                errors.append(FieldError.invalid(_STATUS / field, text, f"error parsing {field}: {ex}"))
    if done and done != before.get("completedIndexes") and spec.get("completionMode") != "Indexed":
        text = "cannot set non-empty completedIndexes when non-indexed completion mode"
        errors.append(FieldError.invalid(_STATUS / "completedIndexes", done, text))
    if failed is not None and failed != before.get("failedIndexes") and spec.get("backoffLimitPerIndex") is None:
        text = "cannot set non-null failedIndexes when backoffLimitPerIndex is null"
        errors.append(FieldError.invalid(_STATUS / "failedIndexes", failed, text))
    common = first_common(done or "", failed or "", completions) if completions is not None else None
    if common is not None:
        text = f"failedIndexes and completedIndexes overlap at index: {common}"
        errors.append(FieldError.invalid(_STATUS / "failedIndexes", failed, text))
    return errors


def _decrease_errors(status: Object, before: Object) -> list[FieldError]:
    errors = []
    for field in ("failed", "succeeded"):
        value = status.get(field) or 0
        if value < (before.get(field) or 0):
            errors.append(FieldError.invalid(_STATUS / field, value, f"cannot decrease the {field} counter"))
    return errors
