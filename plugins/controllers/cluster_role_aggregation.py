"""ClusterRoles that are made of others get the rules of those that their selectors choose.

Looks when a ClusterRole has changed. Each process has one of these; they come to the same result, and what is right is
not written again.

COMPAT: pkg/controller/clusterroleaggregation
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from apiserver import hookimpl
from apiserver.api.errors import ApiError, NotFound
from apiserver.api.labels import matches
from apiserver.api.names import GroupResource
from apiserver.api.server import Server
from apiserver.api.storage import StorageError
from apiserver_plugins.controllers.changing import change, served
from apiserver_plugins.controllers.controllers import enabled

NAME = "clusterrole-aggregation-controller"
ROLES = GroupResource("rbac.authorization.k8s.io", "clusterroles")
INTERVAL = 0.25
"""Seconds between two looks for something that has changed."""

LOG = logging.getLogger(__name__)
Object = dict[str, Any]


def gathered(role: Object, others: Sequence[tuple[Mapping[str, str], Object]]) -> list[Object]:
    """The rules that a role is to have: of the roles that it chooses, by name, each rule once.

    :param others: all ClusterRoles with their labels, in the order of their names.
    """
    selectors = (role.get("aggregationRule") or {}).get("clusterRoleSelectors") or ()
    found: list[Object] = []
    for selector in selectors:
        for labels, other in others:
            if other["metadata"]["name"] == role["metadata"]["name"] or not matches(selector, labels):
                continue
            found += [rule for rule in other.get("rules") or () if rule not in found]
    return found


class Aggregation:
    """The controller. One thread uses it."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._lister = server.lister(ROLES)
        self._decoded: dict[str, tuple[int, Mapping[str, str], Object]] = {}
        self._seen = -1

    def run(self, wait: Callable[[float], bool]) -> None:
        """The loop, until ``wait`` says it is time to end."""
        while wait(INTERVAL):
            try:
                roles = self._lister.list()
                revision = self._lister.revision
                if revision == self._seen:
                    continue
                before = self._decoded
                self._decoded = {}
                for role in roles:
                    known = before.get(role.name)
                    if known is None or known[0] != role.revision:
                        known = (role.revision, role.labels, role.decode())
                    self._decoded[role.name] = known
                done = [self._aggregate(name) for name in self._decoded]
                self._seen = revision if all(done) else -1
            except (ApiError, StorageError) as ex:
                LOG.debug("Roles can't be read: %s", ex)

    def _aggregate(self, name: str) -> bool:
        """Give a role its rules; whether there is nothing more to do for it."""
        role = self._decoded[name][2]
        if role.get("aggregationRule") is None:
            return True
        rules = gathered(role, [(labels, other) for _, labels, other in self._decoded.values()])
        # COMPAT: semantic equality: no rules are as good as an empty list of them
        if rules == (role.get("rules") or []):
            return True

        def apply(obj: Object) -> None:
            obj["rules"] = rules

        try:
            change(self._server, ROLES, "", name, apply)
        except NotFound:
            return True
        except (ApiError, StorageError) as ex:
            LOG.debug("The rules of ClusterRole %s can't be written: %s", name, ex)
            return False
        return True


@hookimpl
def apiserver_started(server: Server) -> None:
    if enabled(server.config, NAME) and served(server, ROLES):
        server.background(NAME, Aggregation(server).run)
