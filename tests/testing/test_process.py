"""The server process that authors of clients use in their tests."""

from __future__ import annotations

import ssl
import subprocess
import urllib.request

import pytest

from apiserver.testing.process import ServerProcess
from tests.kubectl import KUBECTLS, Kubectl

pytest_plugins = ["apiserver.testing.fixtures"]


def test_the_fixture_is_a_server_that_kubectl_can_use(apiserver_process: ServerProcess, tmp_path) -> None:
    kubectl = Kubectl(KUBECTLS["1.37"], apiserver_process.kubeconfig, "default", tmp_path)
    assert "namespace/default" in kubectl.run("get", "namespaces", "-o", "name")
    context = ssl.create_default_context(cafile=str(apiserver_process.ca))
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(f"{apiserver_process.url}/version", context=context)


def test_nothing_is_left_of_it() -> None:
    with ServerProcess("--v=3") as server:
        folder = server.kubeconfig.parent
        assert "/readyz" in server.log
    assert not folder.exists()
    assert subprocess.run(["ps", "-p", str(server.pid)], capture_output=True, check=False).returncode == 1


def test_why_it_does_not_start_is_raised() -> None:
    with pytest.raises(RuntimeError, match="unknown flag: --no-such-flag"), ServerProcess("--no-such-flag"):
        pass
