"""Connections into pods, nodes and services: what is checked here, what a plugin gets, and what is said without one."""

from __future__ import annotations

import types
from typing import Any

import pytest

from apiserver import hookimpl
from apiserver.manager import PluginError
from apiserver.testing.server import LocalServer
from tests.plugins.resources.pod.cluster import Cluster, connecters

UPGRADE = {"Connection": "Upgrade", "Upgrade": "websocket"}
STREAMS = ("exec", "attach", "portforward")


# -- what upstream says before it would contact a kubelet -----------------------------------------------------------


@pytest.mark.parametrize("subresource", [*STREAMS, "log", "proxy"])
def test_a_missing_pod_is_not_found(cluster: Cluster, subresource: str) -> None:
    assert cluster.refused(cluster.get(f"pods/none/{subresource}"), 404, "NotFound") == 'pods "none" not found'


@pytest.mark.parametrize("subresource", STREAMS)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_pod_on_no_node_has_no_streams(cluster: Cluster, subresource: str, method: str) -> None:
    cluster.pod()
    answer = cluster.server.request(method, f"{cluster.path}/pods/p/{subresource}")
    assert cluster.refused(answer, 400, "BadRequest") == "pod p does not have a host assigned"


def test_a_pod_on_no_node_has_an_empty_log(cluster: Cluster) -> None:
    cluster.pod()
    answer = cluster.get("pods/p/log")
    assert (answer.status, answer.body) == (204, b"")


@pytest.mark.parametrize("subresource", ["exec", "attach", "log"])
def test_of_several_containers_one_must_be_named(cluster: Cluster, subresource: str) -> None:
    two = [{"name": name, "image": "x"} for name in ("a", "b")]
    cluster.pod(containers=two, initContainers=[{"name": "i", "image": "x"}])
    assert cluster.refused(cluster.get(f"pods/p/{subresource}"), 400, "BadRequest") == (
        "a container name must be specified for pod p, choose one of: [a b] or one of the init containers: [i]"
    )
    answer = cluster.get(f"pods/p/{subresource}?container=z")
    assert cluster.refused(answer, 400, "BadRequest") == "container z is not valid for pod p"
    assert cluster.get(f"pods/p/{subresource}?container=i").status in (204, 400)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("tailLines=-1", "tailLines: Invalid value: -1: must be greater than or equal to 0"),
        ("limitBytes=0", "limitBytes: Invalid value: 0: must be greater than 0"),
        ("sinceSeconds=0", "sinceSeconds: Invalid value: 0: must be greater than 0"),
        ("stream=Stdout", "stream: Forbidden: may not be specified"),
        (
            "sinceSeconds=1&sinceTime=2024-01-01T00:00:00Z",
            "<nil>: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified",
        ),
    ],
)
def test_log_options_are_checked_before_the_pod_is_looked_for(cluster: Cluster, query: str, message: str) -> None:
    answer = cluster.get(f"pods/none/log?{query}")
    assert cluster.refused(answer, 422, "Invalid") == f'PodLogOptions "none" is invalid: {message}'


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("pods/p/log?tailLines=x", 'strconv.ParseInt: parsing "x": invalid syntax'),
        ("pods/p/log?sinceTime=x", 'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"'),
        ("pods/p/portforward?ports=80,x", 'strconv.ParseInt: parsing "x": invalid syntax'),
        ("pods/ftp:p:80/proxy/", 'invalid pod request "ftp:p:80"'),
        ("services/a:b:c:d/proxy", 'invalid service request "a:b:c:d"'),
    ],
)
def test_what_cannot_be_read_is_a_bad_request(cluster: Cluster, path: str, message: str) -> None:
    cluster.pod()
    assert cluster.refused(cluster.get(path), 400, "BadRequest") == message


@pytest.mark.parametrize("address", ["", "127.0.0.1", "169.254.0.1", "224.0.0.1", "::1"])
def test_requests_are_not_sent_to_addresses_of_the_server_itself(cluster: Cluster, address: str) -> None:
    cluster.pod()
    if address:
        cluster.status("p", podIPs=[{"ip": address}], podIP=address)
    assert cluster.refused(cluster.get("pods/p/proxy/x"), 400, "BadRequest") == "address not allowed"


def test_logs_are_text(cluster: Cluster) -> None:
    cluster.pod()
    assert cluster.get("pods/p/log", headers={"Accept": "text/plain"}).status == 204
    answer = cluster.get("pods/p/log", headers={"Accept": "image/png"})
    assert cluster.refused(answer, 406, "NotAcceptable").startswith(
        "406: Not Acceptable\n\nAvailable representations: text/plain, "
    )


# -- without a plugin -----------------------------------------------------------------------------------------------


def test_without_a_plugin_the_answer_names_what_is_missing(cluster: Cluster, unserved: Any) -> None:
    node = cluster.node("10.0.0.1")
    cluster.pod(nodeName=node)
    for subresource in STREAMS:
        answer = cluster.get(f"pods/p/{subresource}", headers=UPGRADE)
        assert cluster.refused(answer, 503, "ServiceUnavailable") == (
            f'cannot reach the kubelet of node "{node}": this server does not connect to nodes and pods itself, '
            f"and no plugin serves pods/{subresource} (hook apiserver_connecters)"
        )
    assert "pods/log" in cluster.refused(cluster.get("pods/p/log"), 503, "ServiceUnavailable")
    answer = cluster.server.get(f"/api/v1/nodes/{node}/proxy/metrics")
    assert "nodes/proxy" in cluster.refused(answer, 503, "ServiceUnavailable")


def test_without_a_plugin_a_stream_still_needs_an_upgrade(cluster: Cluster, unserved: Any) -> None:
    cluster.pod(nodeName=cluster.node("10.0.0.1"))
    for subresource in STREAMS:
        answer = cluster.post(f"pods/p/{subresource}")
        assert cluster.refused(answer, 400, "BadRequest") == "Upgrade request required"


def test_without_a_plugin_the_node_must_be_there_and_have_an_address(cluster: Cluster, unserved: Any) -> None:
    cluster.pod(nodeName="nowhere")
    assert cluster.refused(cluster.get("pods/p/log"), 404, "NotFound") == 'nodes "nowhere" not found'
    cluster.pod("q", nodeName=cluster.node())
    assert cluster.refused(cluster.get("pods/q/log"), 500) == "no preferred addresses found; known addresses: []"


# -- with one -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "subresource", "options"),
    [
        ("exec?command=ls&command=-l&stdin=false&stdout=1&tty=", "pods/exec",
         {"command": ["ls", "-l"], "stdout": True, "tty": True, "container": "c"}),
        ("attach?stderr=true", "pods/attach", {"stderr": True, "container": "c"}),
        ("portforward?ports=80,81&ports=443", "pods/portforward", {"ports": [80, 81, 443]}),
        ("log?follow=true&tailLines=0&timestamps=0", "pods/log", {"follow": True, "tailLines": 0, "container": "c"}),
    ],
)  # fmt: skip
def test_a_plugin_gets_the_pod_and_the_options(cluster: Cluster, query: str, subresource: str, options: Any) -> None:
    cluster.pod(nodeName="anywhere")
    assert cluster.get(f"pods/p/{query}").json == [subresource, "p", options, ""]


@pytest.mark.parametrize(
    ("name", "location"),
    [
        ("p", "http://10.9.8.7:8080"),
        ("p:9000", "http://10.9.8.7:9000"),
        ("https:p:9000", "https://10.9.8.7:9000"),
        ("http:p:", "http://10.9.8.7:8080"),
    ],
)
def test_a_request_to_a_pod_goes_to_its_address(cluster: Cluster, name: str, location: str) -> None:
    cluster.pod(containers=[{"name": "c", "image": "x", "ports": [{"containerPort": 8080}]}])
    cluster.status("p", podIP="10.9.8.7", podIPs=[{"ip": "10.9.8.7"}])
    assert cluster.get(f"pods/{name}/proxy").json == ["pods/proxy", "p", {}, location]
    assert cluster.get(f"pods/{name}/proxy/a/b/").json == ["pods/proxy", "p", {"path": "/a/b/"}, f"{location}/a/b/"]


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"])
def test_every_method_is_proxied(cluster: Cluster, method: str) -> None:
    cluster.pod()
    cluster.status("p", podIP="fd00::1", podIPs=[{"ip": "fd00::1"}])
    answer = cluster.server.request(method, f"{cluster.path}/pods/p:80/proxy/x")
    assert answer.status == 200
    if method != "HEAD":
        assert answer.json[3] == "http://[fd00::1]:80/x"


def test_a_request_to_a_node_goes_to_its_kubelet(cluster: Cluster) -> None:
    node = cluster.node("10.0.0.1")
    answer = cluster.server.get(f"/api/v1/nodes/{node}/proxy/metrics")
    assert answer.json == ["nodes/proxy", node, {"path": "/metrics"}, "https://10.0.0.1:10250/metrics"]


def service(cluster: Cluster, *ports: dict[str, Any]) -> None:
    cluster.made(f"{cluster.path}/services", {"metadata": {"name": "s"}, "spec": {"ports": list(ports)}})


def test_a_service_without_such_a_port_or_endpoints_is_unavailable(cluster: Cluster) -> None:
    assert cluster.refused(cluster.get("services/s/proxy"), 404, "NotFound") == 'services "s" not found'
    service(cluster, {"port": 80})
    answer = cluster.get("services/s:81/proxy/")
    assert cluster.refused(answer, 503, "ServiceUnavailable") == 'no service port 81 found for service "s"'
    answer = cluster.get("services/s:80/proxy/")
    assert cluster.refused(answer, 503, "ServiceUnavailable") == 'no endpoints available for service "s:80"'


# -- admission and declarations -------------------------------------------------------------------------------------


def test_admission_sees_the_options_of_a_connection() -> None:
    seen: list[Any] = []

    @hookimpl(priority=1)
    def apiserver_validate(request: Any) -> None:
        if request.operation == "CONNECT":
            seen.append((request.subresource, request.object))
            raise request.forbidden("not today")

    observer = types.SimpleNamespace(apiserver_validate=apiserver_validate)
    with LocalServer("--disable-admission-plugins=ServiceAccount", observer=observer, connecters=connecters) as server:
        cluster = Cluster(server, "admission")
        cluster.pod(nodeName="n")
        answer = cluster.post("pods/p/exec?command=id&container=c")
        assert cluster.refused(answer, 403, "Forbidden") == 'pods "p" is forbidden: not today'
        assert cluster.get("pods/p/log").status == 200
    kind = {"kind": "PodExecOptions", "apiVersion": "v1"}
    assert seen == [("exec", {**kind, "command": ["id"], "container": "c"})]


def test_two_plugins_for_one_connection_stop_the_start() -> None:
    with (
        pytest.raises(PluginError, match="pods/exec is already served by one"),
        LocalServer(one=connecters, two=connecters),
    ):
        pass


def test_discovery_names_the_options_and_the_verbs(cluster: Cluster) -> None:
    listed = {entry["name"]: entry for entry in cluster.server.get("/api/v1").json["resources"]}
    assert {name: (entry["kind"], entry["verbs"]) for name, entry in listed.items() if "pods/" in name} == {
        "pods/attach": ("PodAttachOptions", ["create", "get"]),
        "pods/binding": ("Binding", ["create"]),
        "pods/ephemeralcontainers": ("Pod", ["get", "patch", "update"]),
        "pods/eviction": ("Eviction", ["create"]),
        "pods/exec": ("PodExecOptions", ["create", "get"]),
        "pods/log": ("Pod", ["get"]),
        "pods/portforward": ("PodPortForwardOptions", ["create", "get"]),
        "pods/proxy": ("PodProxyOptions", ["create", "delete", "get", "patch", "update"]),
        "pods/resize": ("Pod", ["get", "patch", "update"]),
        "pods/status": ("Pod", ["get", "patch", "update"]),
    }
    assert listed["pods/eviction"]["group"] == "policy"
