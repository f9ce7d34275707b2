"""What create, update and patch share: checks of names, the manager of fields, admission.

COMPAT: k8s.io/apiserver/pkg/endpoints/handlers create.go, update.go, rest.go
"""

from __future__ import annotations

from typing import Any

from apiserver.api.admission import CREATE, UPDATE
from apiserver.api.encoded import EncodedObject
from apiserver.api.errors import BadRequest
from apiserver.api.request import Request
from apiserver.api.rest import Validator, WriteOptions
from apiserver.handlers.scope import Scope
from apiserver.registry import managedfields, metadata

Object = dict[str, Any]
_OWNERS_TEXT = (
    ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject "
    "such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {}"
)


def match_namespace(scope: Scope, request: Request, obj: Object) -> None:
    """Give the object the namespace of the URL.

    :raises BadRequest: it names another one. COMPAT: EnsureObjectNamespaceMatchesRequestNamespace.
    """
    meta = obj["metadata"]
    wanted = scope.context(request).namespace
    given = meta.get("namespace") or ""
    if given == wanted:
        return
    if given and wanted:
        raise BadRequest("the namespace of the provided object does not match the namespace sent on the request")
    if wanted:
        meta["namespace"] = wanted
    else:
        meta.pop("namespace", None)


def match_name(obj: Object, name: str) -> None:
    """:raises BadRequest: the object has another name than the URL. COMPAT: checkName."""
    given = obj["metadata"].get("name") or ""
    if not given:
        raise BadRequest(f"the name of the object ({name} based on URL) was undeterminable: name must be provided")
    if given != name:
        raise BadRequest(f"the name of the object ({given}) does not match the name on the URL ({name})")


def deduplicate_owners(request: Request, obj: Object) -> None:
    """Drop repeated owner references, with a warning."""
    owners = obj["metadata"].get("ownerReferences")
    if owners and metadata.deduplicate_owners(obj["metadata"]):
        kept = obj["metadata"]["ownerReferences"]
        repeated = [o["uid"] for o in kept if owners.count(o) > 1]
        request.warn(_OWNERS_TEXT.format(", ".join(repeated)))


def manager(request: Request, options: WriteOptions) -> str:
    """Who the fields belong to."""
    return options.field_manager or managedfields.default_manager(request.environ.get("HTTP_USER_AGENT", ""))


def record(scope: Scope, request: Request, options: WriteOptions, live: Object | None, new: Object) -> None:
    """Write managedFields of an update or create into ``new``.

    Both objects are in the storage version, or of the kind of a subresource that has one of its own. Fields are owned
    in the version that the client wrote in.
    """
    resource = scope.resource
    own = bool(scope.subresource) and scope.kind != resource.gvk
    written = scope.kind if own else resource.gvk
    seen_live, seen_new = live, new
    other = resource.unstructured and resource.gvk != resource.storage_gvk
    if not own and (other or resource.from_storage is not None):
        seen_new = scope.forms.decode(EncodedObject.of(new))
        seen_live = scope.forms.decode(EncodedObject.of(live)) if live is not None else None
    managedfields.record_update(
        seen_live,
        seen_new,
        manager=manager(request, options),
        api_version=str(written.group_version),
        subresource=scope.subresource,
        now=metadata.now(),
        type=scope.kinds.type_of(written),
        fields=scope.owned,
    )
    if seen_new is not new:
        _take_owners(new["metadata"], seen_new["metadata"])


def _take_owners(meta: Object, other: Object) -> None:
    if "managedFields" in other:
        meta["managedFields"] = other["managedFields"]
    else:
        meta.pop("managedFields", None)


def admit_create(scope: Scope, request: Request, name: str, obj: Object, options: WriteOptions) -> Validator:
    """Mutating admission of a create; returns what validates it later."""
    sent = sent_options("CreateOptions", options)
    asked = scope.admission_request(request, CREATE, name, obj, None, dry_run=options.dry_run, options=sent)
    scope.admission.admit(asked)

    def validate(new: Object, old: Object | None) -> None:
        asked.object, asked.old_object = new, old
        asked.name = new["metadata"].get("name") or asked.name
        scope.admission.validate(asked)

    return validate


def admit_update(
    scope: Scope, request: Request, name: str, obj: Object, old: Object, options: WriteOptions, kind: str
) -> None:
    """Mutating admission of an update. :param kind: of the options."""
    sent = sent_options(kind, options)
    asked = scope.admission_request(request, UPDATE, name, obj, old, dry_run=options.dry_run, options=sent)
    scope.admission.admit(asked)


def validate_update(scope: Scope, request: Request, name: str, options: WriteOptions, kind: str) -> Validator:
    """What validates an update just before it is stored."""

    def validate(new: Object, old: Object | None) -> None:
        sent = sent_options(kind, options)
        asked = scope.admission_request(request, UPDATE, name, new, old, dry_run=options.dry_run, options=sent)
        scope.admission.validate(asked)

    return validate


def sent_options(kind: str, options: WriteOptions) -> Object:
    """The options as admission sees them."""
    sent: Object = {"kind": kind, "apiVersion": "meta.k8s.io/v1"}
    if options.dry_run:
        sent["dryRun"] = ["All"]
    if options.field_manager:
        sent["fieldManager"] = options.field_manager
    if options.force is not None:
        sent["force"] = options.force
    sent["fieldValidation"] = options.field_validation
    return sent
