"""GET of one object.

COMPAT: k8s.io/apiserver/pkg/endpoints/handlers/get.go GetResource
"""

from __future__ import annotations

import falcon

from apiserver.api.request import Request
from apiserver.handlers.negotiation import PARTIAL, PARTIAL_LIST, TABLE, negotiate
from apiserver.handlers.options import get_options
from apiserver.handlers.response import write_object
from apiserver.handlers.scope import Scope

TARGETS = (TABLE, PARTIAL, PARTIAL_LIST)


def get(scope: Scope, req: falcon.Request, resp: falcon.Response) -> None:
    """Answer with the object, as new as the options ask."""
    request = Request.of(req.env)
    output = negotiate(req.env, TARGETS, formats=scope.formats)
    options = get_options(request.query)
    assert request.info is not None
    write_object(scope, req, resp, scope.storage.get(scope.context(request), request.info.name, options), output)
