"""``/version``, ``/metrics`` and the index."""

from __future__ import annotations

import re

import pytest

from apiserver.api.names import GroupResource
from apiserver.handlers import index, metrics, version
from tests.wsgi import call


def test_the_version_says_which_kubernetes_it_is() -> None:
    answer = call(version.app(36), "/version")
    assert answer.code == 200
    assert answer.header("Content-Type") == "application/json"
    document = answer.json
    assert {key: document[key] for key in document if "ajor" in key or "inor" in key} == {
        "major": "1", "minor": "36", "emulationMajor": "1", "emulationMinor": "36", "minCompatibilityMajor": "1",
        "minCompatibilityMinor": "35",
    }  # fmt: skip
    assert re.fullmatch(r"v1\.36\.0\+apiserver\.[0-9A-Za-z.-]+", document["gitVersion"])
    others = ("gitCommit", "gitTreeState", "buildDate", "goVersion", "compiler", "platform")
    assert all(isinstance(document[key], str) for key in others)
    assert answer.text.startswith('{\n  "')


@pytest.mark.parametrize(
    "accept", ["*/*", "application/json", "text/html, */*;q=0.1", "application/yaml,application/json"]
)
def test_the_version_is_json(accept: str) -> None:
    assert call(version.app(36), "/version", headers={"Accept": accept}).code == 200


def test_the_version_is_nothing_but_json() -> None:
    answer = call(version.app(36), "/version", headers={"Accept": "application/yaml"})
    assert answer.code == 406


def test_metrics_are_in_prometheus_form() -> None:
    answer = call(metrics.app(lambda: {GroupResource("apps", "deployments"): 3}), "/metrics")
    assert answer.header("Content-Type") == "text/plain; version=0.0.4; charset=utf-8; escaping=underscores"
    for line in (
        "# TYPE apiserver_request_total counter",
        "# TYPE apiserver_request_duration_seconds histogram",
        "# TYPE apiserver_current_inflight_requests gauge",
        "# TYPE process_start_time_seconds gauge",
        'apiserver_storage_objects{resource="deployments.apps"} 3.0',
        'apiserver_resource_objects{group="apps",resource="deployments"} 3.0',
    ):
        assert line in answer.text.splitlines()


def test_metrics_can_be_had_in_openmetrics_form() -> None:
    accept = "application/openmetrics-text;version=1.0.0,text/plain;q=0.5"
    answer = call(metrics.app(dict), "/metrics", headers={"Accept": accept})
    assert (answer.header("Content-Type") or "").startswith("application/openmetrics-text")
    assert answer.text.endswith("# EOF\n")


def test_the_index_lists_paths_once_and_sorted() -> None:
    answer = call(index.app(lambda: ["/b", "/a", "/b"]), "/")
    assert answer.json == {"paths": ["/a", "/b"]}
