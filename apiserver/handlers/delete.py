"""DELETE of one object, and of a collection.

COMPAT: k8s.io/apiserver/pkg/endpoints/handlers/delete.go
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import falcon

from apiserver.api.admission import DELETE
from apiserver.api.errors import BadRequest
from apiserver.api.names import GroupVersionKind
from apiserver.api.request import Request
from apiserver.api.rest import DeleteOptions
from apiserver.handlers import body as bodies
from apiserver.handlers.get import TARGETS
from apiserver.handlers.negotiation import negotiate, negotiate_input
from apiserver.handlers.options import delete_options, list_options
from apiserver.handlers.response import write_list, write_object, write_status
from apiserver.handlers.scope import Scope
from apiserver.schema import body as schema_body
from apiserver.schema.decode import DecodeError

Object = dict[str, Any]
KIND = GroupVersionKind("", "v1", "DeleteOptions")
SCHEME = '"k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:34"'
"""COMPAT: upstream names its Go scheme by where it is made."""


def delete(scope: Scope, req: falcon.Request, resp: falcon.Response) -> None:
    """Delete an object, or begin to."""
    request = Request.of(req.env)
    output = negotiate(req.env, TARGETS, formats=scope.formats)
    options = read_options(scope, request)
    info = request.info
    assert info is not None
    ctx = scope.context(request)
    result = scope.storage.delete(ctx, info.name, options, validator(scope, request, info.name, options))
    # COMPAT: 202 only for the deprecated orphanDependents=false
    code = 202 if not result.gone and options.orphan_dependents is False else 200
    if not result.gone or scope.strategy.returns_deleted_object:
        write_object(scope, req, resp, result.object, output, code)
        return
    write_status(req, resp, success(scope, result.object.decode()), output, code)


def delete_collection(scope: Scope, req: falcon.Request, resp: falcon.Response) -> None:
    """Delete what the selectors leave; answers with the objects as they were."""
    request = Request.of(req.env)
    output = negotiate(req.env, TARGETS, formats=scope.formats)
    listed = list_options(request.query, scope.resource)
    options = read_options(scope, request)
    validate = validator(scope, request, "", options)
    write_list(
        scope, req, resp, scope.storage.delete_collection(scope.context(request), options, listed, validate), output
    )


def read_options(scope: Scope, request: Request) -> DeleteOptions:
    """The options from the body, or from the query when there is no body.

    :raises BadRequest: the body is no DeleteOptions.
    """
    data = bodies.read(request)
    if not data:
        return delete_options(request.query, None)
    media_type = negotiate_input(request.environ)
    try:
        body = schema_body.read(data, media_type, (KIND.version, KIND.kind))
        version, kind = schema_body.version_and_kind(body)
    except DecodeError as ex:
        raise BadRequest(ex.message) from None
    if kind not in ("", KIND.kind) or (version and not _known_version(scope, version)):
        text = f'no kind "{kind or KIND.kind}" is registered for version "{version or KIND.version}" in scheme '
        raise BadRequest(text + SCHEME)
    try:
        decoded = schema_body.decode_body(body, scope.kinds.type_of(KIND))
    except DecodeError as ex:
        text = f'{KIND.kind} in version "{version or KIND.version}" cannot be handled as a {KIND.kind}: {ex.message}'
        raise BadRequest(text) from None
    return delete_options(request.query, decoded.object)


def _known_version(scope: Scope, version: str) -> bool:
    # COMPAT: DeleteOptions is registered in meta.k8s.io/v1, v1 and every served group version
    return version in ("v1", "meta.k8s.io/v1", str(scope.resource.group_version))


def validator(scope: Scope, request: Request, name: str, options: DeleteOptions) -> Callable[[Object], None]:
    """Admission of a delete, called with the object that goes; plugins that change objects are asked too."""

    def validate(old: Object) -> None:
        sent = {"kind": KIND.kind, "apiVersion": "meta.k8s.io/v1", **options.raw}
        target = name or old["metadata"].get("name", "")
        asked = scope.admission_request(request, DELETE, target, None, old, dry_run=options.dry_run, options=sent)
        scope.admission.admit(asked)
        scope.admission.validate(asked)

    return validate


def success(scope: Scope, obj: Object) -> Object:
    """The Status for an object that is gone."""
    details = {"name": obj["metadata"].get("name", "")}
    if scope.resource.group:
        details["group"] = scope.resource.group
    details["kind"] = scope.resource.plural
    details["uid"] = obj["metadata"].get("uid", "")
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}
