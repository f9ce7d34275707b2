"""Deadlines, timeouts, limits, and what happens while the server stops."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from apiserver.api.auth import User
from apiserver.api.errors import Timeout
from apiserver.api.request import Request
from apiserver_plugins.filters import (
    authentication,
    max_in_flight,
    request_deadline,
    request_info,
    request_received,
    retry_after,
    timeout,
    wait_group,
    watch_termination,
)
from tests.wsgi import answering, call, chain, environ, server

PODS = "/api/v1/namespaces/x/pods"
DEADLINES = (request_received, request_info, request_deadline, timeout)


@pytest.mark.parametrize(
    ("path", "seconds"),
    [
        (PODS, 60), (f"{PODS}?timeout=10s", 10), (f"{PODS}?timeout=1m30s", 60), (f"{PODS}?timeout=0s", 60),
        (f"{PODS}?timeout=", 60), (f"{PODS}?timeout=-5s", 60), (f"{PODS}?timeout=500ms", 0.5),
        (f"{PODS}?timeoutSeconds=5", 60), ("/healthz?timeout=2s", 2),
    ],
)  # fmt: skip
def test_the_deadline_counts_from_the_arrival(path: str, seconds: float) -> None:
    request = call(chain(answering(), *DEADLINES), path).request
    assert request.deadline == pytest.approx(request.received + seconds)


@pytest.mark.parametrize("path", [f"{PODS}?watch=1", f"{PODS}/p/log", f"{PODS}?watch=1&timeout=abc"])
def test_long_running_requests_have_no_deadline(path: str) -> None:
    answer = call(chain(answering(), *DEADLINES), path)
    assert answer.code == 200
    assert answer.request.deadline is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("abc", 'time: invalid duration "abc"'),
        ("10", 'time: missing unit in duration "10"'),
        ("10x", 'time: unknown unit "x" in duration "10x"'),
        ("1s5", 'time: missing unit in duration "1s5"'),
        ("-", 'time: invalid duration "-"'),
    ],
)
def test_a_timeout_that_is_none_is_refused(text: str, problem: str) -> None:
    answer = call(chain(answering(), *DEADLINES), f"{PODS}?timeout={text}")
    assert answer.code == 400
    assert answer.json["reason"] == "BadRequest"
    assert answer.json["message"] == f"invalid timeout specified in the request URL - {problem}"


def _late(env: dict[str, Any]) -> None:
    Request.of(env).deadline = time.monotonic() - 1


def test_an_answer_that_comes_too_late_is_replaced() -> None:
    def app(env: dict[str, Any], start_response: Any) -> Any:
        _late(env)
        return answering(b"too late", "200 OK", ("X-Late", "1"))(env, start_response)

    def inside(env: dict[str, Any], start_response: Any) -> Any:
        Request.of(env).deadline = 0.0
        return chain_inner(env, start_response)

    chain_inner = timeout.wrap(app)
    answer = call(chain(inside), PODS)
    assert answer.code == 504
    assert answer.json == {
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "reason": "Timeout", "code": 504,
        "message": "Timeout: request did not complete within the allotted timeout", "details": {},
    }  # fmt: skip
    assert answer.header("X-Late") is None
    assert answer.request.status_code == 504


def test_a_late_body_in_parts_is_closed() -> None:
    closed: list[bool] = []

    class Body:
        def __iter__(self) -> Iterator[bytes]:
            yield b"never"

        def close(self) -> None:
            closed.append(True)

    def app(_env: dict[str, Any], start_response: Any) -> Any:
        start_response("200 OK", [])
        return Body()

    def inside(env: dict[str, Any], start_response: Any) -> Any:
        Request.of(env).deadline = 0.0
        return timeout.wrap(app)(env, start_response)

    assert call(chain(inside), PODS).code == 504
    assert closed == [True]


def test_a_blocking_point_that_gives_up_says_so_itself() -> None:
    def app(env: dict[str, Any], _start_response: Any) -> Any:
        _late(env)
        Request.of(env).remaining()

    answer = call(chain(app, *DEADLINES), PODS)
    assert answer.code == 504
    assert answer.json["message"] == (
        "Timeout: request did not complete within requested timeout - context deadline exceeded"
    )


def test_a_timeout_after_the_head_was_announced_replaces_it() -> None:
    def app(_env: dict[str, Any], start_response: Any) -> Any:
        start_response("200 OK", [])
        raise Timeout("of a lock")

    assert call(chain(app, *DEADLINES), PODS).code == 504


def test_requests_are_counted_while_they_are_answered() -> None:
    on = server()
    seen: list[int] = []

    def app(env: dict[str, Any], start_response: Any) -> Any:
        seen.append(on.lifecycle.running)
        return answering()(env, start_response)

    wrapped = chain(app, request_info, wait_group, on=on)
    call(wrapped, PODS)
    call(wrapped, f"{PODS}?watch=1")
    assert seen == [1, 0]
    assert on.lifecycle.running == 0


def test_a_request_that_fails_is_not_counted_for_ever() -> None:
    on = server()

    def app(_env: dict[str, Any], _start_response: Any) -> Any:
        raise RuntimeError("broken")

    with pytest.raises(RuntimeError):
        chain(app, request_info, wait_group, on=on)(environ(PODS), lambda *_args: None)
    assert on.lifecycle.running == 0


def test_new_requests_are_refused_once_the_server_drains() -> None:
    on = server()
    on.lifecycle.draining = True
    answer = call(chain(answering(), request_info, wait_group, on=on), PODS)
    assert answer.code == 503
    assert answer.json["message"] == "apiserver is shutting down"
    assert answer.json["reason"] == "ServiceUnavailable"
    assert "details" not in answer.json
    assert answer.header("Retry-After") == "1"
    assert call(chain(answering(), request_info, wait_group, on=on), f"{PODS}?watch=1").code == 200


def test_watches_are_counted_only_with_a_grace_period() -> None:
    assert watch_termination.apiserver_filter(server()) is None
    on = server(shutdown_watch_termination_grace_period=10.0)
    seen: list[int] = []

    def app(env: dict[str, Any], start_response: Any) -> Any:
        seen.append(on.lifecycle.running)
        return answering()(env, start_response)

    wrapped = chain(app, request_info, watch_termination, on=on)
    call(wrapped, PODS)
    call(wrapped, f"{PODS}?watch=1")
    assert (seen, on.lifecycle.running) == ([0, 1], 0)
    on.lifecycle.draining = True
    assert call(wrapped, f"{PODS}?watch=1").code == 503
    assert call(wrapped, PODS).code == 200


def test_a_stopping_server_sends_clients_away_if_asked_to() -> None:
    assert retry_after.apiserver_filter(server()) is None
    on = server(shutdown_send_retry_after=True)
    wrapped = chain(answering(), retry_after, on=on)
    assert call(wrapped, PODS).code == 200
    on.lifecycle.signals.add("NotAcceptingNewRequest")
    answer = call(wrapped, PODS)
    assert (answer.code, answer.text) == (429, "The apiserver is shutting down, please try again later.\n")
    assert answer.header("Retry-After") == "5"
    assert answer.header("Connection") == "close"
    for path in ("/readyz", "/livez/ping", "/healthz", "/metrics"):
        assert call(wrapped, path).code == 200
    assert call(wrapped, PODS, headers={"User-Agent": "kube-apiserver/v1.36"}).code == 200


def _full(user: User, **limits: int) -> Any:
    """Call a server that is full, from inside the request that fills it; (outer code, inner answers)."""
    on = server(max_in_flight, **limits)
    on.user = user
    inner: list[Any] = []
    filters = (request_info, authentication, max_in_flight)

    def app(env: dict[str, Any], start_response: Any) -> Any:
        if env["PATH_INFO"] == PODS:
            inner.extend(
                call(wrapped, *asked) for asked in (("/version",), (f"{PODS}/p", "PUT"), (f"{PODS}x?watch=1",))
            )
        return answering()(env, start_response)

    wrapped = chain(app, *filters, on=on)
    assert call(wrapped, PODS).code == 200
    assert call(wrapped, "/version").code == 200, "places are given back"
    return inner


def test_too_many_requests_are_refused_with_plain_text() -> None:
    read, write, watch = _full(User("alice"), max_requests_inflight=1, max_mutating_requests_inflight=1)
    assert (read.code, read.text) == (429, "Too many requests, please try again later.\n")
    assert read.header("Retry-After") == "1"
    assert read.header("Content-Type") == "text/plain; charset=utf-8"
    assert (write.code, watch.code) == (200, 200)


def test_masters_always_get_an_answer() -> None:
    assert [a.code for a in _full(User("root", groups=("system:masters",)), max_requests_inflight=1)] == [200] * 3


def test_zero_means_no_limit() -> None:
    assert [a.code for a in _full(User("alice"), max_requests_inflight=0)] == [200] * 3
