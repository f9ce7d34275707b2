"""Kinds of ``rbac.authorization.k8s.io/v1``, whose rules are imported when they are needed."""

from __future__ import annotations

from collections.abc import Iterable

from apiserver import hookimpl
from apiserver.api.resource import Resource
from apiserver.api.server import Server
from apiserver_plugins.resources.common.declarations import declare
from apiserver_plugins.resources.common.deferred import ruled

KINDS = """
#GROUP/VERSION                KIND                PLURAL               SCOPE       SHORT NAMES  CATEGORIES
rbac.authorization.k8s.io/v1  ClusterRole         clusterroles         Cluster     -            -
rbac.authorization.k8s.io/v1  ClusterRoleBinding  clusterrolebindings  Cluster     -            -
rbac.authorization.k8s.io/v1  Role                roles                Namespaced  -            -
rbac.authorization.k8s.io/v1  RoleBinding         rolebindings         Namespaced  -            -
"""


@hookimpl
def apiserver_resources(server: Server) -> Iterable[Resource]:
    return declare(
        KINDS,
        {
            "ClusterRole": ruled("rbac_v1.clusterroles", columns=False),
            "ClusterRoleBinding": ruled("rbac_v1.clusterrolebindings"),
            "Role": ruled("rbac_v1.roles", columns=False),
            "RoleBinding": ruled("rbac_v1.rolebindings"),
        },
    )
