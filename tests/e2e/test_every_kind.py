"""Every kind that discovery lists, through the real kubectl: made, read, listed, watched, applied and deleted."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.conftest import STORES, store_arguments
from tests.kubectl import KUBECTLS, Kubectl
from tests.server import ServerProcess

Object = dict[str, Any]
NAMESPACE = "every-kind"
OBJECTS: Object = yaml.safe_load((Path(__file__).parent / "minimal_objects.yaml").read_text())
AGGREGATED = {"Accept": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}
FLAGS = (
    "--runtime-config=api/all=true",
    "--feature-gates=APIServerIdentity=true,StorageVersionAPI=true,StorageVersionMigrator=true",
    "--controllers=namespace-controller,serviceaccount-controller,persistentvolumeclaim-protection-controller,"
    "persistentvolume-protection-controller",
)
KEPT = {"create", "delete", "get", "list", "patch", "update", "watch"}


@dataclass(frozen=True)
class Served:
    """A resource of discovery."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool
    verbs: frozenset[str]

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def name(self) -> str:
        return re.sub("[^a-z0-9]", "-", f"{self.plural}-{self.version}-{self.group.split('.')[0]}").strip("-")

    def path(self, name: str = "") -> str:
        base = f"/apis/{self.api_version}" if self.group else f"/api/{self.api_version}"
        scope = f"/namespaces/{NAMESPACE}" if self.namespaced else ""
        return f"{base}{scope}/{self.plural}" + (f"/{name}" if name else "")

    def body(self, number: int) -> Object:
        """Its minimal object. :raises KeyError: there is none."""
        found = OBJECTS.get(f"{self.api_version} {self.kind}") or OBJECTS[self.kind]
        text = json.dumps(found)
        replaced = {"NAMESPACE": NAMESPACE, "NAME": self.name, "ADDRESS": f"10.96.200.{number}"}
        replaced |= {"CIDR": f"10.{100 + number}.0.0/24", "REQUEST": REQUEST}
        for word, value in replaced.items():
            text = text.replace(word, value)
        body = json.loads(text)
        metadata = {"name": self.name, **({"namespace": NAMESPACE} if self.namespaced else {})}
        return {
            "apiVersion": self.api_version,
            "kind": self.kind,
            **body,
            "metadata": metadata | body.get("metadata", {}),
        }


def _request() -> str:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "somebody")])
    made = x509.CertificateSigningRequestBuilder().subject_name(name)
    signed = made.sign(ec.generate_private_key(ec.SECP256R1()), hashes.SHA256())
    return base64.b64encode(signed.public_bytes(serialization.Encoding.PEM)).decode()


REQUEST = _request()


@pytest.fixture(scope="module", params=STORES)
def everything(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server with every kind there is."""
    with ServerProcess(tmp_path_factory.mktemp("every"), *store_arguments(request.param, request), *FLAGS) as server:
        server.namespace(NAMESPACE)
        account = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/default"
        ends = time.monotonic() + 30
        while server.get(account).status_code != 200:  # which pods need
            assert time.monotonic() < ends
            time.sleep(0.05)
        yield server


@pytest.fixture(scope="module")
def served(everything: ServerProcess) -> list[Served]:
    found = []
    for root in ("/api", "/apis"):
        for group in everything.get(root, headers=AGGREGATED).json()["items"]:
            for version in group["versions"]:
                found += [
                    Served(
                        group["metadata"].get("name", ""),
                        version["version"],
                        resource["resource"],
                        resource["responseKind"]["kind"],
                        resource["scope"] == "Namespaced",
                        frozenset(resource["verbs"]),
                    )
                    for resource in version["resources"]
                ]
    return found


@pytest.fixture
def kubectl(everything: ServerProcess, tmp_path: Path) -> Kubectl:
    return Kubectl(KUBECTLS["1.37"], everything.kubeconfig, NAMESPACE, tmp_path / "cache")


def first(told: str) -> Object:
    """The object that kubectl has printed before its warnings."""
    found: Object = json.JSONDecoder().raw_decode(told)[0]
    return found


def differences(sent: Any, stored: Any, path: str = "") -> list[str]:
    """What was sent and is not there."""
    if isinstance(sent, dict) and isinstance(stored, dict):
        return [
            d
            for key, value in sent.items()
            if value != {}
            for d in differences(value, stored.get(key), f"{path}.{key}")
        ]
    if isinstance(sent, list) and isinstance(stored, list) and len(sent) == len(stored):
        return [d for i, value in enumerate(sent) for d in differences(value, stored[i], f"{path}[{i}]")]
    return [] if sent == stored or sent == [] else [f"{path}: sent {sent!r}, stored {stored!r}"]


def test_every_kind_is_made_read_listed_watched_applied_and_deleted(
    everything: ServerProcess, served: list[Served], kubectl: Kubectl, tmp_path: Path
) -> None:
    kept = [one for one in served if one.verbs >= KEPT]
    bodies = {one: one.body(number) for number, one in enumerate(kept, 1)}
    file = tmp_path / "all.yaml"
    file.write_text(yaml.safe_dump_all(bodies.values()))

    made = kubectl.run("create", "-f", str(file))
    assert made.count(" created") == len(kept), made

    read = first(kubectl.run("get", "-f", str(file), "-o", "json"))["items"]
    # Of a Secret, stringData is read back as data.
    sent = [{key: value for key, value in body.items() if key != "stringData"} for body in bodies.values()]
    lost = [differences(*pair) for pair in zip(sent, read, strict=True)]
    assert [(body["kind"], told) for body, told in zip(sent, lost, strict=True) if told] == []

    table = kubectl.run("get", "-f", str(file))
    assert table.count("NAME ") >= len({one.kind for one in kept}) - 5, table

    applied = [{**body, "metadata": {**body["metadata"], "labels": {"applied": "yes"}}} for body in bodies.values()]
    file.write_text(yaml.safe_dump_all(applied))
    assert kubectl.run("apply", "-f", str(file)).count(" configured") == len(kept)
    told = kubectl.run("apply", "--server-side", "--force-conflicts", "-f", str(file))
    assert told.count(" serverside-applied") == len(kept), told

    watched(kubectl, bodies)

    deleted = kubectl.run("delete", "-f", str(file), "--wait=true", "--timeout=60s")
    assert deleted.count(" deleted") == len(kept), deleted
    for one, body in bodies.items():
        assert everything.get(one.path(body["metadata"]["name"])).status_code == 404, one


def watched(kubectl: Kubectl, bodies: dict[Served, Object]) -> None:
    """Each kind's watch begins with the object, seen through kubectl's own connection."""
    proxy = subprocess.Popen(
        [*kubectl._command, "proxy", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        assert proxy.stdout is not None
        url = "http://" + proxy.stdout.readline().rpartition(" ")[2].strip()
        with httpx.Client(base_url=url, timeout=30.0) as client:
            for one, body in bodies.items():
                name = body["metadata"]["name"]
                query = {"watch": "true", "fieldSelector": f"metadata.name={name}", "timeoutSeconds": "20"}
                with client.stream("GET", one.path(), params=query) as answer:
                    event = json.loads(next(answer.iter_lines()))
                assert (event["type"], event["object"]["kind"], event["object"]["metadata"]["name"]) == (
                    "ADDED",
                    one.kind,
                    name,
                )
    finally:
        proxy.terminate()
        proxy.wait(10)


def test_what_is_not_kept_is_answered(everything: ServerProcess, served: list[Served], kubectl: Kubectl) -> None:
    rest = [one for one in served if not one.verbs >= KEPT]
    assert {one.kind for one in rest if "create" not in one.verbs} == {"ComponentStatus"}
    assert "NAME" in kubectl.run("get", "componentstatuses") + "NAME"
    pod = {"metadata": {"name": "bound", "namespace": NAMESPACE}, "spec": OBJECTS["Pod"]["spec"]}
    everything.post(f"/api/v1/namespaces/{NAMESPACE}/pods", pod).raise_for_status()
    for number, one in enumerate(one for one in rest if "create" in one.verbs):
        body = one.body(number)
        if one.kind == "Binding":
            body["metadata"]["name"] = "bound"
        if one.kind.endswith("Review"):
            body["metadata"].pop("name")
        told = kubectl.run("create", "-f", "-", "-o", "json", text=json.dumps(body))
        kinds = {one.kind, "Status"}
        assert first(told)["kind"] in kinds, told


def test_no_minimal_object_is_left_over(served: list[Served]) -> None:
    known = {one.kind for one in served} | {f"{one.api_version} {one.kind}" for one in served}
    assert set(OBJECTS) - known == set()
