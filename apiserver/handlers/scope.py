"""The scope of an endpoint: all that its verbs need to know, gathered once when the server is built.

COMPAT: k8s.io/apiserver/pkg/endpoints/handlers RequestScope
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from apiserver.api.admission import AdmissionRequest
from apiserver.api.auth import Attributes, Decision
from apiserver.api.encoded import EncodedObject
from apiserver.api.names import GroupVersionKind, GroupVersionResource
from apiserver.api.request import Request
from apiserver.api.resource import Resource
from apiserver.api.rest import Context
from apiserver.api.serializers import Serializer
from apiserver.api.server import Server
from apiserver.api.strategy import Strategy
from apiserver.handlers.forms import Forms
from apiserver.handlers.negotiation import PRODUCED, SELF_DESCRIBING
from apiserver.registry.admission import Admission
from apiserver.registry.kinds import Kinds
from apiserver.registry.managedfields.filters import FieldFilter, of_endpoint
from apiserver.schema.types import Struct

Object = dict[str, Any]


@dataclass(frozen=True)
class Scope:
    """One resource or subresource in one version.

    ``storage`` has some of the protocols of :mod:`apiserver.api.rest`. ``kinds`` knows the types,
    ``kind`` is the kind of the bodies.
    """

    resource: Resource
    subresource: str
    storage: Any
    kind: GroupVersionKind
    strategy: Strategy
    admission: Admission
    kinds: Kinds
    authorize: Callable[[Attributes], tuple[Decision, str]]
    server: Server
    min_request_timeout: float = 1800.0

    @property
    def subresource_kind(self) -> bool:
        """Whether bodies are of a kind of the subresource's own, such as Scale."""
        return self.kind != self.resource.gvk

    @cached_property
    def type(self) -> Struct:
        """The type of the bodies; compiled when first needed."""
        return self.kinds.type_of(self.kind)

    @cached_property
    def owned(self) -> FieldFilter:
        """Which fields a write through this endpoint may own."""
        has_status = any(s.name == "status" for s in self.resource.subresources)
        rules = self.strategy
        return of_endpoint(self.subresource, has_status=has_status, also=rules.unowned_fields, only=rules.owned_fields)

    @cached_property
    def formats(self) -> Sequence[Serializer]:
        """The body formats of this kind."""
        return PRODUCED if self.resource.schema is None else SELF_DESCRIBING

    @cached_property
    def forms(self) -> Forms:
        """How objects are written in each form."""
        return Forms(self.resource, self.kinds, self.kind if self.subresource else None)

    def context(self, request: Request) -> Context:
        """Where the storage call is aimed."""
        info = request.info
        namespace = info.namespace if info is not None and self.resource.namespaced else ""
        return Context(request, namespace)

    def admission_request(
        self,
        request: Request,
        operation: str,
        name: str,
        obj: Object | None,
        old: Object | None,
        *,
        dry_run: bool,
        options: Object,
    ) -> AdmissionRequest:
        """What the admission plugins are asked about this write."""
        info, user = request.info, request.user
        assert info is not None
        assert user is not None
        return AdmissionRequest(
            operation=operation,
            kind=self.kind,
            resource=GroupVersionResource(*self.resource.gvr),
            subresource=self.subresource,
            name=name,
            namespace=info.namespace if self.resource.namespaced or self.resource.plural == info.resource else "",
            object=obj,
            old_object=old,
            user=user,
            dry_run=dry_run,
            options=options,
            request=request,
            server=self.server,
            definition=self.resource,
        )

    def served(self, obj: EncodedObject) -> Object:
        """The object, decoded, in the version of this endpoint."""
        return self.forms.decode(obj)

    def to_storage(self, obj: Object) -> Object:
        """Bring an object of this version into the storage version, in place.

        One without a Go type keeps what the storage version does not have until its store has checked it.
        """
        resource = self.resource
        if self.subresource and self.kind != resource.gvk:
            return obj
        target = resource.storage_gvk
        if target != resource.gvk:
            if resource.to_storage is not None:
                resource.to_storage(obj)
            obj["kind"], obj["apiVersion"] = target.kind, str(target.group_version)
        return obj
