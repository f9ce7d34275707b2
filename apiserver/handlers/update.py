"""PUT of an object or subresource.

COMPAT: k8s.io/apiserver/pkg/endpoints/handlers/update.go
"""

from __future__ import annotations

from typing import Any

import falcon

from apiserver.api.encoded import EncodedObject
from apiserver.api.request import Request
from apiserver.api.rest import Validator, WriteOptions
from apiserver.handlers import body, writing
from apiserver.handlers.authorization import check_create
from apiserver.handlers.get import TARGETS
from apiserver.handlers.negotiation import negotiate, negotiate_input
from apiserver.handlers.options import write_options
from apiserver.handlers.response import write_object
from apiserver.handlers.scope import Scope
from apiserver.registry.preconditions import check_uid

Object = dict[str, Any]
KIND = "UpdateOptions"


def update(scope: Scope, req: falcon.Request, resp: falcon.Response) -> None:
    """Replace the object by the one in the body, as far as its rules let that happen."""
    request = Request.of(req.env)
    output = negotiate(req.env, TARGETS, formats=scope.formats)
    options = write_options(request.query, KIND)
    negotiate_input(req.env, scope.formats)
    obj = body.decode(request, scope, options.field_validation)
    info = request.info
    assert info is not None
    name = info.name
    writing.match_namespace(scope, request, obj)
    writing.match_name(obj, name)
    replacement = Replacement(scope, request, name, obj, options)
    creates = scope.strategy.allow_create_on_update and not scope.subresource
    validate = writing.validate_update(scope, request, name, options, KIND)
    result, created = scope.storage.update(
        scope.context(request), name, replacement.make, options, validate, replacement.create if creates else None
    )
    write_object(scope, req, resp, result, output, 201 if created else 200)


class Replacement:
    """Makes the new object from the body, for each try anew."""

    def __init__(self, scope: Scope, request: Request, name: str, obj: Object, options: WriteOptions) -> None:
        self.scope, self.request, self.name, self.options = scope, request, name, options
        self._encoded = EncodedObject.of(obj)
        self._first: Object | None = obj
        self._validate: Validator | None = None

    def make(self, old: Object | None, current: EncodedObject | None) -> Object:
        """The transform of :meth:`apiserver.registry.store.Store.update`."""
        obj = self._first if self._first is not None else self._encoded.decode()
        self._first = None
        writing.deduplicate_owners(self.request, obj)
        resource, key = self.scope.resource.group_resource, self._key()
        check_uid(resource, key, self.name, obj, old)
        if old is None or current is None:
            check_create(self.scope, self.request, self.name)
            writing.record(self.scope, self.request, self.options, None, obj)
            self._validate = writing.admit_create(self.scope, self.request, self.name, obj, self.options)
            return obj
        writing.record(self.scope, self.request, self.options, old, obj)
        writing.admit_update(self.scope, self.request, self.name, obj, old, self.options, KIND)
        writing.deduplicate_owners(self.request, obj)
        return obj

    def _key(self) -> str:
        """The storage key, for the text of a refused precondition; "" where nothing is stored."""
        key = getattr(self.scope.storage, "key", None)
        return str(key(self.scope.context(self.request), self.name)) if key is not None else ""

    def create(self, new: Object, old: Object | None) -> None:
        """Validating admission when the update turned out to be a create."""
        assert self._validate is not None
        self._validate(new, old)
