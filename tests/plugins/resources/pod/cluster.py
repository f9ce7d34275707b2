"""Shorthands for tests of subresources, and a plugin that serves connections."""

from __future__ import annotations

import types
from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from apiserver import hookimpl
from apiserver.api.connect import Connect, Connection
from apiserver.testing.server import Answer, LocalServer

Object = dict[str, Any]


class Cluster:
    """A namespace of a server."""

    def __init__(self, server: LocalServer, namespace: str) -> None:
        self.server = server
        self.path = f"/api/v1/namespaces/{namespace}"
        self.namespace = namespace
        assert server.post("/api/v1/namespaces", {"metadata": {"name": namespace}}).status == 201

    def pod(self, name: str = "p", labels: Mapping[str, str] | None = None, **spec: Any) -> Object:
        """Make a pod."""
        containers = spec.pop("containers", [{"name": "c", "image": "x"}])
        body = {"metadata": {"name": name, "labels": labels or {}}, "spec": {"containers": containers, **spec}}
        return self.made(f"{self.path}/pods", body)

    def node(self, *addresses: str) -> str:
        """Make a node with these IP addresses."""
        name = f"node-{self.namespace}"
        status = {"addresses": [{"type": "InternalIP", "address": address} for address in addresses]}
        self.made("/api/v1/nodes", {"metadata": {"name": name}})
        assert self.server.patch(f"/api/v1/nodes/{name}/status", {"status": status}).status == 200
        return name

    def status(self, name: str, **status: Any) -> Object:
        """Write a pod's status."""
        answer = self.server.patch(f"{self.path}/pods/{name}/status", {"status": status})
        assert answer.status == 200, answer.text
        return answer.json

    def made(self, path: str, body: Object) -> Object:
        """Create something."""
        answer = self.server.post(path, body)
        assert answer.status == 201, answer.text
        return answer.json

    def refused(self, answer: Answer, code: int, reason: str = "") -> str:
        """The message of a refusal."""
        assert (answer.status, answer.json["code"], answer.json.get("reason", "")) == (code, code, reason), answer.text
        return answer.json["message"]

    def get(self, path: str, **options: Any) -> Answer:
        """GET below the namespace."""
        return self.server.get(f"{self.path}/{path}", **options)

    def post(self, path: str, body: Any = None, **options: Any) -> Answer:
        """POST below the namespace."""
        return self.server.request("POST", f"{self.path}/{path}", body, **options)


def _show(connection: Connection) -> Any:
    """What was asked for, as JSON."""

    def app(_environ: Object, start_response: Any) -> Iterable[bytes]:
        start_response("200 OK", [("Content-Type", "application/json")])
        name = connection.object["metadata"]["name"]
        yield orjson.dumps([connection.subresource, name, connection.options, connection.location])

    return app


@hookimpl
def apiserver_connecters() -> Mapping[str, Connect]:
    """Everything is served by being shown."""
    pods = ("attach", "exec", "log", "portforward", "proxy")
    return dict.fromkeys([*(f"pods/{name}" for name in pods), "nodes/proxy", "services/proxy"], _show)


connecters = types.SimpleNamespace(apiserver_connecters=apiserver_connecters)
