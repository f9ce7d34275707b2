"""What the spec of a Job, or of the template of one, must look like.

Called for Jobs and CronJobs. COMPAT: pkg/apis/batch/validation validateJobSpec
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver_plugins.resources.batch_v1.indexes import count_indexes
from apiserver_plugins.resources.common.pod_validation import template_errors
from apiserver_plugins.resources.common.values import domain_prefixed_path, is_qualified, nonnegative

Spec = dict[str, Any]

NON_INDEXED, INDEXED = "NonIndexed", "Indexed"
FAILED, TERMINATING_OR_FAILED = "Failed", "TerminatingOrFailed"
_COUNTS = (
    "parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished",
    "backoffLimitPerIndex", "maxFailedIndexes",
)  # fmt: skip
_MANY = 100_000
_PARALLEL_WITH_MANY = 10_000
_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
_OPERATORS = ("In", "NotIn")
_STATUSES = ("False", "True", "Unknown")
_MOST_RULES, _MOST_PATTERNS, _MOST_EXIT_CODES = 20, 20, 255
_LONGEST_MANAGER = 63
_LONGEST_INDEXES = 64 * 1024


def job_spec_errors(spec: Spec, path: Path) -> list[FieldError]:
    """Problems of ``spec``, its selector excepted."""
    errors: list[FieldError] = []
    for field in _COUNTS:
        errors += nonnegative(path / field, spec.get(field))
    if spec.get("maxFailedIndexes") is not None and spec.get("backoffLimitPerIndex") is None:
        errors.append(FieldError.required(path / "backoffLimitPerIndex", "when maxFailedIndexes is specified"))
    errors += _manager_errors(spec.get("managedBy"), path / "managedBy")
    errors += _mode_errors(spec, path)
    if spec.get("podFailurePolicy") is not None:
        errors += _failure_policy_errors(spec, path / "podFailurePolicy")
    errors += _success_policy_errors(spec, path / "successPolicy")
    errors += _replacement_errors(spec, path / "podReplacementPolicy")
    template, where = spec.get("template") or {}, path / "template"
    errors += template_errors(template, where)
    return errors + _restart_errors(spec, where / "spec" / "restartPolicy")


def _manager_errors(name: str | None, path: Path) -> list[FieldError]:
    if name is None:
        return []
    errors = domain_prefixed_path(path, name)
    if len(name) > _LONGEST_MANAGER:
        text = f"Too long: may not be more than {_LONGEST_MANAGER} characters"
        errors.append(FieldError("FieldValueTooLong", path, text))
    return errors


def _mode_errors(spec: Spec, path: Path) -> list[FieldError]:
    mode = spec.get("completionMode")
    errors: list[FieldError] = []
    if mode not in (None, NON_INDEXED, INDEXED):
        errors.append(FieldError.not_supported(path / "completionMode", mode, (NON_INDEXED, INDEXED)))
    if mode == INDEXED:
        return errors + _indexed_errors(spec, path)
    if mode in (None, NON_INDEXED):
        text = "requires indexed completion mode"
        given = [field for field in ("backoffLimitPerIndex", "maxFailedIndexes") if spec.get(field) is not None]
        errors += [FieldError.invalid(path / field, spec[field], text) for field in given]
    return errors


def _indexed_errors(spec: Spec, path: Path) -> list[FieldError]:
    completions, parallelism = spec.get("completions"), spec.get("parallelism") or 0
    failures = spec.get("maxFailedIndexes")
    errors = []
    if completions is None:
        errors.append(FieldError.required(path / "completions", "when completion mode is Indexed"))
    if parallelism > _MANY:
        text = f"must be less than or equal to {_MANY} when completion mode is Indexed"
        errors.append(FieldError.invalid(path / "parallelism", parallelism, text))
    if failures is not None and completions is not None and failures > completions:
        text = "must be less than or equal to completions"
        errors.append(FieldError.invalid(path / "maxFailedIndexes", failures, text))
    if failures is not None and failures > _MANY:
        text = f"must be less than or equal to {_MANY}"
        errors.append(FieldError.invalid(path / "maxFailedIndexes", failures, text))
    if (completions or 0) > _MANY and spec.get("backoffLimitPerIndex") is not None:
        errors += _many_errors(parallelism, failures, path)
    return errors


def _many_errors(parallelism: int, failures: int | None, path: Path) -> list[FieldError]:
    text = (
        f"must be less than or equal to {_PARALLEL_WITH_MANY} when completions are above {_MANY} and used with backoff "
        "limit per index"
    )
    errors = []
    if failures is None:
        why = f"must be specified when completions is above {_MANY}"
        errors.append(FieldError.required(path / "maxFailedIndexes", why))
    if parallelism > _PARALLEL_WITH_MANY:
        errors.append(FieldError.invalid(path / "parallelism", parallelism, text))
    if failures is not None and failures > _PARALLEL_WITH_MANY:
        errors.append(FieldError.invalid(path / "maxFailedIndexes", failures, text))
    return errors


def _valid(words: Iterable[str]) -> str:
    """``valid values: ["a" "b"]``, as Go prints a list of quoted words."""
    return f"valid values: [{' '.join(map(json.dumps, words))}]"


def _no_value(path: str, text: str) -> FieldError:
    """COMPAT: field.Invalid with OmitValueType."""
    return FieldError("FieldValueInvalid", path, f"Invalid value: {text}")


def _failure_policy_errors(spec: Spec, path: Path) -> list[FieldError]:
    rules = spec["podFailurePolicy"].get("rules") or []
    pod = (spec.get("template") or {}).get("spec") or {}
    names = {c.get("name") for kind in ("containers", "initContainers") for c in pod.get(kind) or ()}
    errors: list[FieldError] = []
    if len(rules) > _MOST_RULES:
        errors.append(FieldError.too_many(path / "rules", len(rules), _MOST_RULES))
    for i, rule in enumerate(rules):
        where, codes, conditions = path / "rules" / i, rule.get("onExitCodes"), rule.get("onPodConditions") or []
        errors += _action_errors(rule.get("action") or "", where / "action", spec)
        if codes is not None:
            errors += _exit_code_errors(codes, where / "onExitCodes", names)
        errors += _condition_errors(conditions, where / "onPodConditions")
        if codes is not None and conditions:
            errors.append(_no_value(where, "specifying both OnExitCodes and OnPodConditions is not supported"))
        if codes is None and not conditions:
            errors.append(_no_value(where, "specifying one of OnExitCodes and OnPodConditions is required"))
    return errors


def _action_errors(action: str, path: Path, spec: Spec) -> list[FieldError]:
    if not action:
        return [FieldError.required(path, _valid(_ACTIONS))]
    if action == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
        return [FieldError.invalid(path, action, "requires the backoffLimitPerIndex to be set")]
    return [] if action in _ACTIONS else [FieldError.not_supported(path, action, _ACTIONS)]


def _word_errors(word: str, path: Path, supported: tuple[str, ...]) -> list[FieldError]:
    if not word:
        return [FieldError.required(path, _valid(supported))]
    return [] if word in supported else [FieldError.not_supported(path, word, supported)]


def _condition_errors(conditions: list[Spec], path: Path) -> list[FieldError]:
    errors: list[FieldError] = []
    if len(conditions) > _MOST_PATTERNS:
        errors.append(FieldError.too_many(path, len(conditions), _MOST_PATTERNS))
    for i, pattern in enumerate(conditions):
        errors += is_qualified(path / i / "type", pattern.get("type") or "")
        errors += _word_errors(pattern.get("status") or "", path / i / "status", _STATUSES)
    return errors


def _exit_code_errors(codes: Spec, path: Path, names: set[str | None]) -> list[FieldError]:
    operator, values = codes.get("operator") or "", codes.get("values") or []
    errors = _word_errors(operator, path / "operator", _OPERATORS)
    name = codes.get("containerName")
    if name is not None and name not in names:
        text = "must be one of the container or initContainer names in the pod template"
        errors.append(FieldError.invalid(path / "containerName", name, text))
    where = path / "values"
    if not values:
        errors.append(FieldError.invalid(where, values, "at least one value is required"))
    elif len(values) > _MOST_EXIT_CODES:
        errors.append(FieldError.too_many(where, len(values), _MOST_EXIT_CODES))
    for i, code in enumerate(values):
        if operator == "In" and code == 0:
            errors.append(FieldError.invalid(where / i, code, "must not be 0 for the In operator"))
        if code in values[:i]:
            errors.append(FieldError.duplicate(where / i, code))
    if values != sorted(values):
        errors.append(FieldError.invalid(where, values, "must be ordered"))
    return errors


def _success_policy_errors(spec: Spec, path: Path) -> list[FieldError]:
    policy = spec.get("successPolicy")
    if policy is None:
        return []
    if spec.get("completionMode") != INDEXED:
        return [FieldError.invalid(path, policy, "requires indexed completion mode")]
    rules, where = policy.get("rules") or [], path / "rules"
    errors: list[FieldError] = []
    if not rules:
        text = "at least one rules must be specified when the successPolicy is specified"
        errors.append(FieldError.required(where, text))
    if len(rules) > _MOST_RULES:
        errors.append(FieldError.too_many(where, len(rules), _MOST_RULES))
    for i, rule in enumerate(rules):
        errors += _success_rule_errors(rule, where / i, spec.get("completions") or 0)
    return errors


def _success_rule_errors(rule: Spec, path: Path, completions: int) -> list[FieldError]:
    count, indexes = rule.get("succeededCount"), rule.get("succeededIndexes")
    errors: list[FieldError] = []
    if count is None and indexes is None:
        text = "at least one of succeededCount or succeededIndexes must be specified"
        errors.append(FieldError.required(path, text))
    total = 0
    if indexes is not None:
        where = path / "succeededIndexes"
        if len(indexes) > _LONGEST_INDEXES:
            errors.append(FieldError.too_long(where, _LONGEST_INDEXES))
        try:
            total = count_indexes(indexes, completions)
        except ValueError as ex:
            errors.append(FieldError.invalid(where, indexes, f"error parsing succeededIndexes: {ex}"))
    if count is None:
        return errors
    where = path / "succeededCount"
    errors += nonnegative(where, count)
    if count > completions:
        text = f"must be less than or equal to {completions} (the number of specified completions)"
        errors.append(FieldError.invalid(where, count, text))
    if indexes is not None and count > total:
        text = f"must be less than or equal to {total} (the number of indexes in the specified succeededIndexes field)"
        errors.append(FieldError.invalid(where, count, text))
    return errors


def _replacement_errors(spec: Spec, path: Path) -> list[FieldError]:
    policy = spec.get("podReplacementPolicy")
    if policy is None:
        return []
    supported = (FAILED,) if spec.get("podFailurePolicy") is not None else (FAILED, TERMINATING_OR_FAILED)
    return [] if policy in supported else [FieldError.not_supported(path, policy, supported)]


def _restart_errors(spec: Spec, path: Path) -> list[FieldError]:
    policy = ((spec.get("template") or {}).get("spec") or {}).get("restartPolicy") or ""
    if policy in ("", "Always"):
        return [FieldError.required(path, 'valid values: "OnFailure", "Never"')]
    if policy not in ("OnFailure", "Never"):
        return [FieldError.not_supported(path, policy, ("OnFailure", "Never"))]
    if spec.get("podFailurePolicy") is not None and policy != "Never":
        text = 'only "Never" is supported when podFailurePolicy is specified'
        return [FieldError.invalid(path, policy, text)]
    return []
