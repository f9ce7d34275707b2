"""POST to a collection, or to a subresource of a named object.

COMPAT: k8s.io/apiserver/pkg/endpoints/handlers/create.go
"""

from __future__ import annotations

import falcon

from apiserver.api.request import Request
from apiserver.handlers import body, writing
from apiserver.handlers.get import TARGETS
from apiserver.handlers.negotiation import negotiate
from apiserver.handlers.options import write_options
from apiserver.handlers.response import write_object
from apiserver.handlers.scope import Scope
from apiserver.registry import metadata


def create(scope: Scope, req: falcon.Request, resp: falcon.Response) -> None:
    """Decode, default, record managers, admit, and hand to the storage object."""
    request = Request.of(req.env)
    output = negotiate(req.env, TARGETS, formats=scope.formats)
    options = write_options(request.query, "CreateOptions")
    obj = body.decode(request, scope, options.field_validation)
    info = request.info
    assert info is not None
    writing.match_namespace(scope, request, obj)
    metadata.wipe_system_fields(obj["metadata"])
    writing.deduplicate_owners(request, obj)
    writing.record(scope, request, options, None, obj)
    ctx = scope.context(request)
    name = info.name or obj["metadata"].get("name") or ""
    validate = writing.admit_create(scope, request, name, obj, options)
    writing.deduplicate_owners(request, obj)
    if scope.subresource:
        result = scope.storage.create_named(ctx, info.name, obj, options, validate)
    else:
        result = scope.storage.create(ctx, obj, options, validate)
    write_object(scope, req, resp, result, output, 201)
