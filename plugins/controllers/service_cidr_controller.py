"""Says which ServiceCIDRs are ready, and holds those that are deleted while addresses of theirs are in use.

COMPAT: pkg/controller/servicecidrs
"""

from __future__ import annotations

import ipaddress
import time
from collections.abc import Callable
from typing import Any

from apiserver import hookimpl
from apiserver.api.durations import parse_time
from apiserver.api.errors import ApiError
from apiserver.api.names import GroupResource
from apiserver.api.server import Server
from apiserver_plugins.controllers.changing import change, served
from apiserver_plugins.controllers.controllers import enabled
from apiserver_plugins.controllers.service_cidrs import SERVICE_CIDRS, networks_of, ready, with_condition

NAME = "service-cidr-controller"
ADDRESSES = GroupResource("networking.k8s.io", "ipaddresses")
FINALIZER = "networking.k8s.io/service-cidr-finalizer"
MANAGED = {"ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io"}
INTERVAL = 1.0
"""Seconds between two looks."""
GRACE = 10.0
"""Seconds after the beginning of a deletion in which other servers may still take addresses of the range."""

_READY = with_condition("True", "Kubernetes Service CIDR is ready")
_HELD = with_condition(
    "False",
    "There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR",
    "Terminating",
)


def look(server: Server, age: Callable[[str], float]) -> None:
    """Bring every ServiceCIDR up to date.

    :param age: seconds since a time stamp.
    """
    objects = [found.decode() for found in server.lister(SERVICE_CIDRS).list()]
    for obj in objects:
        name, metadata = obj["metadata"]["name"], obj["metadata"]
        protected = FINALIZER in (metadata.get("finalizers") or ())
        deleted = metadata.get("deletionTimestamp")
        if not deleted:
            if not protected:
                change(server, SERVICE_CIDRS, "", name, _protect)
            if ready(obj) != "True":
                change(server, SERVICE_CIDRS, "", name, _READY, "status")
        elif not protected:
            continue
        elif _in_use(server, obj, [other for other in objects if other["metadata"]["name"] != name]):
            if ready(obj) != "False":
                change(server, SERVICE_CIDRS, "", name, _HELD, "status")
        elif age(deleted) > GRACE:
            change(server, SERVICE_CIDRS, "", name, _release)


def _in_use(server: Server, obj: dict[str, Any], others: list[dict[str, Any]]) -> bool:
    """Whether an address would be in no range without this one. COMPAT: canDeleteCIDR."""
    mine = networks_of(obj)
    rest = [network for other in others for network in networks_of(other)]
    if all(any(m.version == r.version and m.subnet_of(r) for r in rest) for m in mine):  # type: ignore[arg-type]
        return False
    for held in server.lister(ADDRESSES).list(labels=MANAGED):
        address = ipaddress.ip_address(held.name)
        if any(address in network for network in mine) and not any(address in network for network in rest):
            return True
    return False


def _protect(obj: dict[str, Any]) -> None:
    metadata = obj["metadata"]
    if FINALIZER not in (metadata.get("finalizers") or ()):
        metadata["finalizers"] = [*(metadata.get("finalizers") or ()), FINALIZER]


def _release(obj: dict[str, Any]) -> None:
    obj["metadata"]["finalizers"] = [name for name in obj["metadata"].get("finalizers") or () if name != FINALIZER]


def seconds_since(timestamp: str) -> float:
    """The age of a time stamp of an object."""
    parsed = parse_time(timestamp)
    return time.time() - parsed.timestamp() if parsed is not None else 0.0


@hookimpl
def apiserver_started(server: Server) -> None:
    if not enabled(server.config, NAME) or not served(server, SERVICE_CIDRS):
        return

    def loop(wait: Callable[[float], bool]) -> None:
        while wait(INTERVAL):
            try:
                look(server, seconds_since)
            except ApiError:
                # Somebody else was faster, or the store can't be reached: the next look will tell.
                continue

    server.background(NAME, loop)
