"""The health of a running server, and its metrics."""

from __future__ import annotations

import pytest

from tests.server import ServerProcess

ENDPOINTS = ("healthz", "livez", "readyz")


@pytest.mark.parametrize("endpoint", ENDPOINTS)
def test_a_running_server_is_well(server: ServerProcess, endpoint: str) -> None:
    answer = server.get(f"/{endpoint}")
    assert (answer.status_code, answer.text) == (200, "ok")


@pytest.mark.parametrize("endpoint", ENDPOINTS)
def test_what_is_checked_can_be_seen(server: ServerProcess, endpoint: str) -> None:
    lines = server.get(f"/{endpoint}?verbose").text.splitlines()
    assert lines[-1] == f"{endpoint} check passed"
    checks = {line.removeprefix("[+]").removesuffix(" ok") for line in lines[:-1]}
    assert {"ping", "log", "etcd", "poststarthook/start-system-namespaces-controller"} <= checks
    assert ("shutdown" in checks) == (endpoint == "readyz")


def test_each_check_can_be_asked_or_left_out(server: ServerProcess) -> None:
    assert server.get("/readyz/etcd").text == "ok"
    assert server.get("/livez/shutdown").status_code == 404
    assert "[+]etcd excluded: ok" in server.get("/readyz?verbose&exclude=etcd").text


def test_metrics_count_what_was_asked(server: ServerProcess, configmaps: str) -> None:
    server.get(configmaps)
    text = server.get("/metrics").text
    lines = [x for x in text.splitlines() if x.startswith("apiserver_request_total{") and 'verb="LIST"' in x]
    assert any('resource="configmaps"' in line and 'code="200"' in line for line in lines)
    assert "# TYPE apiserver_request_duration_seconds histogram" in text


def test_those_who_are_nobody_may_not_ask(server: ServerProcess) -> None:
    with server.connect(token=None) as client:
        assert client.get("/metrics").status_code == 401
