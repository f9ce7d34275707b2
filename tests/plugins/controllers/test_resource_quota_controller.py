"""What ResourceQuotas say is used: on real servers with either store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.plugins.controllers.owning import eventually
from tests.server import ServerProcess

Object = dict[str, Any]


class Quotas:
    """Quotas and other objects in one namespace."""

    def __init__(self, server: ServerProcess, namespace: str) -> None:
        self.server = server
        self.base = f"/api/v1/namespaces/{namespace}"
        self.apps = f"/apis/apps/v1/namespaces/{namespace}"

    def limit(
        self, hard: dict[str, str], name: str = "q", *, scopes: tuple[str, ...] = (), terms: tuple[Object, ...] = ()
    ) -> None:
        """Make a quota."""
        spec: Object = {"hard": hard}
        if scopes:
            spec["scopes"] = list(scopes)
        if terms:
            spec["scopeSelector"] = {"matchExpressions": list(terms)}
        self.post("resourcequotas", {"metadata": {"name": name}, "spec": spec})

    def post(self, plural: str, body: Object, base: str = "") -> Object:
        answer = self.server.post(f"{base or self.base}/{plural}", body)
        assert answer.status_code == 201, answer.text
        made: Object = answer.json()
        return made

    def pod(self, name: str, requests: Object | None = None, limits: Object | None = None, **spec: Any) -> Object:
        container: Object = {
            "name": "c",
            "image": "i",
            "resources": {"requests": requests or {}, "limits": limits or {}},
        }
        return self.post("pods", {"metadata": {"name": name}, "spec": {"containers": [container], **spec}})

    def status(self, name: str = "q") -> Object:
        found: Object = self.server.get(f"{self.base}/resourcequotas/{name}").json().get("status", {})
        return found

    def used(self, expected: dict[str, str], name: str = "q") -> bool:
        """Whether the quota comes to say this."""
        eventually(lambda: self.status(name).get("used") == expected)
        assert self.status(name).get("used") == expected
        return True


@pytest.fixture
def quotas(server: ServerProcess, namespace: str) -> Quotas:
    return Quotas(server, namespace)


def test_a_new_quota_counts_what_is_there_and_what_comes_and_goes(quotas: Quotas) -> None:
    for name in ("a", "b"):
        quotas.post("secrets", {"metadata": {"name": name}})
    quotas.limit({"secrets": "10", "count/deployments.apps": "3", "resourcequotas": "1"})
    assert quotas.used({"count/deployments.apps": "0", "resourcequotas": "1", "secrets": "2"})
    assert quotas.status()["hard"] == {"count/deployments.apps": "3", "resourcequotas": "1", "secrets": "10"}
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    quotas.post("deployments", {"metadata": {"name": "d"}, "spec": spec}, quotas.apps)
    quotas.post("secrets", {"metadata": {"name": "c"}})
    assert quotas.used({"count/deployments.apps": "1", "resourcequotas": "1", "secrets": "3"})
    quotas.server.delete(f"{quotas.base}/secrets/a").raise_for_status()
    quotas.server.delete(f"{quotas.apps}/deployments/d").raise_for_status()
    assert quotas.used({"count/deployments.apps": "0", "resourcequotas": "1", "secrets": "2"})


def test_pods_are_charged_until_they_end(quotas: Quotas) -> None:
    limited = ("pods", "cpu", "requests.memory", "limits.cpu", "count/pods", "requests.example.com/gpu")
    quotas.limit({**dict.fromkeys(limited, "9"), "requests.memory": "9Gi"})
    requests = {"cpu": "250m", "memory": "1Gi", "example.com/gpu": "1"}
    quotas.pod("one", requests, {"cpu": "500m", "example.com/gpu": "1"})
    quotas.pod("two", {"cpu": "250m", "memory": "512Mi"}, {"cpu": "1"})
    both = {
        "count/pods": "2", "cpu": "500m", "limits.cpu": "1500m", "pods": "2", "requests.example.com/gpu": "1",
        "requests.memory": "1536Mi",
    }  # fmt: skip
    assert quotas.used(both)
    ended = {"status": {"phase": "Succeeded"}}
    quotas.server.patch(f"{quotas.base}/pods/one/status", ended).raise_for_status()
    rest = {
        "count/pods": "2", "cpu": "250m", "limits.cpu": "1", "pods": "1", "requests.example.com/gpu": "0",
        "requests.memory": "512Mi",
    }  # fmt: skip
    assert quotas.used(rest)
    for name in ("one", "two"):
        quotas.server.delete(f"{quotas.base}/pods/{name}?gracePeriodSeconds=0").raise_for_status()
    nothing = dict.fromkeys(rest, "0")
    assert quotas.used(nothing)


def test_scopes_choose_the_pods_that_are_charged(quotas: Quotas) -> None:
    quotas.limit({"pods": "5"}, "best", scopes=("BestEffort",))
    quotas.limit({"pods": "5", "cpu": "4"}, "other", scopes=("NotBestEffort", "NotTerminating"))
    quotas.limit({"pods": "5"}, "ending", scopes=("Terminating",))
    term = {"scopeName": "PriorityClass", "operator": "In", "values": ["system-node-critical"]}
    quotas.limit({"pods": "5"}, "critical", terms=(term,))
    quotas.pod("idle")
    quotas.pod("busy", {"cpu": "1"})
    quotas.pod("ends", {"cpu": "2"}, activeDeadlineSeconds=600)
    quotas.pod("vital", {"cpu": "2"}, priorityClassName="system-node-critical")
    assert quotas.used({"pods": "1"}, "best")
    assert quotas.used({"pods": "2", "cpu": "3"}, "other")
    assert quotas.used({"pods": "1"}, "ending")
    assert quotas.used({"pods": "1"}, "critical")


def test_services_are_charged_for_their_node_ports_and_load_balancers(quotas: Quotas) -> None:
    quotas.limit(dict.fromkeys(("services", "services.nodeports", "services.loadbalancers"), "9"))
    ports = [{"port": 80, "name": "a"}, {"port": 81, "name": "b"}]
    kinds: tuple[tuple[str, Object], ...] = (
        ("ClusterIP", {}),
        ("NodePort", {}),
        ("LoadBalancer", {"allocateLoadBalancerNodePorts": False}),
    )
    for kind, more in kinds:
        body = {"metadata": {"name": kind.lower()}, "spec": {"type": kind, "ports": ports, **more}}
        quotas.post("services", body)
    assert quotas.used({"services": "3", "services.loadbalancers": "1", "services.nodeports": "2"})
    quotas.server.patch(f"{quotas.base}/services/nodeport", {"spec": {"type": "ClusterIP"}}).raise_for_status()
    assert quotas.used({"services": "3", "services.loadbalancers": "1", "services.nodeports": "0"})


def test_claims_are_charged_by_storage_class(quotas: Quotas) -> None:
    fast = "fast.storageclass.storage.k8s.io"
    names = ("requests.storage", "persistentvolumeclaims", f"{fast}/requests.storage", f"{fast}/persistentvolumeclaims")
    quotas.limit(dict.fromkeys(names, "100Gi"))
    for name, more in (("a", {"storageClassName": "fast"}), ("b", {"storageClassName": "slow"})):
        spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "5Gi"}}, **more}
        quotas.post("persistentvolumeclaims", {"metadata": {"name": name}, "spec": spec})
    assert quotas.used(dict(zip(names, ("10Gi", "2", "5Gi", "1"), strict=True)))


def test_a_quota_that_changes_is_looked_at_again(quotas: Quotas) -> None:
    quotas.limit({"configmaps": "5"})
    assert eventually(lambda: "configmaps" in quotas.status().get("used", {}))
    quotas.post("services", {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}})
    path = f"{quotas.base}/resourcequotas/q"
    quotas.server.patch(path, {"spec": {"hard": {"configmaps": None, "services": "5"}}}).raise_for_status()
    assert quotas.used({"services": "1"})
    assert quotas.status()["hard"] == {"services": "5"}


def test_what_nobody_can_count_is_not_told(quotas: Quotas) -> None:
    quotas.limit({"count/widgets.example.com": "5", "secrets": "5"})
    assert quotas.used({"secrets": "0"})


def test_what_was_charged_beforehand_is_not_taken_back_by_something_new(quotas: Quotas) -> None:
    quotas.limit({"secrets": "10", "services": "10"})
    assert quotas.used({"secrets": "0", "services": "0"})
    path = f"{quotas.base}/resourcequotas/q"
    quotas.server.patch(f"{path}/status", {"status": {"used": {"secrets": "5"}}}).raise_for_status()
    quotas.post("services", {"metadata": {"name": "a"}, "spec": {"ports": [{"port": 80}]}})
    assert quotas.used({"secrets": "5", "services": "1"})
    quotas.server.delete(f"{quotas.base}/services/a").raise_for_status()
    assert quotas.used({"secrets": "0", "services": "0"})


def test_several_processes_come_to_the_same_and_then_rest(tmp_path: Path) -> None:
    with ServerProcess(tmp_path, "--workers=2") as server:
        quotas = Quotas(server, server.namespace("n"))
        quotas.limit({"secrets": "100"})
        for i in range(30):
            quotas.post("secrets", {"metadata": {"name": f"s{i}"}})
        assert quotas.used({"secrets": "30"})
        for i in range(30):
            server.delete(f"{quotas.base}/secrets/s{i}").raise_for_status()
        assert quotas.used({"secrets": "0"})
        version = server.get(f"{quotas.base}/resourcequotas").json()["metadata"]["resourceVersion"]
        changes = list(server.watch(f"{quotas.base}/resourcequotas", resourceVersion=version, timeoutSeconds=2))
        assert [change for change in changes if change["type"] != "BOOKMARK"] == []
        assert "Traceback" not in server.log.read_text()
