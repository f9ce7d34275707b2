"""Subresources that take over the connection.

COMPAT: k8s.io/apiserver/pkg/endpoints/handlers/rest.go ConnectResource
"""

from __future__ import annotations

import falcon

from apiserver.api.admission import CONNECT
from apiserver.api.request import Request
from apiserver.handlers.scope import Scope
from apiserver.handlers.wsgi import respond_with


def connect(scope: Scope, req: falcon.Request, resp: falcon.Response) -> None:
    """Admit, then let the storage's WSGI app answer."""
    request = Request.of(req.env)
    info = request.info
    assert info is not None
    asked = scope.admission_request(request, CONNECT, info.name, None, None, dry_run=False, options={})
    scope.admission.admit(asked)
    scope.admission.validate(asked)
    path = "/".join(info.parts[3:])
    respond_with(scope.storage.connect(scope.context(request), info.name, path), req, resp)
