"""HSTS and CORS."""

from __future__ import annotations

from typing import Any

import pytest

from apiserver_plugins.filters import cors, hsts
from tests.wsgi import FakeServer, answering, call, chain, server

ORIGIN = {"Origin": "https://x.example.com"}


def _origins(*expressions: str) -> FakeServer:
    return server(cors, cors_allowed_origins=expressions)


def test_hsts_is_sent_when_there_are_directives() -> None:
    assert hsts.apiserver_filter(server(hsts)) is None
    on = server(hsts, strict_transport_security_directives=("max-age=31536000", "includeSubDomains", "preload"))
    answer = call(chain(answering(), hsts, on=on), "/")
    assert answer.header("Strict-Transport-Security") == "max-age=31536000; includeSubDomains; preload"


@pytest.mark.parametrize("directives", [("max-age=x",), ("preload", "something"), ("max-age",)])
def test_unknown_directives_are_refused(directives: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="allowed values"):
        hsts.check(directives)


def test_without_origins_there_is_no_cors() -> None:
    assert cors.apiserver_filter(server(cors)) is None


def test_an_allowed_origin_gets_the_headers() -> None:
    answer = call(chain(answering(), cors, on=_origins(r"//x\.example\.com$")), "/api", headers=ORIGIN)
    assert answer.code == 200
    assert answer.header("Access-Control-Allow-Origin") == "https://x.example.com"
    assert answer.header("Access-Control-Allow-Methods") == "POST, GET, OPTIONS, PUT, DELETE, PATCH"
    assert answer.header("Access-Control-Allow-Credentials") == "true"
    assert answer.header("Access-Control-Expose-Headers") == "Date"
    assert "Authorization" in (answer.header("Access-Control-Allow-Headers") or "")


def test_a_preflight_is_answered_at_once() -> None:
    def app(_env: dict[str, Any], _start_response: Any) -> Any:
        raise AssertionError("not reached")

    answer = call(chain(app, cors, on=_origins("^https://x", "$")), "/api", "OPTIONS", ORIGIN)
    assert (answer.code, answer.body) == (204, b"")
    assert answer.header("Access-Control-Allow-Origin") == "https://x.example.com"


@pytest.mark.parametrize("headers", [{}, {"Origin": "https://evil.example.net"}])
def test_others_are_served_without_the_headers(headers: dict[str, str]) -> None:
    wrapped = chain(answering(), cors, on=_origins(r"//x\.example\.com(:|$)"))
    for method in ("GET", "OPTIONS"):
        answer = call(wrapped, "/api", method, headers)
        assert answer.code == 200
        assert not [name for name, _ in answer.headers if name.startswith("Access-Control")]


@pytest.mark.parametrize("expression", ["(", "example.com", "^example.com", "example.com$"])
def test_expressions_must_compile_and_be_pinned(expression: str) -> None:
    with pytest.raises(ValueError, match="invalid regular expression"):
        cors.check((expression,))


def test_pinned_expressions_are_accepted() -> None:
    cors.check((r"^https://example\.com$", r"//example\.com(:|$)", r"://localhost:"))
