"""Audit id, panic recovery, start-up, request info, cache control and warnings."""

from __future__ import annotations

import logging
import re
from typing import Any

import pytest

from apiserver.api.request import Request
from apiserver_plugins.filters import (
    audit_init,
    cache_control,
    panic_recovery,
    request_info,
    request_received,
    startup_complete,
    warnings,
)
from tests.wsgi import answering, call, chain, server

UUID4 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


def test_every_answer_has_an_audit_id() -> None:
    first, second = (call(chain(answering()), "/") for _ in range(2))
    assert UUID4.fullmatch(first.header("Audit-Id") or "")
    assert first.header("Audit-Id") != second.header("Audit-Id")
    assert first.request.audit_id == first.header("Audit-Id")


def test_the_clients_audit_id_is_kept() -> None:
    assert call(chain(answering()), "/", headers={"Audit-ID": "mine"}).all("Audit-Id") == ["mine"]


def test_audit_ids_are_version_4_uuids() -> None:
    assert all(UUID4.fullmatch(audit_init.new_audit_id()) for _ in range(200))


def test_an_uncaught_exception_is_a_500_and_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    def app(_env: dict[str, Any], _start_response: Any) -> Any:
        raise RuntimeError("the reason")

    answer = call(chain(app, panic_recovery), "/api/v1/nodes?x=y")
    assert answer.code == 500
    assert answer.text == "This request caused apiserver to panic. Look in the logs for details.\n"
    assert answer.header("Content-Type") == "text/plain; charset=utf-8"
    assert answer.header("Audit-Id")
    assert "the reason" in caplog.text
    assert "/api/v1/nodes?x=y" in caplog.text


def test_an_exception_after_the_head_was_announced_replaces_the_head() -> None:
    def app(_env: dict[str, Any], start_response: Any) -> Any:
        start_response("200 OK", [])
        raise RuntimeError("too late")

    answer = call(chain(app, panic_recovery), "/")
    assert answer.code == 500
    assert answer.request.status_code == 500


def test_requests_before_the_routes_are_complete_are_tagged() -> None:
    on = server()
    app = chain(answering(), startup_complete, on=on)
    assert not call(app, "/").request.early
    on.lifecycle.signals.clear()
    assert call(app, "/").request.early


def test_the_arrival_is_noted() -> None:
    request = call(chain(answering(), request_received), "/").request
    assert request.received > 0
    assert request.received_at > 1e9


def test_the_request_info_is_there_for_everybody_further_in() -> None:
    answer = call(chain(answering(), request_info), "/api/v1/namespaces/x/pods/p")
    info = answer.request.info
    assert info is not None
    assert (info.verb, info.namespace, info.resource, info.name) == ("get", "x", "pods", "p")


def test_a_path_that_cannot_be_understood_is_a_500_with_upstreams_text() -> None:
    answer = call(chain(answering(), request_info), "/api/v1/watch?a=1&b=<2>")
    assert answer.code == 500
    assert answer.text == (
        'Internal Server Error: "/api/v1/watch?a=1&amp;b=&lt;2&gt;": failed to create RequestInfo: '
        "unable to determine kind and namespace from url, /api/v1/watch?a=1&b=<2>\n"
    )


def test_answers_are_not_to_be_cached_unless_they_say_so() -> None:
    assert call(chain(answering(), cache_control), "/").all("Cache-Control") == ["no-cache, private"]
    app = chain(answering(b"", "200 OK", ("Cache-Control", "public")), cache_control)
    assert call(app, "/").all("Cache-Control") == ["public"]


def _warning(*texts: str) -> Any:
    def app(env: dict[str, Any], start_response: Any) -> Any:
        for text in texts:
            Request.of(env).warn(text)
        return answering()(env, start_response)

    return call(chain(app, warnings), "/").all("Warning")


def test_warnings_become_headers_each_once() -> None:
    assert _warning("first", "second", "first", "") == ['299 - "first"', '299 - "second"']
    assert _warning() == []


def test_warnings_are_quoted_and_utf_8() -> None:
    assert _warning('say "x\\y"') == [r'299 - "say \"x\\y\""']
    assert _warning("größer")[0].encode("latin-1").decode() == '299 - "größer"'


def test_a_warning_that_would_break_the_head_is_not_sent() -> None:
    assert _warning("one\r\nSet-Cookie: x", "two") == ['299 - "two"']


def test_many_long_warnings_are_cut() -> None:
    texts = [f"{number:02}" + "x" * 498 for number in range(20)]
    assert _warning(*texts[:8]) == [f'299 - "{text}"' for text in texts[:8]]
    cut = _warning(*texts)
    assert cut == [f'299 - "{text[:256]}"' for text in texts[:16]]


def test_plain_logging_shows_the_fields(caplog: pytest.LogCaptureFixture) -> None:
    from apiserver.api import logs

    with caplog.at_level(logging.INFO):
        logs.info(logging.getLogger("apiserver.x"), "Said", to="me", times=2, yes=True)
    assert '"Said" to="me" times=2 yes=true' in caplog.text
