"""The kind that defines kinds, CustomResourceDefinition; its rules are imported when needed.

What definitions define is served by the delegate ``apiextensions``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from apiserver import hookimpl
from apiserver.api.names import GroupVersionKind
from apiserver.api.resource import Resource
from apiserver.api.server import Server
from apiserver_plugins.resources.common.declarations import declare
from apiserver_plugins.resources.common.deferred import load, ruled

KINDS = """
#GROUP/VERSION           KIND                      PLURAL                     SCOPE    SHORT NAMES  CATEGORIES
apiextensions.k8s.io/v1  CustomResourceDefinition  customresourcedefinitions  Cluster  crd,crds     api-extensions
"""


OLDER = GroupVersionKind("apiextensions.k8s.io", "v1beta1", "CustomResourceDefinition")


def _from_older(obj: dict[str, Any]) -> None:
    load("apiextensions_v1.v1beta1", "to_v1")(obj)


@hookimpl
def apiserver_resources(server: Server) -> Iterable[Resource]:
    return declare(
        KINDS,
        {
            # COMPAT: where kube-apiserver keeps them in etcd, and that it writes them in the older version
            "CustomResourceDefinition": {
                **ruled("apiextensions_v1.customresourcedefinitions", status=True, columns=False),
                "storage_prefix": "apiextensions.k8s.io/customresourcedefinitions",
                "also_stored": {str(OLDER.group_version): _from_older},
                "hashed_version": OLDER,
            },
        },
    )
