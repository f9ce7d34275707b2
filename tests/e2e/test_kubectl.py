"""What a newcomer types: real kubectl, two minors of it, against a real server: on each store, and under gthread."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import STORES
from tests.kubectl import KUBECTLS, SECONDS, Kubectl
from tests.server import GTHREAD, ServerProcess

GUESTBOOK = Path(__file__).parent / "guestbook.yaml"


@pytest.fixture(params=(*STORES, GTHREAD), scope="session")
def server(request: pytest.FixtureRequest, servers: Callable[[str], ServerProcess]) -> ServerProcess:
    """A running server; kubectl shows it the certificate of the administrator."""
    return servers(request.param)


@pytest.fixture(params=list(KUBECTLS))
def kubectl(request: pytest.FixtureRequest, server: ServerProcess, namespace: str, tmp_path: Path) -> Kubectl:
    return Kubectl(KUBECTLS[request.param], server.kubeconfig, namespace, tmp_path / "cache")


def test_the_guestbook_is_applied_read_and_deleted(kubectl: Kubectl) -> None:
    assert "deployment.apps/frontend created" in kubectl.run("apply", "-f", str(GUESTBOOK))
    assert kubectl.run("apply", "-f", str(GUESTBOOK)).count("unchanged") == 6
    listed = kubectl.run("get", "all", "-o", "wide")
    assert "service/redis-master" in listed
    assert "deployment.apps/frontend" in listed
    assert "registry.k8s.io/redis:e2e" in listed
    described = kubectl.run("describe", "deployment", "frontend")
    assert "StrategyType:           RollingUpdate" in described
    assert "25% max unavailable, 25% max surge" in described
    assert "Type:" in kubectl.run("describe", "service", "frontend")
    deleted = kubectl.run("delete", "-f", str(GUESTBOOK))
    assert deleted.count("deleted") == 6
    assert "No resources found" in kubectl.run("get", "all")


def test_explain_tells_fields_and_their_types(kubectl: Kubectl) -> None:
    told = kubectl.run("explain", "deployment.spec")
    assert "GROUP:      apps" in told
    assert "replicas\t<integer>" in told
    assert "-required-" in told
    assert "FIELD: containerPort <integer>" in kubectl.run("explain", "pod.spec.containers.ports.containerPort")


def test_explain_reads_the_v2_document_as_protobuf_too(kubectl: Kubectl) -> None:
    told = kubectl.run("explain", "deployment.spec", "--recursive", "--output=plaintext-openapiv2")
    assert "KIND:     Deployment" in told
    assert "replicas\t<integer>" in told
    assert "matchLabels\t<map[string]string>" in told


def test_objects_are_patched_labelled_annotated_and_scaled(kubectl: Kubectl) -> None:
    kubectl.run("create", "deployment", "web", "--image=nginx:1", "--replicas=2")
    assert "patched" in kubectl.run("patch", "deployment", "web", "-p", '{"spec":{"minReadySeconds":3}}')
    assert "labeled" in kubectl.run("label", "deployment", "web", "tier=front")
    assert "annotated" in kubectl.run("annotate", "deployment", "web", "note=hello")
    assert "scaled" in kubectl.run("scale", "deployment", "web", "--replicas=5")
    assert "image updated" in kubectl.run("set", "image", "deployment/web", "nginx=nginx:2")
    stored = json.loads(kubectl.run("get", "deployment", "web", "-o", "json"))
    assert stored["spec"]["minReadySeconds"] == 3
    assert stored["spec"]["replicas"] == 5
    assert stored["metadata"]["labels"]["tier"] == "front"
    assert stored["metadata"]["annotations"]["note"] == "hello"
    assert stored["spec"]["template"]["spec"]["containers"][0]["image"] == "nginx:2"
    assert stored["metadata"]["generation"] == 5  # a new annotation counts for Deployments, as upstream has it


def test_edit_changes_what_the_editor_changed(
    kubectl: Kubectl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kubectl.run("create", "configmap", "settings", "--from-literal=colour=red")
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nsed -i 's/colour: red/colour: green/' \"$1\"\n")
    editor.chmod(0o755)
    monkeypatch.setenv("KUBE_EDITOR", str(editor))
    assert "edited" in kubectl.run("edit", "configmap", "settings")
    assert kubectl.run("get", "configmap", "settings", "-o", "jsonpath={.data.colour}") == "green"


def test_wait_ends_when_the_condition_is_met(kubectl: Kubectl, server: ServerProcess, namespace: str) -> None:
    kubectl.run("create", "deployment", "web", "--image=nginx:1")
    waiting = kubectl.start("wait", "deployment/web", "--for=condition=Available", "--timeout=30s")
    status = {"status": {"conditions": [{"type": "Available", "status": "True"}]}}
    answer = server.patch(f"/apis/apps/v1/namespaces/{namespace}/deployments/web/status", status)
    assert answer.status_code == 200, answer.text
    out, _ = waiting.communicate(timeout=SECONDS)
    assert waiting.returncode == 0, out
    assert "condition met" in out


def test_a_second_terminal_sees_changes_as_they_happen(kubectl: Kubectl) -> None:
    watching = kubectl.start("get", "configmaps", "-w", "--output-watch-events")
    try:
        time.sleep(1)  # nothing tells when the watch is open; later events are what counts
        kubectl.run("create", "configmap", "seen", "--from-literal=a=1")
        kubectl.run("delete", "configmap", "seen")
        assert watching.stdout is not None
        lines: list[str] = []
        while not any(line.startswith("DELETED") and "seen" in line for line in lines):
            line = watching.stdout.readline()
            assert line, lines
            lines.append(line)
        assert any(line.startswith("ADDED") and "seen" in line for line in lines)
    finally:
        watching.terminate()
        watching.communicate(timeout=SECONDS)


def test_a_namespace_is_created_and_ends_when_deleted(kubectl: Kubectl, namespace: str) -> None:
    name = f"{namespace}-x"
    assert "created" in kubectl.run("create", "ns", name)
    kubectl.run("create", "configmap", "inside", "-n", name)
    assert "deleted" in kubectl.run("delete", "ns", name, "--timeout=30s")
    assert "not found" in kubectl.run("get", "ns", name, ok=False)


def test_server_side_apply_owns_fields_and_tells_conflicts(kubectl: Kubectl) -> None:
    manifest = json.dumps(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "owned"}, "data": {"colour": "red"}}
    )
    assert "serverside-applied" in kubectl.run("apply", "--server-side", "-f", "-", text=manifest)
    other = manifest.replace("red", "blue")
    refused = kubectl.run("apply", "--server-side", "--field-manager=other", "-f", "-", text=other, ok=False)
    assert 'conflict with "kubectl": .data.colour' in refused
    kubectl.run("apply", "--server-side", "--field-manager=other", "--force-conflicts", "-f", "-", text=other)
    assert kubectl.run("get", "configmap", "owned", "-o", "jsonpath={.data.colour}") == "blue"
