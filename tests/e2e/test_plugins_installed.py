"""Plugins of other people, installed with pip beside our wheel, under a gunicorn started by hand.

The plugins are the examples of the documentation: a kind, a filter and an admission plugin, each a distribution.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kubectl import KUBECTLS, Kubectl
from tests.server import GunicornProcess
from tests.wheels import EXAMPLES, Environment, install_beside, own_wheel, wheel_of

PLUGINS = ("parties", "served-by", "required-labels")
PARTY = {
    "apiVersion": "party.example.com/v1",
    "kind": "Party",
    "metadata": {"name": "summer"},
    "spec": {"host": "ada", "guests": 20},
}
STRICT = {
    "apiVersion": "v1",
    "kind": "Namespace",
    "metadata": {"name": "strict", "annotations": {"policy.example.com/required-labels": "owner"}},
}
SECONDS = 30.0


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """A fresh environment with our wheel and the three plugins."""
    folder = tmp_path_factory.mktemp("installed")
    made = Environment(folder / "venv")
    made.install(own_wheel(folder), *(wheel_of(EXAMPLES / name, folder) for name in PLUGINS))
    return made


@pytest.fixture(scope="module")
def server(environment: Environment, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GunicornProcess]:
    settings = {"APISERVER_SERVED_BY_NAME": "the back door"}
    with GunicornProcess(tmp_path_factory.mktemp("server"), environment.bin, settings) as running:
        yield running


@pytest.fixture(scope="module")
def kubectl(server: GunicornProcess, tmp_path_factory: pytest.TempPathFactory) -> Kubectl:
    return Kubectl(KUBECTLS["1.37"], server.kubeconfig, "default", tmp_path_factory.mktemp("cache"))


def run(environment: Environment, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """The command ``apiserver`` of the environment; ``more`` are environment variables."""
    return subprocess.run(
        [environment.bin / "apiserver", *words],
        env={**os.environ, **more},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def test_the_plugins_are_listed_with_their_distributions(environment: Environment) -> None:
    listed = json.loads(run(environment, "plugins", "--json").stdout)["plugins"]
    found = {plugin["name"]: plugin["distribution"] for plugin in listed if plugin["distribution"] != "apiserver"}
    assert found == {name: f"apiserver-{name}" for name in PLUGINS}


def test_a_kind_is_discovered_and_explained(kubectl: Kubectl) -> None:
    found = kubectl.run("api-resources", "--api-group=party.example.com", "--no-headers").split()
    assert found == ["parties", "pt", "party.example.com/v1", "true", "Party"]
    assert "party.example.com/v1" in kubectl.run("api-versions").split()
    explained = kubectl.run("explain", "party.spec")
    assert "GROUP:      party.example.com" in explained
    assert "host\t<string> -required-\n    Who invites." in explained


def test_objects_of_the_kind_are_created_shown_changed_and_deleted(kubectl: Kubectl) -> None:
    assert "party.party.example.com/summer created" in kubectl.run("create", "-f", "-", text=json.dumps(PARTY))
    heading, row = kubectl.run("get", "pt").splitlines()
    assert heading.split() == ["NAME", "HOST", "GUESTS", "PHASE", "AGE"]
    assert row.split()[:4] == ["summer", "ada", "20", "Planned"]
    assert "the garden" in kubectl.run("get", "parties", "-o", "wide")
    assert "party.party.example.com/summer" in kubectl.run("get", "all")
    assert "patched" in kubectl.run("patch", "pt", "summer", "--type=merge", "-p", '{"spec":{"guests":30}}')
    assert kubectl.run("get", "pt", "summer", "-o", "jsonpath={.spec.guests} {.metadata.generation}") == "30 2"
    status = ("--subresource=status", "--type=merge", "-p", '{"status":{"phase":"Running"}}')
    assert "patched" in kubectl.run("patch", "pt", "summer", *status)
    assert "Running" in kubectl.run("get", "pt", "--field-selector=spec.host=ada")
    assert "No resources" in kubectl.run("get", "pt", "--field-selector=spec.host=bob")
    assert "deleted" in kubectl.run("delete", "pt", "summer")
    assert "not found" in kubectl.run("get", "pt", "summer", ok=False)


def test_the_rules_of_the_kind_hold(kubectl: Kubectl) -> None:
    crowded = {**PARTY, "metadata": {"name": "crowded"}, "spec": {"host": "ada", "guests": 101}}
    refused = kubectl.run("create", "-f", "-", text=json.dumps(crowded), ok=False)
    assert "spec.guests: Invalid value: 101: spec.guests in body should be less than or equal to 100" in refused
    nobody = {**PARTY, "metadata": {"name": "nobody"}, "spec": {"guests": 3}}
    refused = kubectl.run("create", "--validate=false", "-f", "-", text=json.dumps(nobody), ok=False)
    assert 'The Party "nobody" is invalid: spec.host: Required value' in refused
    narrow = {**PARTY, "metadata": {"name": "narrow"}, "spec": {"host": "ada", "place": "the kitchen", "guests": 6}}
    refused = kubectl.run("create", "-f", "-", text=json.dumps(narrow), ok=False)
    assert 'The Party "narrow" is invalid: spec.guests: Invalid value: 6: the kitchen holds 5' in refused
    misspelt = {**PARTY, "metadata": {"name": "misspelt"}, "spec": {"host": "ada", "guest": 3}}
    refused = kubectl.run("create", "-f", "-", text=json.dumps(misspelt), ok=False)
    assert 'unknown field "spec.guest"' in refused


def test_the_filters_header_is_on_every_answer(server: GunicornProcess) -> None:
    with server.connect(token=None) as stranger:
        answers = [server.get("/version"), server.get("/api/v1/namespaces"), server.get("/apis/none/v1/x")]
        answers += [stranger.get("/api/v1/pods"), stranger.get("/livez")]
    assert [answer.status_code for answer in answers] == [200, 200, 404, 401, 401]
    assert {answer.headers["X-Served-By"] for answer in answers} == {"the back door"}


def test_the_admission_plugin_refuses_with_its_own_words(kubectl: Kubectl) -> None:
    kubectl.run("create", "-f", "-", text=json.dumps(STRICT))
    refused = kubectl.run("create", "configmap", "mine", "--namespace=strict", ok=False)
    assert "configmaps \"mine\" is forbidden: namespace strict requires the label 'owner'" in refused
    labelled = {**PARTY, "metadata": {"name": "labelled", "namespace": "strict", "labels": {"owner": "ada"}}}
    assert "created" in kubectl.run("create", "-f", "-", "--namespace=strict", text=json.dumps(labelled))


def test_plugins_that_contradict_stop_the_start_with_all_that_is_wrong(
    environment: Environment, tmp_path: Path
) -> None:
    project = tmp_path / "wrong"
    project.mkdir()
    (project / "pyproject.toml").write_text(WRONG_PROJECT)
    (project / "wrong.py").write_text(WRONG)
    install_beside(tmp_path / "site", wheel_of(project, tmp_path))
    started = run(
        environment, "serve", "--secure-port=0", f"--data-dir={tmp_path / 'data'}", PYTHONPATH=str(tmp_path / "site")
    )
    assert started.returncode == 2, started.stdout
    assert started.stdout == ""
    assert not (tmp_path / "data").exists()
    place = f"wrong ({tmp_path / 'site' / 'wrong.py'}:"
    for problem in (
        "apiserver: 7 plugin problems, the server did not start:",
        f"apiserver_filter: multiples of 100 belong to the built-in plugins, {place}6) has 200; ",
        "apiserver_filter: priority 200 is taken twice, by panic-recovery (",
        f"apiserver_filter: {place}6) has 200 but must run after 'request-info', which has 500",
        f"apiserver_filter: {place}6) requires 'nobody', which is not installed or is disabled",
        f"apiserver_validate: write @hookimpl(priority=N) in {place}11)",
        f"apiserver_admit: has no argument 'object', it passes request, in {place}16)",
        f"apiserver_start: there is no such hook, did you mean 'apiserver_started'?, in {place}21)",
    ):
        assert problem in started.stderr


WRONG_PROJECT = """
[project]
name = "wrong"
version = "1.0"

[project.entry-points."apiserver.filters"]
wrong = "wrong"

[tool.setuptools]
py-modules = ["wrong"]
"""
WRONG = """
from apiserver import hookimpl



@hookimpl(priority=200, after="request-info", requires="nobody")
def apiserver_filter(server):
    return None


@hookimpl
def apiserver_validate(request):
    pass


@hookimpl(priority=50)
def apiserver_admit(object):
    pass


@hookimpl
def apiserver_start(server):
    pass
"""
