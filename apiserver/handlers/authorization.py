"""A second authorization inside a handler: an update that turns out to be a create.

COMPAT: k8s.io/apiserver/pkg/endpoints/handlers/create.go withAuthorization
"""

from __future__ import annotations

from apiserver.api.auth import Attributes, Decision
from apiserver.api.errors import Forbidden
from apiserver.api.request import Request
from apiserver.handlers.scope import Scope


def check_create(scope: Scope, request: Request, name: str) -> None:
    """:raises Forbidden: the user may update but not create."""
    info, user = request.info, request.user
    assert info is not None
    assert user is not None
    attributes = Attributes(
        user=user,
        verb="create",
        path=info.path,
        is_resource=True,
        group=info.group,
        version=info.version,
        resource=info.resource,
        subresource=info.subresource,
        namespace=info.namespace,
        name=name,
    )
    decision, reason = scope.authorize(attributes)
    if decision is not Decision.ALLOW:
        raise Forbidden.for_object(scope.resource.group_resource, name, reason or "not authorized to create")
