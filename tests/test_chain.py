"""Wrapping the application in filters."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import pytest

from apiserver import chain
from apiserver.api import logs
from apiserver.api.request import Request
from apiserver.manager import Call
from apiserver_plugins.filters import audit_init
from tests.wsgi import answering, call, server


def _filter(name: str, passed: list[str], stays_out: bool = False) -> Call:
    def wrap(inner: Any) -> Any:
        def app(environ: dict[str, Any], start_response: Any) -> Any:
            passed.append(name)
            request = Request.of(environ)
            request.times = {} if request.times is None else request.times
            return inner(environ, start_response)

        return app

    return Call(SimpleNamespace(name=name), lambda _server: None if stays_out else wrap)


def test_the_first_filter_is_outermost_and_none_stays_out() -> None:
    passed: list[str] = []
    filters = [_filter("a", passed), _filter("b", passed, stays_out=True), _filter("c", passed)]
    assert call(chain.wrap(answering(), filters, server()), "/").code == 200
    assert passed == ["a", "c"]


def test_layers_are_timed_at_verbosity_6(caplog: pytest.LogCaptureFixture) -> None:
    filters = [
        Call(SimpleNamespace(name="audit-init"), lambda _server: audit_init.wrap),
        _filter("a", []),
        _filter("b", []),
    ]
    with caplog.at_level(logs.level(6), "apiserver.chain"):
        app = chain.wrap(answering(), filters, server())
    times = call(app, "/").request.times
    assert times is not None
    assert {name for name in times if "further" not in name} == {"handler", "filter/b", "filter/a", "filter/audit-init"}
    assert all(seconds >= 0 for seconds in times.values())


def test_layers_are_not_timed_otherwise(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "apiserver.chain"):
        app = chain.wrap(answering(), [_filter("a", [])], server())
    assert call(app, "/").request.times == {}
