"""GET of a collection.

COMPAT: k8s.io/apiserver/pkg/endpoints/handlers/get.go ListResource
"""

from __future__ import annotations

import falcon

from apiserver.api.request import Request
from apiserver.handlers.get import TARGETS
from apiserver.handlers.negotiation import negotiate
from apiserver.handlers.options import list_options
from apiserver.handlers.response import write_list
from apiserver.handlers.scope import Scope


def list_(scope: Scope, req: falcon.Request, resp: falcon.Response) -> None:
    """Answer with a page of objects."""
    request = Request.of(req.env)
    output = negotiate(req.env, TARGETS, formats=scope.formats)
    options = list_options(request.query, scope.resource)
    write_list(scope, req, resp, scope.storage.list(scope.context(request), options), output)
