"""Subresources through the real kubectl: tokens, drains, debugging, resizing, and what needs a kubelet."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tests.kubectl import KUBECTLS, Kubectl
from tests.server import ServerProcess


@pytest.fixture
def kubectl(server: ServerProcess, namespace: str, tmp_path: Path) -> Kubectl:
    return Kubectl(KUBECTLS["1.37"], server.kubeconfig, namespace, tmp_path / "cache")


def test_a_created_token_opens_the_door_until_its_account_is_gone(
    kubectl: Kubectl, server: ServerProcess, namespace: str
) -> None:
    kubectl.run("create", "serviceaccount", "bot")
    token = kubectl.run("create", "token", "bot", "--duration=20m").strip()
    with server.connect(token) as client:
        made = client.post(f"/api/v1/namespaces/{namespace}/configmaps", json={"metadata": {"name": "mine"}})
    assert made.status_code == 201
    kubectl.run("delete", "serviceaccount", "bot")
    deadline = time.monotonic() + 10
    with server.connect(token) as client:
        while client.get("/api").status_code != 401:
            assert time.monotonic() < deadline
            time.sleep(0.02)


def test_a_drain_waits_for_the_budget(kubectl: Kubectl, namespace: str) -> None:
    node = f"node-{namespace}"
    kubectl.run("create", "-f", "-", text=json.dumps({"apiVersion": "v1", "kind": "Node", "metadata": {"name": node}}))
    kubectl.run("wait", "--for=create", "serviceaccount/default", "--timeout=20s")
    kubectl.run("run", "web", "--image=nginx", f"--overrides={json.dumps({'spec': {'nodeName': node}})}")
    ready = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}
    kubectl.run("patch", "pod", "web", "--subresource=status", "-p", json.dumps(ready))
    kubectl.run("create", "poddisruptionbudget", "web", "--selector=run=web", "--min-available=1")
    counts = {"observedGeneration": 1, "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1}
    status = {"status": {**counts, "disruptionsAllowed": 0}}
    kubectl.run("patch", "pdb", "web", "--subresource=status", "--type=merge", "-p", json.dumps(status))
    drain = ("drain", node, "--force", "--grace-period=0")
    refused = kubectl.run(*drain, "--timeout=2s", ok=False)
    assert "Cannot evict pod as it would violate the pod's disruption budget." in refused
    status = {"status": {"disruptionsAllowed": 1, "currentHealthy": 2}}
    kubectl.run("patch", "pdb", "web", "--subresource=status", "--type=merge", "-p", json.dumps(status))
    assert "drained" in kubectl.run(*drain, "--timeout=30s")
    assert "NotFound" in kubectl.run("get", "pod", "web", ok=False)


def test_a_pod_is_debugged_and_resized(kubectl: Kubectl) -> None:
    resources = {"requests": {"cpu": "100m"}}
    kubectl.run("wait", "--for=create", "serviceaccount/default", "--timeout=20s")
    containers = [{"name": "web", "image": "nginx", "resources": resources}]
    kubectl.run("run", "web", "--image=nginx", f"--overrides={json.dumps({'spec': {'containers': containers}})}")
    kubectl.run("debug", "web", "--image=busybox", "--container=look", "--target=web", "--attach=false")
    joined = kubectl.run("get", "pod", "web", "-o", "jsonpath={.spec.ephemeralContainers[*].name}")
    assert joined.endswith("look")
    changed = {"spec": {"containers": [{"name": "web", "resources": {"requests": {"cpu": "150m"}}}]}}
    assert "patched" in kubectl.run("patch", "pod", "web", "--subresource=resize", "-p", json.dumps(changed))
    changed["spec"]["containers"][0]["resources"] = {"requests": {"ephemeral-storage": "1Gi"}}
    refused = kubectl.run("patch", "pod", "web", "--subresource=resize", "-p", json.dumps(changed), ok=False)
    assert "only cpu and memory resources are mutable" in refused


def test_without_a_kubelet_logs_are_empty_and_commands_are_refused(kubectl: Kubectl) -> None:
    kubectl.run("wait", "--for=create", "serviceaccount/default", "--timeout=20s")
    kubectl.run("run", "web", "--image=nginx")
    assert kubectl.run("logs", "web") == ""
    assert "pod web does not have a host assigned" in kubectl.run("exec", "web", "--", "ls", ok=False)
