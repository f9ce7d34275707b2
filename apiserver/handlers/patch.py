"""PATCH of an object or subresource: JSON patch, merge patch, strategic merge patch and server-side apply.

The patch is applied inside the storage's update loop, to whatever is stored then, so that a patch without
resourceVersion never conflicts.

COMPAT: k8s.io/apiserver/pkg/endpoints/handlers/patch.go
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import falcon

from apiserver.api.encoded import EncodedObject
from apiserver.api.errors import BadRequest, Conflict, NotFound, UnsupportedMediaType
from apiserver.api.request import Request
from apiserver.api.rest import Validator, WriteOptions
from apiserver.handlers import body as bodies
from apiserver.handlers import writing
from apiserver.handlers.authorization import check_create
from apiserver.handlers.get import TARGETS
from apiserver.handlers.negotiation import negotiate
from apiserver.handlers.options import write_options
from apiserver.handlers.response import write_object
from apiserver.handlers.scope import Scope
from apiserver.registry import managedfields, metadata
from apiserver.registry.patching import json_patch, merge_patch, misfits, results, strategic
from apiserver.registry.patching.reading import duplicate_fields
from apiserver.schema import body as schema_body
from apiserver.schema import decode as schema_decode
from apiserver.schema import depth

Object = dict[str, Any]
KIND = "PatchOptions"
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"


def patch_types(scope: Scope) -> tuple[str, ...]:
    """The media types that this resource's PATCH takes. COMPAT: custom resources have no strategic merge."""
    if scope.resource.schema is not None:
        return (JSON_PATCH, MERGE_PATCH, APPLY)
    return (JSON_PATCH, MERGE_PATCH, STRATEGIC, APPLY)


def check_type(scope: Scope, media_type: str) -> None:
    """:raises UnsupportedMediaType: with the text of the layer that refuses in upstream."""
    types = patch_types(scope)
    if media_type in types:
        return
    if scope.resource.schema is None:
        raise UnsupportedMediaType("415: Unsupported Media Type", details={})
    raise UnsupportedMediaType(
        f"the body of the request was in an unknown format - accepted media types include: {', '.join(types)}"
    )


def patch(scope: Scope, req: falcon.Request, resp: falcon.Response) -> None:
    """Change the object as the patch says; apply makes it if it is missing."""
    request = Request.of(req.env)
    media_type = (req.env.get("CONTENT_TYPE") or "").partition(";")[0].strip().lower()
    check_type(scope, media_type)
    options = write_options(request.query, KIND, apply=media_type == APPLY)
    data = bodies.read(request)
    output = negotiate(req.env, TARGETS, formats=scope.formats)
    info = request.info
    assert info is not None
    change = (Apply if media_type == APPLY else _PATCHES[media_type])(scope, request, options, data)
    validate = writing.validate_update(scope, request, info.name, options, KIND)
    creates = change.creates and not scope.subresource
    result, created = scope.storage.update(
        scope.context(request), info.name, change.make, options, validate, change.create if creates else None
    )
    write_object(scope, req, resp, result, output, 201 if created else 200)


class Patch:
    """One patch request; :meth:`make` is the transform of the storage's update loop."""

    creates = False

    def __init__(self, scope: Scope, request: Request, options: WriteOptions, data: bytes) -> None:
        assert request.info is not None
        self.scope, self.request, self.options, self.data = scope, request, options, data
        self.name = request.info.name
        self._validate: Validator | None = None
        self.read()

    def read(self) -> None:
        """Check what can be checked before there is an object. :raises ApiError:"""

    def patched(self, current: Object) -> Object:
        """The changed object from ``current``, which may be changed in place."""
        raise NotImplementedError  # pragma: no cover - abstract

    def make(self, old: Object | None, current: EncodedObject | None) -> Object:
        """The new object in the storage version, with managers recorded and admission done."""
        if old is None or current is None:
            raise NotFound.for_object(self.scope.resource.group_resource, self.name)
        scope, request = self.scope, self.request
        obj = self.decoded(self.patched(scope.forms.decode(current)))
        writing.match_name(obj, self.name)
        writing.match_namespace(scope, request, obj)
        writing.deduplicate_owners(request, obj)
        writing.record(scope, request, self.options, old, obj)
        writing.admit_update(scope, request, self.name, obj, old, self.options, KIND)
        return obj

    def decoded(self, patched: Any) -> Object:
        """The patched object, normalised and with defaults.

        :raises Invalid: a value has the wrong type, or (Strict) fields are not known.
        """
        shown = self.shown(patched)
        self._check_kind(patched, shown)
        try:
            decoded = schema_decode.decode(patched, self.scope.type)
        except schema_decode.DecodeError as ex:
            raise results.refuse_result(shown(), self.misfit(patched, ex)) from None
        decoded.strict = [*self.strict(), *decoded.strict]
        if decoded.strict and self.options.field_validation == "Strict":
            raise results.refuse_result(shown(), schema_body.strict_error(decoded.strict))
        kind = self.scope.kind
        decoded.object["kind"], decoded.object["apiVersion"] = kind.kind, str(kind.group_version)
        return bodies.finish(self.request, self.scope, decoded, self.options.field_validation)

    def _check_kind(self, patched: Any, shown: Callable[[], str]) -> None:
        """:raises Invalid: the patch made another kind of the object."""
        kind = self.scope.kind
        try:
            given_version, given_kind = schema_body.version_and_kind(schema_body.Body(patched, b"", schema_body.JSON))
        except schema_body.BodyError as ex:
            raise results.refuse_result(shown(), ex.message) from None
        if not given_kind or not given_version or (given_kind, given_version) == (kind.kind, str(kind.group_version)):
            return
        given = (*schema_body.split_version(given_version), given_kind)
        raise results.refuse_result(shown(), schema_body.unconvertible(given, kind, self.scope.kinds.registered))

    def strict(self) -> list[str]:
        """What strict decoding says about the patch itself."""
        return []

    def misfit(self, patched: Any, error: schema_decode.DecodeError) -> str:
        """Why the patched object cannot be decoded."""
        return error.message

    def shown(self, patched: Any) -> Callable[[], str]:
        """What an error shows: the patched document. Taken before decoding changes it, written only when needed."""
        try:
            before = depth.encode(patched)
        except depth.TooDeepError as ex:
            raise results.refuse_result("", str(ex)) from None
        return before.decode

    def create(self, new: Object, old: Object | None) -> None:
        """Validating admission when the patch made the object."""
        assert self._validate is not None
        self._validate(new, old)


class JSONPatch(Patch):
    """RFC 6902."""

    def read(self) -> None:
        self._operations = json_patch.decode(self.data)

    def patched(self, current: Object) -> Object:
        # The operations' values become part of the result: each try needs its own.
        result: Object = json_patch.apply(current, json_patch.decode(self.data))
        return result

    def strict(self) -> list[str]:
        return json_patch.unknown_members(self._operations)


class MergePatch(Patch):
    """RFC 7386."""

    def strict(self) -> list[str]:
        return duplicate_fields(self.data)

    def read(self) -> None:
        merge_patch.decode(self.data)

    def patched(self, current: Object) -> Object:
        return merge_patch.apply(current, merge_patch.decode(self.data))


class StrategicPatch(Patch):
    """Strategic merge, by the kind's merge keys."""

    def strict(self) -> list[str]:
        return duplicate_fields(self.data)

    def read(self) -> None:
        strategic.decode(self.data)

    def patched(self, current: Object) -> Object:
        return strategic.apply(current, strategic.decode(self.data), self.scope.type)

    def misfit(self, patched: Any, error: schema_decode.DecodeError) -> str:
        return misfits.explain(patched, self.scope.type) or error.message

    def shown(self, patched: Any) -> Callable[[], str]:
        # COMPAT: upstream decodes the merged map and shows the patch as Go prints it
        return lambda: results.go_print(strategic.decode(self.data))


class Apply(Patch):
    """Server-side apply."""

    creates = True

    def read(self) -> None:
        self._first: Object | None = self._intent()

    def _intent(self) -> Object:
        """What the manager wants, from the body.

        :raises BadRequest: it can't be read, or says what only the server may say.
        """
        try:
            value = schema_body.read(self.data, schema_body.YAML).value
        except schema_decode.DecodeError as ex:
            raise BadRequest(f"error decoding YAML: error converting YAML to JSON: {ex.message}") from None
        if not isinstance(value, dict):
            raise BadRequest("error decoding YAML: the body of an apply patch must be an object")
        intent: Object = value
        return intent

    def make(self, old: Object | None, current: EncodedObject | None) -> Object:
        scope, request, options = self.scope, self.request, self.options
        intent, self._first = self._first or self._intent(), None
        meta = intent.get("metadata")
        if isinstance(meta, dict) and meta.get("managedFields") is not None:
            raise BadRequest("metadata.managedFields must be nil")
        if old is None:
            self._check_missing(intent)
        shown = scope.forms.decode(current) if current is not None else None
        merged = managedfields.apply(
            shown,
            intent,
            manager=options.field_manager,
            force=bool(options.force),
            gvk=scope.kind,
            subresource=scope.subresource,
            now=metadata.now(),
            type=scope.type,
            fields=scope.owned,
        )
        obj = self.decoded(merged)
        if old is None:
            writing.match_namespace(scope, request, obj)
            writing.match_name(obj, self.name)
            metadata.wipe_system_fields(obj["metadata"])
            self._validate = writing.admit_create(scope, request, self.name, obj, options)
            return obj
        writing.match_name(obj, self.name)
        writing.match_namespace(scope, request, obj)
        writing.admit_update(scope, request, self.name, obj, old, options, KIND)
        return obj

    def _check_missing(self, intent: Object) -> None:
        check_create(self.scope, self.request, self.name)
        given = intent.get("metadata")
        uid = given.get("uid") if isinstance(given, dict) else None
        if uid:
            raise Conflict.for_object(
                self.scope.resource.group_resource,
                self.name,
                f"uid mismatch: the provided object specified uid {uid}, and no existing object was found",
            )


_PATCHES: Mapping[str, Callable[[Scope, Request, WriteOptions, bytes], Patch]] = {
    JSON_PATCH: JSONPatch,
    MERGE_PATCH: MergePatch,
    STRATEGIC: StrategicPatch,
}
