"""What is written down about requests: the access log, metrics, audit events."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import pytest
from prometheus_client import generate_latest

from apiserver import logs as log_setup
from apiserver.api import logs, metrics
from apiserver.api.auth import Decision, User
from apiserver.api.request import Request
from apiserver.api.stream import WatchStream
from apiserver_plugins.filters import (
    audit,
    authentication,
    authorization,
    http_log,
    latency,
    panic_recovery,
    request_info,
    request_received,
)
from tests.api.test_request import Stream
from tests.wsgi import FakeServer, answering, call, chain, environ, server

PODS = "/api/v1/namespaces/x/pods"
TRAIL = (panic_recovery, request_received, request_info, latency, http_log, authentication, audit, authorization)
RESOURCE = SimpleNamespace(group="", version="v1", plural="pods", subresources=(SimpleNamespace(name="log"),))


def _server(**values: Any) -> FakeServer:
    on = server(*TRAIL, **values)
    on.resources = (RESOURCE,)
    return on


def test_the_access_log_says_who_asked_for_what(caplog: pytest.LogCaptureFixture) -> None:
    wrapped = chain(answering(), *TRAIL, on=_server())
    headers = {"User-Agent": 'my"agent', "Audit-ID": "a" * 70}
    with caplog.at_level(logs.level(3)):
        call(wrapped, f"{PODS}?limit=5", headers=headers)
    record = next(r for r in caplog.records if r.name == "apiserver_plugins.filters.http_log")
    fields = dict(record.fields)
    assert fields.pop("latency").endswith("s")
    assert fields == {
        "verb": "LIST", "URI": f"{PODS}?limit=5", "userAgent": 'my"agent', "contentType": "", "audit-ID": "a" * 64,
        "srcIP": "127.0.0.1:50000", "resp": 200,
    }  # fmt: skip
    line = log_setup.TextFormatter().format(record)
    assert '] "HTTP" verb="LIST" URI="/api/v1/namespaces/x/pods?limit=5" latency=' in line
    assert 'userAgent="my\\"agent"' in line


def test_nothing_is_logged_below_verbosity_3(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logs.level(2)):
        call(chain(answering(), *TRAIL, on=_server()), PODS)
    assert not [r for r in caplog.records if r.name.startswith("apiserver_plugins")]


def test_at_verbosity_6_the_request_info_is_logged_and_times_are_wanted(caplog: pytest.LogCaptureFixture) -> None:
    def app(env: dict[str, Any], start_response: Any) -> Any:
        times = Request.of(env).times
        assert times is not None
        times["cors"] = 0.000012
        return answering()(env, start_response)

    with caplog.at_level(logs.level(6)):
        call(chain(app, *TRAIL, on=_server()), PODS)
    assert "RequestInfo=" in caplog.text
    assert "cors" in caplog.text


def _value(name: str, **labels: str) -> float:
    return metrics.REGISTRY.get_sample_value(name, labels) or 0.0


LABELS = {"group": "", "version": "v1", "resource": "pods", "component": "apiserver"}


def test_requests_are_counted_and_measured() -> None:
    of = {**LABELS, "verb": "LIST", "dry_run": "", "subresource": "", "scope": "namespace"}
    before = _value("apiserver_request_total", **of, code="200")
    timed = _value("apiserver_request_duration_seconds_bucket", **of, le="60")
    sized = {key: value for key, value in of.items() if key != "dry_run"}
    small = _value("apiserver_response_sizes_bucket", **sized, le="1000")
    large = _value("apiserver_response_sizes_bucket", **sized, le="10000")
    wrapped = chain(answering(b"x" * 5000), *TRAIL, on=_server())
    call(wrapped, PODS)
    call(wrapped, PODS)
    assert _value("apiserver_request_total", **of, code="200") == before + 2
    assert _value("apiserver_request_duration_seconds_bucket", **of, le="60") == timed + 2
    assert _value("apiserver_response_sizes_bucket", **sized, le="1000") == small
    assert _value("apiserver_response_sizes_bucket", **sized, le="10000") == large + 2


def test_dry_runs_and_applies_are_counted_apart() -> None:
    wrapped = chain(answering(), *TRAIL, on=_server())
    apply = {"CONTENT_TYPE": "application/apply-patch+yaml"}
    of = {**LABELS, "verb": "APPLY", "dry_run": "All", "subresource": "", "scope": "resource", "code": "200"}
    before = _value("apiserver_request_total", **of)
    call(wrapped, f"{PODS}/p?dryRun=All", "PATCH", **apply)
    call(wrapped, f"{PODS}/p", "PATCH", **apply)
    call(wrapped, f"{PODS}/p?dryRun=All", "PATCH")
    assert _value("apiserver_request_total", **of) == before + 1
    assert _value("apiserver_request_total", **{**of, "verb": "PATCH"}) >= 1


def test_nobody_can_make_up_label_values() -> None:
    on = _server()
    wrapped = chain(answering(), *TRAIL, on=on)
    call(wrapped, "/api/v1/namespaces/x/madeups")
    call(wrapped, f"{PODS}/p/madeups")
    call(wrapped, "/madeups")
    call(wrapped, PODS, "MADEUPS")
    on.decide = lambda _attributes: (Decision.NO_OPINION, "")
    call(wrapped, f"{PODS}?fieldSelector=madeups", "DELETE")
    text = generate_latest(metrics.REGISTRY).decode().lower()
    assert "madeups" not in text
    assert 'verb="other"' in text


def test_open_watches_are_a_gauge() -> None:
    stream = Stream()

    def app(_env: dict[str, Any], start_response: Any) -> WatchStream:
        start_response("200 OK", [])
        return stream

    of = {**LABELS, "verb": "WATCH", "subresource": "", "scope": "namespace"}
    before = _value("apiserver_longrunning_requests", **of)
    result = chain(app, *TRAIL, on=_server())(environ(f"{PODS}?watch=1"), lambda *_args: None)
    assert result is stream, "the very same object"
    assert _value("apiserver_longrunning_requests", **of) == before + 1
    stream.close()
    assert _value("apiserver_longrunning_requests", **of) == before


def _audited() -> FakeServer:
    on = _server()
    on.audited = True
    return on


def test_without_a_plugin_that_wants_them_there_are_no_audit_events() -> None:
    assert audit.apiserver_filter(_server()) is None


def test_audit_tells_the_stages_of_a_request() -> None:
    on = _audited()
    on.user = User("alice", "uid", ("team-a",), {"k": ("v",)})
    headers = {"User-Agent": "kubectl", "Audit-ID": "id", "X-Forwarded-For": "10.0.0.1, 10.0.0.2"}
    call(chain(answering(), *TRAIL, on=on), f"{PODS}/p/log?x=1", headers=headers)
    assert [event["stage"] for event in on.events] == ["RequestReceived", "ResponseStarted", "ResponseComplete"]
    received, _, complete = on.events
    assert received["user"] == {
        "username": "alice", "uid": "uid", "groups": ["team-a", "system:authenticated"], "extra": {"k": ["v"]},
    }  # fmt: skip
    assert received["objectRef"] == {
        "resource": "pods", "namespace": "x", "name": "p", "apiVersion": "v1", "subresource": "log",
    }  # fmt: skip
    assert received["sourceIPs"] == ["10.0.0.1", "10.0.0.2", "127.0.0.1"]
    assert received["requestURI"] == f"{PODS}/p/log?x=1"
    assert (received["auditID"], received["verb"], received["userAgent"]) == ("id", "get", "kubectl")
    assert "responseStatus" not in received
    assert complete["responseStatus"] == {"metadata": {}, "code": 200}
    assert complete["annotations"]["authorization.k8s.io/decision"] == "allow"
    assert received["requestReceivedTimestamp"].endswith("Z")


def test_audit_of_a_refusal_has_its_code() -> None:
    on = _audited()
    on.decide = lambda _attributes: (Decision.DENY, "no")
    call(chain(answering(), *TRAIL, on=on), PODS)
    assert [event["stage"] for event in on.events] == ["RequestReceived", "ResponseComplete"]
    assert on.events[1]["responseStatus"]["code"] == 403


def test_a_panic_is_a_stage_of_its_own() -> None:
    on = _audited()

    def app(_env: dict[str, Any], _start_response: Any) -> Any:
        raise RuntimeError("broken")

    assert call(chain(app, *TRAIL, on=on), PODS).code == 500
    assert [event["stage"] for event in on.events] == ["RequestReceived", "Panic"]
    assert on.events[1]["responseStatus"]["message"] == "APIServer panic'd: broken"


@pytest.mark.parametrize(
    ("headers", "message"),
    [
        ({}, "Authentication failed, no credentials provided"),
        ({"Authorization": "Bearer bad"}, "Authentication failed, attempted: bearer"),
    ],
)
def test_who_was_not_authenticated_is_in_the_trail(headers: dict[str, str], message: str) -> None:
    on = _audited()
    on.user = None
    assert call(chain(answering(), *TRAIL, on=on), PODS, headers=headers).code == 401
    assert [event["responseStatus"] for event in on.events] == [{"metadata": {}, "code": 401, "message": message}]


def test_levels_between_info_and_debug_are_klogs_verbosities() -> None:
    assert logs.level(0) == logging.INFO
    assert logs.level(10) == logging.DEBUG
    assert logs.level(99) == logging.DEBUG
