"""Our wheel alone in an empty environment: it brings what it needs, and serves."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.kubectl import KUBECTLS, Kubectl
from tests.server import ServerProcess
from tests.wheels import Environment, own_wheel


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    folder = tmp_path_factory.mktemp("alone")
    made = Environment(folder / "venv")
    made.install(own_wheel(folder))
    return made


def run(environment: Environment, *words: str) -> str:
    done = subprocess.run(
        [environment.bin / "apiserver", *words], capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout


def test_the_installed_wheel_serves(environment: Environment, tmp_path: Path) -> None:
    with ServerProcess(tmp_path, python=environment.python) as server:
        kubectl = Kubectl(KUBECTLS["1.37"], server.kubeconfig, "default", tmp_path / "cache")
        assert "configmap/mine created" in kubectl.run("create", "configmap", "mine", "--from-literal=a=1")
        assert "mine" in kubectl.run("get", "configmaps")
        assert "replicas\t<integer>" in kubectl.run("explain", "deployment.spec")
        assert server.stop() == 0


def test_the_installed_commands_work(environment: Environment) -> None:
    assert run(environment, "version").startswith("apiserver ")
    listed = json.loads(run(environment, "plugins", "--json"))
    assert listed["problems"] == []
    assert {plugin["distribution"] for plugin in listed["plugins"]} == {"apiserver"}
    assert "/api/v1/namespaces/{namespace}/pods/{name}" in run(environment, "routes")
    assert "apiserver_filter" in run(environment, "hooks")
