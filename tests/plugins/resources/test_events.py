"""Events of both APIs, and Leases."""

from __future__ import annotations

from typing import Any

import pytest

from apiserver.api.rest import Context
from apiserver_plugins.resources.coordination_v1.leases import LeaseStrategy
from apiserver_plugins.resources.core_v1.events import EventStrategy
from apiserver_plugins.resources.events_v1.conversion import from_core, to_core
from tests.plugins.resources.conftest import MakeContext
from tests.plugins.resources.rules import changed, errors_of

STRATEGY = EventStrategy()


def event(**fields: Any) -> dict[str, Any]:
    about = {"kind": "Pod", "name": "p", "namespace": "ns"}
    return {"metadata": {"name": "e", "namespace": "ns"}, "involvedObject": about, **fields}


def test_an_event_is_in_the_namespace_of_what_it_is_about(ctx: Context) -> None:
    obj = event(involvedObject={"kind": "Pod", "name": "p", "namespace": "elsewhere"})
    assert errors_of(STRATEGY, ctx, obj) == [
        'involvedObject.namespace: Invalid value: "elsewhere": does not match event.namespace'
    ]


def test_the_old_api_asks_for_little(ctx: Context) -> None:
    assert errors_of(STRATEGY, ctx, event()) == []


def test_the_new_api_asks_for_time_and_type(make_context: MakeContext) -> None:
    assert errors_of(STRATEGY, make_context("events.k8s.io"), event()) == [
        "eventTime: Required value",
        'type: Invalid value: "": has invalid value: ',
    ]


def test_an_event_with_a_time_needs_a_reporter(ctx: Context) -> None:
    errors = errors_of(STRATEGY, ctx, event(eventTime="2020-01-02T03:04:05.678901Z"))
    required = [error for error in errors if error.endswith("Required value")]
    assert required == [
        "action: Required value",
        "reason: Required value",
        "reportingController: Required value",
        "reportingInstance: Required value",
    ]


def test_the_new_api_lets_only_the_series_change(make_context: MakeContext) -> None:
    old = event(
        eventTime="2020-01-02T03:04:05.678901Z", reportingComponent="example.com/c", reportingInstance="c-1",
        action="Doing", reason="Because", type="Normal",
    )  # fmt: skip
    series = {"count": 2, "lastObservedTime": "2020-01-02T03:04:06.000000Z"}
    assert changed(STRATEGY, make_context("events.k8s.io"), old, {**old, "series": series})[1] == []
    _, errors = changed(STRATEGY, make_context("events.k8s.io"), old, {**old, "message": "new"})
    assert errors == ['message: Invalid value: "new": field is immutable']


def test_conversion_there_and_back_changes_nothing() -> None:
    obj = {
        "metadata": {"name": "e"}, "regarding": {"kind": "Pod"}, "note": "text", "deprecatedCount": 3,
        "reportingController": "example.com/c", "reportingInstance": "c-1", "eventTime": "2020-01-02T03:04:05.000000Z",
        "deprecatedSource": {"host": "h"}, "deprecatedFirstTimestamp": None, "deprecatedLastTimestamp": None,
    }  # fmt: skip
    converted = {**obj}
    to_core(converted)
    assert converted["involvedObject"] == {"kind": "Pod"}
    assert converted["message"] == "text"
    assert converted["source"] == {"host": "h"}
    from_core(converted)
    assert converted == obj


def test_a_core_event_shows_what_it_always_shows() -> None:
    obj: dict[str, Any] = {"metadata": {"name": "e"}, "note": "text"}
    to_core(obj)
    assert obj == {
        "metadata": {"name": "e"}, "message": "text", "involvedObject": {}, "source": {}, "reportingComponent": "",
        "reportingInstance": "", "eventTime": None, "firstTimestamp": None, "lastTimestamp": None,
    }  # fmt: skip


def test_events_are_selected_by_the_names_of_both_apis() -> None:
    fields = STRATEGY.selectable_fields(event(reportingComponent="c", reason="R"))
    assert fields["involvedObject.name"] == fields["regarding.name"] == "p"
    assert fields["source"] == fields["reportingComponent"] == fields["reportingController"] == "c"
    assert fields["reason"] == "R"


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"holderIdentity": "me", "leaseDurationSeconds": 15, "leaseTransitions": 0}, []),
        ({"leaseDurationSeconds": 0}, ["spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0"]),
        ({"leaseTransitions": -1}, ["spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0"]),
        (
            {"preferredHolder": "you"},
            ["spec.preferredHolder: Forbidden: may only be specified if `strategy` is defined"],
        ),
    ],
)
def test_leases(ctx: Context, spec: dict[str, Any], expected: list[str]) -> None:
    assert errors_of(LeaseStrategy(), ctx, {"metadata": {"name": "l"}, "spec": spec}) == expected


def test_a_lease_can_be_made_by_put_but_not_overwritten_blindly() -> None:
    assert LeaseStrategy.allow_create_on_update
    assert not LeaseStrategy.allow_unconditional_update
