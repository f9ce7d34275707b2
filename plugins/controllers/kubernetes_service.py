"""The service ``kubernetes`` in the namespace ``default``, by which pods reach the servers, and where it is served.

Runs whatever ``--controllers`` says: in kube-apiserver it is a part of the server.

COMPAT: pkg/controlplane/controller/kubernetesservice; pkg/controlplane/reconcilers
"""

from __future__ import annotations

import contextlib
import ipaddress
import logging
import socket
import threading
from collections.abc import Callable
from weakref import WeakKeyDictionary

from apiserver import hookimpl
from apiserver.api.errors import ApiError
from apiserver.api.names import GroupResource
from apiserver.api.server import Server
from apiserver.api.settings import Config
from apiserver.api.storage import StorageError
from apiserver_plugins.controllers.changing import create, served
from apiserver_plugins.controllers.kubernetes_endpoints import ENDPOINTS, NAME, NAMESPACE, SLICES, Publisher, family_of
from apiserver_plugins.controllers.server_leases import Leases

HOOK = "bootstrap-controller"
SERVICES = GroupResource("", "services")
PORT = 443
"""COMPAT: Extra.APIServerServicePort."""
INTERVAL = 2.5
"""Seconds between two looks. Upstream's is 10, but each of its servers is one process."""
LABELS = {"provider": "kubernetes", "component": "apiserver"}

LOG = logging.getLogger(__name__)


class KubernetesService:
    """Keeps the service, and with ``--endpoint-reconciler-type=lease`` where it is served."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._lock = threading.Lock()
        ranges = server.config.strings("service-cluster-ip-range")
        self._address = str(ipaddress.ip_network(ranges[0])[1])
        self._port = server.config.integer("secure-port")
        self._leases: Leases | None = None
        self._publisher: Publisher | None = None
        public = advertised(server.config)
        wanted = server.config.text("endpoint-reconciler-type") == "lease"
        if wanted and public and self._port and served(server, ENDPOINTS) and served(server, SLICES):
            self._leases = Leases(server, public)
            self._publisher = Publisher(server, [family_of(text) for text in ranges], self._port)

    def sync(self) -> None:
        """Return when the services are known. :raises ApiError: / :raises StorageError: they can't be read."""
        self._server.lister(SERVICES).get(NAMESPACE, NAME)

    def run(self, wait: Callable[[float], bool]) -> None:
        """The loop, until ``wait`` says it is time to end."""
        pause = 0.0
        while wait(pause):
            pause = INTERVAL
            try:
                self.look()
            except (ApiError, StorageError) as ex:
                # Another process was faster, or the store can't be reached: the next look will tell.
                LOG.debug("The service %s can't be kept up: %s", NAME, ex)

    def look(self) -> None:
        """Bring everything up to date. :raises ApiError: / :raises StorageError: try again."""
        if self._server.lister(SERVICES).get(NAMESPACE, NAME) is None:
            self._create()
        with self._lock:
            leases, publisher = self._leases, self._publisher
            if leases is not None and publisher is not None:
                leases.renew()
                # COMPAT: none at all would be a mistake, since ours has just been written
                if addresses := leases.addresses():
                    publisher.publish(addresses)

    def stop(self) -> None:
        """This server ends: it is no longer one of those that serve."""
        with self._lock:
            leases, self._leases = self._leases, None
            if leases is not None:
                try:
                    leases.remove()
                except StorageError as ex:
                    LOG.warning("The lease of this server stays until it ends by itself: %s", ex)

    def _create(self) -> None:
        port = {"name": "https", "protocol": "TCP", "port": PORT, "targetPort": self._port or PORT}
        spec = {
            "type": "ClusterIP",
            "clusterIP": self._address,
            "ipFamilyPolicy": "SingleStack",
            "sessionAffinity": "None",
            "ports": [port],
        }
        metadata = {"name": NAME, "namespace": NAMESPACE, "labels": dict(LABELS)}
        body = {"kind": "Service", "apiVersion": "v1", "metadata": metadata, "spec": spec}
        store = self._server.store(SERVICES)
        store.strategy.default(body)
        create(self._server, SERVICES, body)


def advertised(config: Config) -> str:
    """The address by which others reach this server; "" if there is none.

    COMPAT: DefaultAdvertiseAddress: where the bind address is no help, that of the interface with the default route
    """
    for name in ("advertise-address", "bind-address"):
        text = config.text(name)
        if text and _public(text):
            return text
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("203.0.113.1", 9))  # sends nothing
        text = str(probe.getsockname()[0])
        return text if _public(text) else ""
    return ""


def _public(text: str) -> bool:
    address = ipaddress.ip_address(text)
    return not (address.is_unspecified or address.is_loopback or address.is_link_local or address.is_multicast)


_running: WeakKeyDictionary[Server, KubernetesService] = WeakKeyDictionary()


@hookimpl
def apiserver_started(server: Server) -> None:
    if not served(server, SERVICES):
        return
    kept = _running[server] = KubernetesService(server)
    server.post_start_hook(HOOK, kept.sync)
    server.background(HOOK, kept.run)


@hookimpl
def apiserver_stopping(server: Server) -> None:
    kept = _running.pop(server, None)
    if kept is not None:
        kept.stop()
