"""Subresources that take over the connection, or answer with a stream.

COMPAT: k8s.io/apiserver/pkg/endpoints/handlers/rest.go ConnectResource, get.go GetResourceWithOptions
"""

from __future__ import annotations

import falcon

from apiserver.api.admission import CONNECT
from apiserver.api.request import Request, RequestInfo
from apiserver.api.rest import ConnectOptions
from apiserver.handlers.scope import Scope
from apiserver.handlers.wsgi import respond_with


def connect(scope: Scope, req: falcon.Request, resp: falcon.Response) -> None:
    """Admit, then let the storage's WSGI app answer."""
    request = Request.of(req.env)
    info = request.info
    assert info is not None
    ctx, path = scope.context(request), _path(info)
    options = None
    if isinstance(scope.storage, ConnectOptions):
        kind = {"kind": scope.kind.kind, "apiVersion": str(scope.kind.group_version)}
        options = {**kind, **scope.storage.connect_options(ctx, path)}
    asked = scope.admission_request(request, CONNECT, info.name, options, None, dry_run=False, options={})
    scope.admission.admit(asked)
    scope.admission.validate(asked)
    respond_with(scope.storage.connect(ctx, info.name, path), req, resp)


def _path(info: RequestInfo) -> str:
    """What follows the subresource. COMPAT: getRequestOptions: with both of its slashes."""
    path = "/".join(info.parts[3:])
    if not path:
        return ""
    return f"/{path}/" if info.path.endswith("/") else f"/{path}"


def stream(scope: Scope, req: falcon.Request, resp: falcon.Response) -> None:
    """Let the storage's WSGI app answer a GET."""
    request = Request.of(req.env)
    info = request.info
    assert info is not None
    respond_with(scope.storage.stream(scope.context(request), info.name), req, resp)
