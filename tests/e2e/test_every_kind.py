"""Every kind of every version that can be served, through the real kubectl, on each store.

The kinds come from discovery, so a new one fails here until it has an object in ``minimal_objects.yaml`` (or in
``minimal_requests.yaml`` when it can only be created). kubectl is asked for all of them at once where it can be; only
a watch needs a process for each kind.
"""

from __future__ import annotations

import contextlib
import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import STORES, store_arguments
from tests.kubectl import KUBECTLS, Kubectl
from tests.server import ServerProcess

GATES = (
    "APIServerIdentity", "ClusterTrustBundle", "GenericWorkload", "PodCertificateRequest", "StorageVersionAPI",
    "StorageVersionMigrator",
)  # fmt: skip
EVERYTHING = ("--runtime-config=api/all=true", f"--feature-gates={','.join(f'{gate}=true' for gate in GATES)}")
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
NAMESPACE = "minimal"
HERE = Path(__file__).parent
UPSTREAM = json.loads((HERE.parent / "plugins" / "resources" / "data" / "served.json").read_text())
COLUMNS = {f"{entry['groupVersion']}/{entry['plural']}": entry.get("columns", ()) for entry in UPSTREAM}
BEHIND_GATES = {
    "certificates.k8s.io/v1beta1/clustertrustbundles": ["NAME", "SIGNERNAME"],
    "certificates.k8s.io/v1alpha1/clustertrustbundles": ["NAME", "SIGNERNAME"],
    "certificates.k8s.io/v1beta1/podcertificaterequests": ["NAME", "CREATED AT"],
    "scheduling.k8s.io/v1alpha2/podgroups": ["NAME", "CREATED AT"],
    "scheduling.k8s.io/v1alpha2/workloads": ["NAME", "CREATED AT"],
    "storagemigration.k8s.io/v1beta1/storageversionmigrations": ["NAME", "CREATED AT"],
}
WATCH_SECONDS = 60.0
SERVER_SIDE = ("--server-side", "--force-conflicts")

Object = dict[str, Any]
Kind = tuple[str, str]
"""apiVersion and kind."""


class _Loader(yaml.CSafeLoader):
    """Leaves times the texts that they are."""


_Loader.add_constructor("tag:yaml.org,2002:timestamp", yaml.SafeLoader.construct_yaml_str)


def documents(text: str) -> list[Object]:
    return list(yaml.load_all(text, _Loader))


def objects(name: str) -> list[Object]:
    return documents((HERE / name).read_text().replace("NAMESPACE", NAMESPACE))


STORED = objects("minimal_objects.yaml")
REQUESTS = objects("minimal_requests.yaml")


def kind_of(obj: Object) -> Kind:
    return obj["apiVersion"], obj["kind"]


def listed(items: list[Object]) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items})


def labelled(items: list[Object], value: str) -> list[Object]:
    """Copies with a label."""
    return [{**obj, "metadata": {**obj["metadata"], "labels": {"step": value}}} for obj in items]


def missing(found: Any, sent: Any, path: str = "") -> list[str]:
    """The paths of what was sent and is not there."""
    if isinstance(sent, dict) and isinstance(found, dict):
        return [text for key, value in sent.items() for text in missing(found.get(key), value, f"{path}.{key}")]
    if isinstance(sent, list) and isinstance(found, list) and len(sent) == len(found):
        pairs = enumerate(zip(found, sent, strict=True))
        return [text for index, (one, other) in pairs for text in missing(one, other, f"{path}[{index}]")]
    return [] if found == sent else [f"{path}: {found!r}, not {sent!r}"]


@pytest.fixture(params=STORES, scope="module")
def everything(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server that serves all that there is."""
    arguments = store_arguments(request.param, request)
    with ServerProcess(tmp_path_factory.mktemp("everything"), *EVERYTHING, *arguments) as server:
        server.namespace(NAMESPACE)
        ends = time.monotonic() + WATCH_SECONDS
        while server.get(f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/default").status_code != 200:  # pods need it
            assert time.monotonic() < ends
            time.sleep(0.05)
        yield server


@pytest.fixture
def kubectl(everything: ServerProcess, tmp_path: Path) -> Kubectl:
    made = Kubectl(KUBECTLS["1.37"], everything.kubeconfig, NAMESPACE, tmp_path / "cache")
    made.run("api-resources")  # what it remembers of the server is there for all that are started together
    return made


@pytest.fixture
def discovered(everything: ServerProcess) -> dict[Kind, Object]:
    """What discovery says of each kind, and the name that kubectl has for it."""
    found = {}
    for root in ("/api", "/apis"):
        for group in everything.get(root, headers={"Accept": AGGREGATED}).json()["items"]:
            name = group["metadata"].get("name", "")
            for version in group["versions"]:
                for entry in version["resources"]:
                    api_version = f"{name}/{version['version']}" if name else version["version"]
                    entry["argument"] = f"{entry['resource']}.{version['version']}.{name}"
                    entry["columns"] = f"{api_version}/{entry['resource']}"
                    found[api_version, entry["responseKind"]["kind"]] = entry
    return found


def header(entry: Object) -> list[str]:
    """The columns of a wide table."""
    upstream = [name.upper() for name, *_ in COLUMNS.get(entry["columns"], ())]
    return upstream or BEHIND_GATES[entry["columns"]]


def read(kubectl: Kubectl) -> list[Object]:
    """All objects as YAML, in the order of the file."""
    (found,) = documents(kubectl.answer("get", "-f", "-", "-o", "yaml", text=listed(STORED)))
    items: list[Object] = found["items"]
    return items


@pytest.fixture
def seen(kubectl: Kubectl, discovered: dict[Kind, Object], tmp_path: Path) -> Iterator[Callable[[str], None]]:
    """Waits until the watch of each kind has told of an event; the watches begin before the objects are made."""
    with contextlib.ExitStack() as stack:
        files = {}
        for kind in map(kind_of, STORED):
            files[kind] = stack.enter_context((tmp_path / "-".join(kind).replace("/", "-")).open("w+"))
            arguments = ("get", discovered[kind]["argument"], "--watch", "--output-watch-events", "-o", "wide")
            process = kubectl.start(*arguments, output=files[kind])
            stack.callback(process.wait)
            stack.callback(process.terminate)

        def told(obj: Object, event: str) -> bool:
            lines = Path(files[kind_of(obj)].name).read_text().splitlines()
            return any(line.startswith(event) and obj["metadata"]["name"] in line.split() for line in lines)

        def wait(event: str) -> None:
            ends = time.monotonic() + WATCH_SECONDS
            while late := [obj for obj in STORED if not told(obj, event)]:
                assert time.monotonic() < ends, [(obj, Path(files[kind_of(obj)].name).read_text()) for obj in late]
                time.sleep(0.05)

        yield wait


def test_every_kind_is_created_read_listed_watched_applied_and_deleted(
    kubectl: Kubectl, discovered: dict[Kind, Object], seen: Callable[[str], None]
) -> None:
    stored = {kind for kind, entry in discovered.items() if {"create", "get"} <= set(entry["verbs"])}
    assert stored == set(map(kind_of, STORED)), "minimal_objects.yaml has one object for each kind"

    assert kubectl.answer("create", "-f", "-", text=listed(STORED)).count(" created\n") == len(STORED)
    seen("ADDED")
    for found, sent in zip(read(kubectl), STORED, strict=True):
        assert missing(found, sent) == [], sent

    arguments = [entry["argument"] for entry in discovered.values() if "list" in entry["verbs"]]
    tables = kubectl.answer("get", ",".join(arguments), "-o", "wide").strip().split("\n\n")
    headers = [re.split(" {2,}", table.partition("\n")[0].strip()) for table in tables]
    assert headers == [header(entry) for entry in discovered.values() if "list" in entry["verbs"]]

    for value, options, word in (("client", (), "configured"), ("server", SERVER_SIDE, "serverside-applied")):
        told = kubectl.answer("apply", *options, "-f", "-", text=listed(labelled(STORED, value)))
        assert told.count(f" {word}\n") == len(STORED)
        applied = read(kubectl)
        assert {obj["metadata"]["labels"]["step"] for obj in applied} == {value}
        for found, sent in zip(applied, STORED, strict=True):
            assert missing(found, sent) == [], sent

    # kubectl asks five times a second whether each is gone; the watches tell it sooner.
    told = kubectl.answer("delete", "--wait=false", "-f", "-", text=listed(STORED))
    assert told.count(" deleted") == len(STORED)
    seen("DELETED")
    assert kubectl.answer("get", "--ignore-not-found", "-f", "-", text=listed(STORED)) == ""


def test_kinds_that_are_only_created_answer(
    kubectl: Kubectl, discovered: dict[Kind, Object], everything: ServerProcess
) -> None:
    only = {kind for kind, entry in discovered.items() if entry["verbs"] == ["create"]}
    assert only == set(map(kind_of, REQUESTS)), "minimal_requests.yaml has one object for each kind"
    pod = {"metadata": {"name": "bound"}, "spec": {"containers": [{"name": "main", "image": "example.com/minimal:1"}]}}
    assert everything.post(f"/api/v1/namespaces/{NAMESPACE}/pods", pod).status_code == 201
    told = documents(kubectl.answer("create", "-f", "-", "-o", "yaml", text=listed(REQUESTS)))
    answers = {answer["kind"]: answer.get("status") for answer in told}
    assert answers.pop("Status") == "Success"
    assert everything.get(f"/api/v1/namespaces/{NAMESPACE}/pods/bound").json()["spec"]["nodeName"] == "minimal"
    assert answers.pop("SelfSubjectReview")["userInfo"]["username"] == "kubernetes-admin"
    assert answers.pop("TokenReview")["user"]["username"] == "admin"
    assert answers.pop("SelfSubjectRulesReview")["incomplete"] is False
    assert [answers[kind]["allowed"] for kind in sorted(answers)] == [True, True, True]
    assert len(told) == len(REQUESTS)


def test_kinds_that_are_only_read_are_listed_and_shown(kubectl: Kubectl, discovered: dict[Kind, Object]) -> None:
    readable = {kind: entry for kind, entry in discovered.items() if "create" not in entry["verbs"]}
    assert {kind: entry["verbs"] for kind, entry in readable.items()} == {("v1", "ComponentStatus"): ["get", "list"]}
    (found,) = documents(kubectl.answer("get", "componentstatuses", "-o", "yaml"))
    name = found["items"][0]["metadata"]["name"]
    (one,) = documents(kubectl.answer("get", "componentstatus", name, "-o", "yaml"))
    assert (one["kind"], one["metadata"]["name"]) == ("ComponentStatus", name)
    assert one["conditions"][0]["type"] == "Healthy"
