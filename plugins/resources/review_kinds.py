"""Reviews of ``authorization.k8s.io/v1`` and ``authentication.k8s.io/v1``: questions that are answered, not stored."""

from __future__ import annotations

from collections.abc import Iterable

from apiserver import hookimpl
from apiserver.api.resource import Resource
from apiserver.api.server import Server
from apiserver_plugins.resources.common.declarations import declare
from apiserver_plugins.resources.common.deferred import answered

KINDS = """
#GROUP/VERSION                  KIND                      PLURAL                     SCOPE       SHORT  CATEG.  SINCE
authorization.k8s.io/v1         LocalSubjectAccessReview  localsubjectaccessreviews  Namespaced  -      -
authorization.k8s.io/v1         SelfSubjectAccessReview   selfsubjectaccessreviews   Cluster     -      -
authorization.k8s.io/v1         SelfSubjectRulesReview    selfsubjectrulesreviews    Cluster     -      -
authorization.k8s.io/v1         SubjectAccessReview       subjectaccessreviews       Cluster     -      -
authentication.k8s.io/v1        SelfSubjectReview         selfsubjectreviews         Cluster     -      -       1.28
authentication.k8s.io/v1beta1   SelfSubjectReview         selfsubjectreviews         Cluster     -      -       1.27
authentication.k8s.io/v1alpha1  SelfSubjectReview         selfsubjectreviews         Cluster     -      -       1.26
authentication.k8s.io/v1        TokenReview               tokenreviews               Cluster     -      -
"""


@hookimpl
def apiserver_resources(server: Server) -> Iterable[Resource]:
    return declare(
        KINDS,
        {
            "LocalSubjectAccessReview": answered("authorization_v1.reviews", "local"),
            "SelfSubjectAccessReview": answered("authorization_v1.reviews", "own"),
            "SelfSubjectRulesReview": answered("authorization_v1.reviews", "own_rules"),
            "SubjectAccessReview": answered("authorization_v1.reviews", "subject"),
            "SelfSubjectReview": answered("authentication_v1.reviews", "own"),
            "TokenReview": answered("authentication_v1.reviews", "token"),
        },
    )
