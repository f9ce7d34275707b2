"""Jobs and CronJobs."""

from __future__ import annotations

from typing import Any

import pytest

from apiserver.api.rest import Context, DeleteOptions
from apiserver_plugins.resources.batch_v1 import cronjobs, jobs
from apiserver_plugins.resources.batch_v1.indexes import count_indexes, first_common
from apiserver_plugins.resources.batch_v1.schedules import schedule_problem, zone_problems
from tests.plugins.resources.cases import cells, having, pod_template
from tests.plugins.resources.rules import changed, created, errors_of

UID = "11111111-2222-3333-4444-555555555555"
JOB: dict[str, Any] = {
    "metadata": {"name": "j", "namespace": "ns", "uid": UID},
    "spec": {"template": {"spec": pod_template(restartPolicy="Never")["spec"]}},
}
INDEXED = having(JOB, spec__completionMode="Indexed", spec__completions=5)


def test_a_job_gets_defaults_and_a_selector_of_its_own(ctx: Context) -> None:
    stored = created(jobs.STRATEGY, ctx, JOB)
    spec = {k: v for k, v in stored["spec"].items() if k not in ("template", "selector")}
    assert spec == {
        "completions": 1, "parallelism": 1, "backoffLimit": 6, "completionMode": "NonIndexed", "suspend": False,
        "podReplacementPolicy": "TerminatingOrFailed", "manualSelector": False,
    }  # fmt: skip
    assert stored["spec"]["selector"] == {"matchLabels": {jobs.UID_LABEL: UID}}
    assert stored["metadata"]["labels"] == stored["spec"]["template"]["metadata"]["labels"] == {
        jobs.UID_LABEL: UID, jobs.OLD_UID_LABEL: UID, jobs.NAME_LABEL: "j", jobs.OLD_NAME_LABEL: "j",
    }  # fmt: skip


def test_defaults_depend_on_each_other(ctx: Context) -> None:
    indexed = created(jobs.STRATEGY, ctx, having(INDEXED, spec__backoffLimitPerIndex=1))["spec"]
    assert indexed["backoffLimit"] == 2**31 - 1
    rule = {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}
    policy = created(jobs.STRATEGY, ctx, having(JOB, spec__podFailurePolicy={"rules": [rule]}))["spec"]
    assert policy["podReplacementPolicy"] == "Failed"
    assert policy["podFailurePolicy"]["rules"][0]["onPodConditions"][0]["status"] == "True"
    parallel = created(jobs.STRATEGY, ctx, having(JOB, spec__parallelism=4))["spec"]
    assert "completions" not in parallel


RULES = "spec.podFailurePolicy.rules[0]"


def policy(**rule: Any) -> dict[str, Any]:
    return {"spec__podFailurePolicy": {"rules": [{"action": "FailJob", **rule}]}}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {"spec__template__spec__restartPolicy": "Always"},
            ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
        ),
        (
            {"spec__backoffLimitPerIndex": 1},
            ["spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode"],
        ),
        (
            {"spec__managedBy": "me"},
            ['spec.managedBy: Invalid value: "me": must be a domain-prefixed path (such as "acme.io/foo")'],
        ),
        (
            {"spec__successPolicy": {"rules": []}},
            ['spec.successPolicy: Invalid value: {"rules":[]}: requires indexed completion mode'],
        ),
        (
            policy(onExitCodes={"operator": "In", "values": [3, 0, 3]}),
            [
                f"{RULES}.onExitCodes.values: Invalid value: [3,0,3]: must be ordered",
                f"{RULES}.onExitCodes.values[1]: Invalid value: 0: must not be 0 for the In operator",
                f"{RULES}.onExitCodes.values[2]: Duplicate value: 3",
            ],
        ),
        (
            policy(onExitCodes={"operator": "Near", "values": [], "containerName": "zzz"}),
            [
                f'{RULES}.onExitCodes.containerName: Invalid value: "zzz": must be one of the container or '
                "initContainer names in the pod template",
                f'{RULES}.onExitCodes.operator: Unsupported value: "Near": supported values: "In", "NotIn"',
                f"{RULES}.onExitCodes.values: Invalid value: []: at least one value is required",
            ],
        ),
        (
            policy(action="", onPodConditions=[{"type": "a b", "status": "Maybe"}]),
            [
                f'{RULES}.action: Required value: valid values: ["Count" "FailIndex" "FailJob" "Ignore"]',
                f'{RULES}.onPodConditions[0].status: Unsupported value: "Maybe": supported values: "False", "True", '
                '"Unknown"',
                f'{RULES}.onPodConditions[0].type: Invalid value: "a b": name part must consist of alphanumeric '
                "characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  "
                "or 'my.name',  or '123-abc', regex used for validation is "
                "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
            ],
        ),
        (
            policy(action="FailIndex", onExitCodes={"operator": "NotIn", "values": [0]}),
            [f'{RULES}.action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set'],
        ),
    ],
)
def test_what_is_wrong_with_a_job(ctx: Context, changes: dict[str, Any], expected: list[str]) -> None:
    assert errors_of(jobs.STRATEGY, ctx, having(JOB, **changes)) == expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"spec__maxFailedIndexes": 9, "spec__backoffLimitPerIndex": 1},
         ["spec.maxFailedIndexes: Invalid value: 9: must be less than or equal to completions"]),
        ({"spec__completions": 200000, "spec__backoffLimitPerIndex": 1},
         ["spec.maxFailedIndexes: Required value: must be specified when completions is above 100000"]),
        ({"spec__successPolicy": {"rules": [{}, {"succeededCount": 9}, {"succeededIndexes": "1-2", "succeededCount": 3},
                                            {"succeededIndexes": "4,2"}]}},
         [
             "spec.successPolicy.rules[0]: Required value: at least one of succeededCount or succeededIndexes must be "
             "specified",
             "spec.successPolicy.rules[1].succeededCount: Invalid value: 9: must be less than or equal to 5 (the "
             "number of specified completions)",
             "spec.successPolicy.rules[2].succeededCount: Invalid value: 3: must be less than or equal to 2 (the "
             "number of indexes in the specified succeededIndexes field)",
             'spec.successPolicy.rules[3].succeededIndexes: Invalid value: "4,2": error parsing succeededIndexes: '
             "non-increasing order, previous: 4, current: 2",
         ]),
        ({"metadata__name": "x" * 62},
         [f'metadata.name: Invalid value: "{"x" * 62}": will not able to create pod with invalid DNS label: '
          f"{'x' * 62}-4"]),
    ],
)  # fmt: skip
def test_what_is_wrong_with_an_indexed_job(ctx: Context, changes: dict[str, Any], expected: list[str]) -> None:
    assert errors_of(jobs.STRATEGY, ctx, having(INDEXED, **changes)) == expected


def test_the_template_of_a_job_is_fixed_but_for_scheduling_before_the_start(ctx: Context) -> None:
    change = {"spec__template__spec__nodeSelector": {"a": "b"}}
    running = created(jobs.STRATEGY, ctx, JOB)
    _, errors = changed(jobs.STRATEGY, ctx, running, having(running, **change))
    assert len(errors) == 1
    assert errors[0].startswith("spec.template: Invalid value: ")
    waiting = created(jobs.STRATEGY, ctx, having(JOB, spec__suspend=True))
    assert changed(jobs.STRATEGY, ctx, waiting, having(waiting, **change))[1] == []


def test_completions_of_an_indexed_job_change_with_its_parallelism(ctx: Context) -> None:
    old = created(jobs.STRATEGY, ctx, INDEXED)
    assert changed(jobs.STRATEGY, ctx, old, having(old, spec__completions=3, spec__parallelism=3))[1] == []
    assert changed(jobs.STRATEGY, ctx, old, having(old, spec__completions=3))[1] == [
        "spec.completions: Invalid value: 3: can only be modified in tandem with spec.parallelism"
    ]


def test_deleting_a_job_without_a_word_about_its_pods_is_warned_of(ctx: Context) -> None:
    assert jobs.STRATEGY.default_propagation == "Orphan"
    jobs.STRATEGY.grace_period(ctx, JOB, DeleteOptions(propagation_policy="Orphan"))
    assert list(ctx.request.warnings) == []
    jobs.STRATEGY.grace_period(ctx, JOB, DeleteOptions())
    assert list(ctx.request.warnings) == [jobs.ORPHAN_WARNING]


def condition(kind: str) -> dict[str, Any]:
    return {"type": kind, "status": "True"}


T1, T2 = "2020-01-01T00:00:00Z", "2020-01-01T01:00:00Z"
ENDED = {
    "startTime": T1, "completionTime": T2, "succeeded": 1,
    "conditions": [condition("SuccessCriteriaMet"), condition("Complete")],
}  # fmt: skip


@pytest.mark.parametrize(
    ("before", "status", "expected"),
    [
        ({}, ENDED, []),
        ({}, {**ENDED, "active": 1}, ["status.active: Invalid value: 1: active>0 is invalid for finished job"]),
        ({}, {"completionTime": T2},
         [f'status.completionTime: Invalid value: "{T2}": cannot set completionTime when there is no Complete=True '
          "condition"]),
        ({}, {"conditions": [condition("Failed")], "startTime": T1},
         ["status.conditions: Invalid value: cannot set Failed=True condition without the FailureTarget=true "
          "condition"]),
        (ENDED, {"startTime": T1, "succeeded": 1, "completionTime": T2},
         ["status.conditions: Invalid value: cannot disable the SuccessCriteriaMet=True condition",
          "status.conditions: Invalid value: cannot disable the terminal Complete=True condition"]),
        ({"succeeded": 2}, {"succeeded": 1},
         ["status.succeeded: Invalid value: 1: cannot decrease the succeeded counter"]),
        ({}, {"completedIndexes": "0"},
         ['status.completedIndexes: Invalid value: "0": cannot set non-empty completedIndexes when non-indexed '
          "completion mode"]),
        ({}, {"uncountedTerminatedPods": {"succeeded": ["a"], "failed": ["a", ""]}},
         ['status.uncountedTerminatedPods.failed[0]: Duplicate value: "a"',
          'status.uncountedTerminatedPods.failed[1]: Invalid value: "": must not be empty']),
        ({"startTime": T1}, {}, ["status.startTime: Required value: startTime cannot be removed for unsuspended job"]),
    ],
)  # fmt: skip
def test_what_the_status_of_a_job_may_become(
    ctx: Context, before: dict[str, Any], status: dict[str, Any], expected: list[str]
) -> None:
    job = created(jobs.STRATEGY, ctx, JOB)
    _, errors = changed(jobs.STATUS, ctx, {**job, "status": before}, {**job, "status": status})
    assert errors == expected


def test_a_job_in_a_table(ctx: Context) -> None:
    job = created(jobs.STRATEGY, ctx, JOB)
    row = cells(jobs.COLUMNS, {**job, "status": ENDED})
    assert (row["Status"], row["Completions"], row["Duration"]) == ("Complete", "1/1", "60m")
    several = having(job, spec__completions=None, spec__parallelism=3)
    row = cells(jobs.COLUMNS, several)
    assert (row["Status"], row["Completions"], row["Duration"]) == ("Running", "0/1 of 3", "")
    assert jobs.STRATEGY.selectable_fields(having(job, status__succeeded=2)) == {"status.successful": "2"}


@pytest.mark.parametrize(
    ("text", "completions", "expected"),
    [("", 3, 0), ("1", 3, 1), ("0-2,4", 5, 4), ("1-x", 9, 'cannot convert string to integer for index: "x"'),
     ("7", 5, 'too large index: "7"'), ("3-2", 5, "non-increasing order, previous: 3, current: 2"),
     ("1-2-3", 9, "the fragment \"1-2-3\" violates the requirement that an index interval can have at most two parts "
      "separated by '-'")],
)  # fmt: skip
def test_sets_of_indexes(text: str, completions: int, expected: int | str) -> None:
    if isinstance(expected, int):
        assert count_indexes(text, completions) == expected
    else:
        with pytest.raises(ValueError) as caught:
            count_indexes(text, completions)
        assert str(caught.value) == expected


def test_the_first_index_in_both_sets() -> None:
    assert first_common("0-2,5", "3-4,5-7", 9) == 5
    assert first_common("0-2", "3-4,x", 9) is None


CRON: dict[str, Any] = {
    "metadata": {"name": "c", "namespace": "ns"},
    "spec": {"schedule": "*/5 * * * *", "jobTemplate": {"spec": {"template": pod_template(restartPolicy="Never")}}},
}


@pytest.mark.parametrize(
    ("schedule", "problem"),
    [
        ("*/5 0-4 1,15 jan-MAR sun", None), ("@hourly", None), ("@every 1h30m", None), ("5/10 * ? * *", None),
        ("CRON_TZ=Europe/Berlin 0 4 * * *", None),
        ("* * * *", "expected exactly 5 fields, found 4: [* * * *]"),
        ("@often", "unrecognized descriptor: @often"),
        ("@every day", 'failed to parse duration @every day: time: invalid duration "day"'),
        ("0 0 * * 7", "end of range (7) above maximum (6): 7"),
        ("0 0 0 * *", "beginning of range (0) below minimum (1): 0"),
        ("9-3 * * * *", "beginning of range (9) beyond end of range (3): 9-3"),
        ("*/0 * * * *", "step of range should be a positive number: */0"),
        ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
        ("1/2/3 * * * *", "too many slashes: 1/2/3"),
        ("x * * * *", 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'),
        ("TZ=Mars/Base 0 4 * * *", "provided bad location Mars/Base: unknown time zone Mars/Base"),
    ],
)  # fmt: skip
def test_schedules(schedule: str, problem: str | None) -> None:
    assert schedule_problem(schedule) == problem


@pytest.mark.parametrize(
    ("zone", "problems"),
    [
        ("Etc/UTC", []), ("Europe/Berlin", []), ("", ["timeZone must be nil or non-empty string"]),
        ("../etc/passwd", ["unknown time zone ../etc/passwd"]), ("Nowhere", ["unknown time zone Nowhere"]),
        ("Local", ["timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"]),
    ],
)  # fmt: skip
def test_time_zones(zone: str, problems: list[str]) -> None:
    assert zone_problems(zone) == problems


def test_a_cron_job_gets_defaults(ctx: Context) -> None:
    spec = created(cronjobs.STRATEGY, ctx, CRON)["spec"]
    del spec["jobTemplate"]
    assert spec == {
        "schedule": "*/5 * * * *", "concurrencyPolicy": "Allow", "suspend": False, "successfulJobsHistoryLimit": 3,
        "failedJobsHistoryLimit": 1,
    }  # fmt: skip


TEMPLATE = "spec.jobTemplate.spec"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"spec__jobTemplate__spec__selector": {}},
         [f"{TEMPLATE}.selector: Invalid value: {{}}: `selector` will be auto-generated"]),
        ({"spec__jobTemplate__spec__manualSelector": True},
         [f'{TEMPLATE}.manualSelector: Unsupported value: true: supported values: "nil", "false"']),
        ({"spec__schedule": "TZ=UTC 1 * * * *"},
         ['spec.schedule: Invalid value: "TZ=UTC 1 * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field '
          "instead"]),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_cron_job(ctx: Context, changes: dict[str, Any], expected: list[str]) -> None:
    assert errors_of(cronjobs.STRATEGY, ctx, having(CRON, **changes)) == expected


def test_an_old_cron_job_may_keep_its_zone_and_its_long_name(ctx: Context) -> None:
    old = having(created(cronjobs.STRATEGY, ctx, CRON), spec__schedule="TZ=UTC 1 * * * *", metadata__name="x" * 60)
    new = having(old, spec__suspend=True)
    assert changed(cronjobs.STRATEGY, ctx, old, new)[1] == []
    assert cronjobs.STRATEGY.warnings_on_update(ctx, new, old)[0].startswith("CRON_TZ or TZ used in spec.schedule")
    assert changed(cronjobs.STRATEGY, ctx, old, having(old, spec__timeZone="Etc/UTC"))[1] == [
        'spec.schedule: Invalid value: "TZ=UTC 1 * * * *": cannot use both timeZone field and TZ or CRON_TZ in schedule'
    ]


def test_a_cron_job_in_a_table(ctx: Context) -> None:
    obj = having(created(cronjobs.STRATEGY, ctx, CRON), status__active=[{}, {}], spec__timeZone="Etc/UTC")
    row = cells(cronjobs.COLUMNS, obj)
    assert row == {
        "Schedule": "*/5 * * * *", "Timezone": "Etc/UTC", "Suspend": "False", "Active": 2, "Last Schedule": "<none>",
        "Containers": "c", "Images": "x:1", "Selector": "<none>",
    }  # fmt: skip
