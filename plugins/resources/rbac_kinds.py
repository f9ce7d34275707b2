"""Kinds of ``rbac.authorization.k8s.io/v1``, whose rules are imported when they are needed."""

from __future__ import annotations

from collections.abc import Iterable

from apiserver import hookimpl
from apiserver.api.resource import Resource
from apiserver.api.server import Server
from apiserver.api.strategy import Strategy
from apiserver_plugins.resources.common.declarations import declare
from apiserver_plugins.resources.common.deferred import MadeStrategy, ruled

KINDS = """
#GROUP/VERSION                KIND                PLURAL               SCOPE       SHORT NAMES  CATEGORIES
rbac.authorization.k8s.io/v1  ClusterRole         clusterroles         Cluster     -            -
rbac.authorization.k8s.io/v1  ClusterRoleBinding  clusterrolebindings  Cluster     -            -
rbac.authorization.k8s.io/v1  Role                roles                Namespaced  -            -
rbac.authorization.k8s.io/v1  RoleBinding         rolebindings         Namespaced  -            -
"""


def _guarded(plural: str, server: Server) -> dict[str, Strategy]:
    """Rules that ask what the writer holds."""
    return {"strategy": MadeStrategy(f"rbac_v1.{plural}", "strategy", server)}


@hookimpl
def apiserver_resources(server: Server) -> Iterable[Resource]:
    return declare(
        KINDS,
        {
            "ClusterRole": {**ruled("rbac_v1.clusterroles", columns=False), **_guarded("clusterroles", server)},
            "ClusterRoleBinding": {**ruled("rbac_v1.clusterrolebindings"), **_guarded("clusterrolebindings", server)},
            "Role": {**ruled("rbac_v1.roles", columns=False), **_guarded("roles", server)},
            "RoleBinding": {**ruled("rbac_v1.rolebindings"), **_guarded("rolebindings", server)},
        },
    )
