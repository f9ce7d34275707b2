"""Kinds of ``coordination.k8s.io`` whose rules are imported when they are needed; Leases are a plugin of their own."""

from __future__ import annotations

from collections.abc import Iterable

from apiserver import hookimpl
from apiserver.api.resource import Resource
from apiserver.api.server import Server
from apiserver_plugins.resources.common.declarations import declare
from apiserver_plugins.resources.common.deferred import ruled

KINDS = """
#GROUP/VERSION                KIND            PLURAL           SCOPE       SHORT NAMES  CATEGORIES  SINCE
coordination.k8s.io/v1beta1   LeaseCandidate  leasecandidates  Namespaced  -            -           1.33
coordination.k8s.io/v1alpha2  LeaseCandidate  leasecandidates  Namespaced  -            -           1.32
coordination.k8s.io/v1alpha1  LeaseCandidate  leasecandidates  Namespaced  -            -           1.31
"""


@hookimpl
def apiserver_resources(server: Server) -> Iterable[Resource]:
    return declare(
        KINDS,
        {
            "LeaseCandidate": ruled("coordination_v1.leasecandidates"),
            # A list of strategies instead of one, which no other version can read.
            "coordination.k8s.io/v1alpha1 LeaseCandidate": {},
        },
    )
