"""The ServiceCIDR ``kubernetes``: the range that the settings name. Made at start, and again when it is gone.

Runs whatever ``--controllers`` says: in kube-apiserver it is a part of the server. One that says something else than
the settings is left alone.

COMPAT: pkg/controlplane/controller/defaultservicecidr
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from apiserver import hookimpl
from apiserver.api.errors import AlreadyExists, ApiError
from apiserver.api.events import record
from apiserver.api.server import Server
from apiserver_plugins.controllers.changing import change, create, served
from apiserver_plugins.controllers.service_cidrs import DEFAULT, SERVICE_CIDRS, cidrs_of, ready, with_condition

HOOK = "start-kubernetes-service-cidr-controller"
COMPONENT = "kubernetes-service-cidr-controller"
INTERVAL = 10.0
"""Seconds between two looks."""
MESSAGE = "Kubernetes default Service CIDR is ready"


def ensure(server: Server) -> None:
    """Make it, add a second family to it, or say that it is ready. Other processes may be doing the same."""
    cidrs = list(server.config.strings("service-cluster-ip-range"))
    found = server.lister(SERVICE_CIDRS).get("", DEFAULT)
    if found is None:
        body = {"kind": "ServiceCIDR", "apiVersion": "networking.k8s.io/v1", "metadata": {"name": DEFAULT}}
        try:
            create(server, SERVICE_CIDRS, {**body, "spec": {"cidrs": cidrs}})
        except AlreadyExists:
            return
        change(server, SERVICE_CIDRS, "", DEFAULT, with_condition("True", MESSAGE), "status")
        return
    obj = found.decode()
    present = cidrs_of(obj)
    if len(cidrs) == 2 and present == cidrs[:1]:
        change(server, SERVICE_CIDRS, "", DEFAULT, _with_cidrs(cidrs))
    elif obj["metadata"].get("deletionTimestamp"):
        return
    elif present != cidrs:
        shown = " ".join(present), " ".join(cidrs)
        text = "The default ServiceCIDR [{}] does not match the controller flag configurations [{}]".format(*shown)
        record(server, COMPONENT, obj, "KubernetesDefaultServiceCIDRInconsistent", text)
    elif ready(obj) in (None, "Unknown"):
        change(server, SERVICE_CIDRS, "", DEFAULT, with_condition("True", MESSAGE), "status")


def _with_cidrs(cidrs: list[str]) -> Callable[[dict[str, Any]], None]:
    def apply(obj: dict[str, Any]) -> None:
        obj["spec"]["cidrs"] = cidrs

    return apply


@hookimpl
def apiserver_started(server: Server) -> None:
    if not served(server, SERVICE_CIDRS):
        return

    def loop(wait: Callable[[float], bool]) -> None:
        while wait(INTERVAL):
            try:
                ensure(server)
            except ApiError:
                # The store can't be reached, or somebody else was faster: the next look will tell.
                continue

    server.post_start_hook(HOOK, lambda: ensure(server))
    server.background(HOOK, loop)
