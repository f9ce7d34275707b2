"""``/healthz``, ``/livez``, ``/readyz`` and the checks below them."""

from __future__ import annotations

import pytest

from apiserver.api import logs
from apiserver.api.health import HealthCheck
from apiserver.handlers.health import Health
from tests.wsgi import Answer, call


def _broken() -> None:
    raise RuntimeError("the secret reason")


CHECKS = [
    HealthCheck("ping", lambda: None),
    HealthCheck("etcd", lambda: None),
    HealthCheck("shutdown", lambda: None, frozenset(("readyz",))),
]
FAILING = [*CHECKS, HealthCheck("poststarthook/x", _broken)]


def _get(path: str, checks: list[HealthCheck] = CHECKS, method: str = "GET") -> Answer:
    health = Health("readyz", lambda: checks)
    return call(health.one if path.startswith("/readyz/") else health.all, path, method)


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_all_is_well(method: str) -> None:
    answer = _get("/readyz", method=method)
    assert (answer.code, answer.text) == (200, "ok")
    assert answer.header("Content-Type") == "text/plain; charset=utf-8"
    assert answer.header("X-Content-Type-Options") == "nosniff"


def test_head_has_no_body() -> None:
    answer = _get("/readyz", method="HEAD")
    assert (answer.code, answer.text, answer.header("Content-Length")) == (200, "", "2")


@pytest.mark.parametrize("query", ["verbose", "verbose=", "verbose=false"])
def test_verbose_lists_the_checks(query: str) -> None:
    assert _get(f"/readyz?{query}").text == "[+]ping ok\n[+]etcd ok\n[+]shutdown ok\nreadyz check passed\n"


def test_a_failure_is_verbose_but_keeps_its_reason_for_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logs.level(2)):
        answer = _get("/readyz", FAILING)
    assert answer.code == 500
    assert answer.text == (
        "[+]ping ok\n[+]etcd ok\n[+]shutdown ok\n[-]poststarthook/x failed: reason withheld\nreadyz check failed\n"
    )
    assert "the secret reason" in caplog.text
    assert "poststarthook/x check failed: readyz" in caplog.text


def test_checks_can_be_excluded() -> None:
    answer = _get("/readyz?verbose&exclude=poststarthook/x&exclude=ping", FAILING)
    assert answer.code == 200
    assert answer.text == (
        "[+]ping excluded: ok\n[+]etcd ok\n[+]shutdown ok\n[+]poststarthook/x excluded: ok\nreadyz check passed\n"
    )


def test_what_is_excluded_must_exist() -> None:
    lines = _get("/readyz?verbose&exclude=nothing&exclude=nor-this").text.splitlines()
    assert lines[-2:] == [
        'warn: some health checks cannot be excluded: no matches for "nothing", "nor-this"',
        "readyz check passed",
    ]


def test_one_check_can_be_asked() -> None:
    answer = _get("/readyz/ping")
    assert (answer.code, answer.text) == (200, "ok")
    assert answer.header("X-Content-Type-Options") is None


def test_who_may_ask_for_one_check_sees_its_reason() -> None:
    answer = _get("/readyz/poststarthook/x", FAILING)
    assert (answer.code, answer.text) == (500, "internal server error: the secret reason\n")


@pytest.mark.parametrize("path", ["/readyz/", "/readyz/nothing", "/readyz/poststarthook"])
def test_other_checks_are_not_found(path: str) -> None:
    answer = _get(path, FAILING)
    assert (answer.code, answer.text) == (404, "404 page not found\n")


def test_checks_belong_to_endpoints() -> None:
    health = Health("livez", lambda: CHECKS)
    assert health.paths() == ["/livez", "/livez/ping", "/livez/etcd"]
    assert call(health.one, "/livez/shutdown").code == 404


def test_somebody_is_told_when_all_passed() -> None:
    told: list[bool] = []
    for checks, count in ((FAILING, 0), (CHECKS, 1)):
        call(Health("readyz", lambda c=checks: c, lambda: told.append(True)).all, "/readyz")
        assert len(told) == count
