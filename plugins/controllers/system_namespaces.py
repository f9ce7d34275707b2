"""The namespaces that always exist, made at start and made again when somebody deletes one.

Runs whatever ``--controllers`` says: in kube-apiserver it is a part of the server.

COMPAT: pkg/controlplane/controller/systemnamespaces
"""

from __future__ import annotations

from collections.abc import Callable

from apiserver import hookimpl
from apiserver.api.errors import AlreadyExists
from apiserver.api.names import GroupResource
from apiserver.api.rest import WriteOptions
from apiserver.api.server import Server

NAMESPACES = GroupResource("", "namespaces")
NAMES = ("default", "kube-system", "kube-public", "kube-node-lease")
HOOK = "start-system-namespaces-controller"
INTERVAL = 60.0
"""Seconds between two looks."""


def ensure(server: Server) -> None:
    """Make those that are missing; another process may be doing the same."""
    lister = server.lister(NAMESPACES)
    for name in NAMES:
        if lister.get("", name) is None:
            obj = {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": name}, "spec": {}}
            try:
                server.store(NAMESPACES).create(server.system_context(), obj, WriteOptions(), lambda _obj, _old: None)
            except AlreadyExists:
                continue


@hookimpl
def apiserver_started(server: Server) -> None:
    def loop(wait: Callable[[float], bool]) -> None:
        while wait(INTERVAL):
            ensure(server)

    server.post_start_hook(HOOK, lambda: ensure(server))
    server.background(HOOK, loop)
