"""The recorded answers of kube-apiserver, asked of this server on each store.

``pending.toml`` names the scenarios that need what is not built yet, with the reason. A scenario that is not named
there must pass; one that is named and passes must be taken out, so that the list stays true.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import STORES
from tests.etcd_server import EtcdServer
from tests.server import ServerProcess

HERE = Path(__file__).parent
AREAS = (
    *(
        "admin",
        "admission",
        "apply",
        "cel",
        "collections",
        "core",
        "crds",
        "customresources",
        "discovery",
        "fieldvalidation",
        "health",
    ),
    *("http", "lifecycle", "lists", "names", "negotiation", "network", "openapi", "patch", "pods", "policy", "rbac"),
    *("storage", "subresources", "tables", "watch", "workloads"),
)
SECONDS = 300


@pytest.fixture(scope="module", params=STORES)
def golden_server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server with the settings that the answers were recorded with; its keys begin as theirs."""
    folder = tmp_path_factory.mktemp("golden")
    (folder / "tokens.csv").write_text((HERE / "tokens.csv").read_text())
    arguments = ["--authorization-mode=RBAC", "--anonymous-auth=true", "--service-cluster-ip-range=10.96.0.0/16"]
    arguments += ["--controllers=", "--runtime-config=api/all=true", "--endpoint-reconciler-type=none"]
    arguments += ["--feature-gates=APIServerIdentity=true,StorageVersionAPI=true"]
    with contextlib.ExitStack() as stack:
        if request.param == "etcd":
            etcd = stack.enter_context(EtcdServer(tmp_path_factory.mktemp("golden-etcd")))
            arguments.append(f"--etcd-servers={etcd.endpoint}")
        yield stack.enter_context(ServerProcess(folder, *arguments))


def check(server: ServerProcess, areas: tuple[str, ...]) -> dict[str, list[str]]:
    """Play ``areas``; scenario -> the steps that differ, with what differs."""
    command = [sys.executable, "-m", "golden", "check", f"--server={server.url}", f"--ca={server.ca}", "--json"]
    command += [f"--area={area}" for area in areas]
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode in (0, 1), done.stderr
    report = json.loads(done.stdout)
    return {scenario["scenario"]: _differences(scenario) for scenario in report["scenarios"]}


def _differences(scenario: dict[str, object]) -> list[str]:
    steps = scenario["steps"]
    assert isinstance(steps, list)
    return [
        f"{step['step']}{d['pointer']}: expected {d['expected']!r}, got {d['got']!r}"
        for step in steps
        for d in step["differences"]
    ]


def test_every_scenario_that_is_not_pending_is_answered_as_kube_apiserver_answers_it(
    golden_server: ServerProcess,
) -> None:
    pending = {f"{area}/{name}" for area, names in tomllib.loads((HERE / "pending.toml").read_text()).items()
               for name in names}  # fmt: skip
    outcome = check(golden_server, AREAS)
    failed = {name for name, differences in outcome.items() if differences}
    unexpected = {name: outcome[name] for name in failed - pending}
    assert not unexpected, json.dumps(unexpected, indent=1)[:6000]
    assert not (pending & set(outcome)) - failed, "these pass: take them out of pending.toml"


def test_the_tool_notices_wrong_answers() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "golden", "selftest"],
        cwd=HERE,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
