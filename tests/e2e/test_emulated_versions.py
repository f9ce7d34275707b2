"""Real kubectl, two minors of it, against servers that answer as older Kubernetes: explain, apply, get."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from apiserver.schema import builtin
from apiserver.schema.decode import decode
from tests.kubectl import KUBECTLS, Kubectl
from tests.server import ServerProcess

MINORS = (28, 32, 36)
WORKLOADS = Path(__file__).parent / "workloads.yaml"
_numbers = itertools.count()

# A field of pods with the minor that it came with.
FIELDS = {
    "spec.resourceClaims": 26,
    "spec.containers.restartPolicy": 28,
    "spec.resources": 32,
    "spec.hostnameOverride": 34,
}
# Name for kubectl -> kind, group, and fields that every minor has.
WORKLOAD_KINDS = {
    "pods": ("Pod", "", "containers volumes nodeName"),
    "services": ("Service", "", "ports selector clusterIP"),
    "deployments": ("Deployment", "apps", "replicas selector template strategy"),
    "statefulsets": ("StatefulSet", "apps", "serviceName volumeClaimTemplates updateStrategy"),
    "daemonsets": ("DaemonSet", "apps", "selector template updateStrategy"),
    "jobs": ("Job", "batch", "completions parallelism backoffLimit template"),
    "cronjobs": ("CronJob", "batch", "schedule jobTemplate suspend"),
}
BETA = {28: "flowcontrol.apiserver.k8s.io/v1beta3"}


@pytest.fixture(params=MINORS, scope="module")
def emulated(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[int, ServerProcess]]:
    """A server for each minor; the newest one is the default."""
    minor = request.param
    flags = [] if minor == MINORS[-1] else [f"--emulated-version=1.{minor}"]
    with ServerProcess(tmp_path_factory.mktemp(f"emulated{minor}"), *flags) as server:
        yield minor, server


@pytest.fixture(params=list(KUBECTLS))
def kubectl(request: pytest.FixtureRequest, emulated: tuple[int, ServerProcess], tmp_path: Path) -> Kubectl:
    server = emulated[1]
    namespace = server.namespace(f"test-{next(_numbers)}")
    return Kubectl(KUBECTLS[request.param], server.kubeconfig, namespace, tmp_path / "cache")


def test_the_server_says_which_version_it_is(kubectl: Kubectl, emulated: tuple[int, ServerProcess]) -> None:
    told = json.loads(kubectl.run("version", "-o", "json").partition("\nWarning")[0])["serverVersion"]
    assert (told["major"], told["minor"]) == ("1", str(emulated[0]))
    assert told["gitVersion"].startswith(f"v1.{emulated[0]}.")


def test_versions_are_those_that_the_minor_had_on(kubectl: Kubectl, emulated: tuple[int, ServerProcess]) -> None:
    versions = kubectl.run("api-versions").split()
    assert {"apps/v1", "batch/v1", "autoscaling/v2", "networking.k8s.io/v1", "policy/v1", "v1"} <= set(versions)
    assert ("flowcontrol.apiserver.k8s.io/v1" in versions) == (emulated[0] >= 29)
    assert ("resource.k8s.io/v1" in versions) == (emulated[0] >= 34)
    beta = {version for version in versions if "beta" in version or "alpha" in version}
    assert beta == ({"flowcontrol.apiserver.k8s.io/v1beta2", BETA[28]} if emulated[0] == 28 else set())


def test_explain_knows_the_fields_of_the_minor(kubectl: Kubectl, emulated: tuple[int, ServerProcess]) -> None:
    for field, since in FIELDS.items():
        known = emulated[0] >= since
        told = kubectl.run("explain", f"pod.{field}", ok=known)
        assert ("FIELD:" in told) == known, field
    assert "replicas\t<integer>" in kubectl.run("explain", "deployment.spec", "--recursive")
    assert "GROUP:      batch" in kubectl.run("explain", "cronjobs")


def test_explain_tells_of_every_workload(kubectl: Kubectl) -> None:
    for resource, (kind, group, fields) in WORKLOAD_KINDS.items():
        told = kubectl.run("explain", f"{resource}.spec")
        assert f"KIND:       {kind}" in told
        assert ("GROUP:" in told) == bool(group)
        assert f"GROUP:      {group}" in told or not group
        for field in fields.split():
            assert f"  {field}\t<" in told


def test_workloads_have_the_fields_of_the_minor_and_no_later_ones(
    kubectl: Kubectl, emulated: tuple[int, ServerProcess]
) -> None:
    kubectl.run("apply", "-f", str(WORKLOADS))
    shown = json.loads(kubectl.answer("get", "-f", str(WORKLOADS), "-o", "json"))["items"]
    assert sorted(obj["kind"] for obj in shown) == sorted(kind for kind, _, _ in WORKLOAD_KINDS.values())
    for obj in shown:
        group, _, version = obj["apiVersion"].rpartition("/")
        node = builtin.types(emulated[0]).kind(group, version, obj["kind"])
        assert node is not None
        assert decode(obj, node).strict == [], obj["kind"]
    assert len(re.findall("^Name: ", kubectl.run("describe", "-f", str(WORKLOADS)), re.MULTILINE)) == len(shown)


def test_workloads_are_applied_and_shown(kubectl: Kubectl) -> None:
    created = kubectl.run("apply", "-f", str(WORKLOADS))
    assert created.count(" created") == 7, created
    assert kubectl.run("apply", "-f", str(WORKLOADS)).count(" unchanged") == 7
    assert (
        kubectl.run("apply", "--server-side", "--force-conflicts", "-f", str(WORKLOADS)).count("serverside-applied")
        == 7
    )
    listed = kubectl.run("get", "pods,deployments,statefulsets,daemonsets,jobs,cronjobs,services", "-o", "wide")
    for name in ("pod/web", "deployment.apps/web", "statefulset.apps/web", "daemonset.apps/web", "job.batch/web"):
        assert name in listed
    assert "service/web" in listed
    kubectl.run("scale", "deployment", "web", "--replicas=3")
    assert kubectl.run("get", "deployment", "web", "-o", "jsonpath={.spec.replicas}") == "3"
    assert kubectl.run("delete", "-f", str(WORKLOADS)).count("deleted") == 7


def test_fields_that_came_later_are_unknown(kubectl: Kubectl, emulated: tuple[int, ServerProcess]) -> None:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "later"},
        "spec": {"containers": [{"name": "c", "image": "i"}], "hostnameOverride": "other"},
    }
    known = emulated[0] >= FIELDS["spec.hostnameOverride"]
    told = kubectl.run("create", "--validate=strict", "-f", "-", text=json.dumps(pod), ok=known)
    assert ('unknown field "spec.hostnameOverride"' in told) != known
