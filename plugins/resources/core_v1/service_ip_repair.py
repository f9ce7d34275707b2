"""The loop that keeps the pools of addresses and ports and the Services in agreement.

Runs whatever ``--controllers`` says: in kube-apiserver it is a part of the server.

COMPAT: pkg/registry/core/rest startServiceIPAllocator; servicesource 3 minutes
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable

from apiserver import hookimpl
from apiserver.api.errors import ApiError
from apiserver.api.server import Server
from apiserver.api.storage import StorageError
from apiserver_plugins.resources.core_v1.service.addresses import ADDRESSES
from apiserver_plugins.resources.core_v1.service.allocation import Allocators
from apiserver_plugins.resources.core_v1.service.repair import SERVICES, Repair

HOOK = "start-service-ip-repair-controllers"
INTERVAL = 180.0
"""Seconds between two looks, at least; spread, so that processes do not look all at once."""

LOG = logging.getLogger(__name__)


@hookimpl
def apiserver_started(server: Server) -> None:
    served = {resource.group_resource for resource in server.resources}
    if not {SERVICES, ADDRESSES} <= served:
        return
    repair = Repair(server, Allocators(server))

    def loop(wait: Callable[[float], bool]) -> None:
        while wait(INTERVAL * random.uniform(1.0, 1.2)):  # noqa: S311 # nothing secret
            try:
                repair.look()
            except (ApiError, StorageError) as ex:
                LOG.warning("Addresses and ports of services could not be compared: %s", ex)

    server.post_start_hook(HOOK, repair.look)
    server.background(HOOK, loop)
