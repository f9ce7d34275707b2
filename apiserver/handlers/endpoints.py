"""Endpoints: what can be done with a resource or subresource, and which handler does it.

Which methods exist follows from which protocols the storage object implements. Built once; the router looks endpoints
up, discovery and OpenAPI describe them.

COMPAT: k8s.io/apiserver/pkg/endpoints/installer.go registerResourceHandlers
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import falcon

from apiserver.api import rest
from apiserver.api.errors import MethodNotAllowed
from apiserver.api.names import GroupVersionKind
from apiserver.api.request import Request
from apiserver.api.resource import Resource
from apiserver.handlers.connect import connect, stream
from apiserver.handlers.create import create
from apiserver.handlers.delete import delete, delete_collection
from apiserver.handlers.get import get
from apiserver.handlers.list import list_
from apiserver.handlers.negotiation import check_produces
from apiserver.handlers.patch import patch
from apiserver.handlers.scope import Scope
from apiserver.handlers.update import update
from apiserver.handlers.watch import watch

Responder = Callable[[falcon.Request, falcon.Response], None]
Handler = Callable[[Scope, falcon.Request, falcon.Response], None]

OBJECT, COLLECTION, EVERYWHERE = "object", "collection", "all namespaces"


class Methods(dict[str, Responder]):
    """HTTP methods of one path; any other answers 405."""

    def __missing__(self, method: str) -> Responder:
        return not_allowed


def not_allowed(req: falcon.Request, resp: falcon.Response) -> None:  # noqa: ARG001 - a responder
    """Answer 405. COMPAT: go-restful tells the allowed methods only for OPTIONS filters, which upstream has not."""
    raise MethodNotAllowed.for_route()


def _list_or_watch(scope: Scope, req: falcon.Request, resp: falcon.Response) -> None:
    info = Request.of(req.env).info
    (watch if info is not None and info.verb == "watch" else list_)(scope, req, resp)


@dataclass(frozen=True, slots=True)
class Action:
    """One verb: the protocol it needs, where and under which method it is served, and its handler."""

    verb: str
    needs: type
    place: str
    method: str
    handler: Handler


ACTIONS = (
    Action("get", rest.Getter, OBJECT, "GET", get),
    Action("get", rest.Streamer, OBJECT, "GET", stream),
    Action("update", rest.Updater, OBJECT, "PUT", update),
    Action("patch", rest.Patcher, OBJECT, "PATCH", patch),
    Action("delete", rest.GracefulDeleter, OBJECT, "DELETE", delete),
    Action("list", rest.Lister, COLLECTION, "GET", _list_or_watch),
    Action("create", rest.Creater, COLLECTION, "POST", create),
    Action("create", rest.NamedCreater, OBJECT, "POST", create),
    Action("deletecollection", rest.CollectionDeleter, COLLECTION, "DELETE", delete_collection),
)


@dataclass(slots=True)
class Endpoint:
    """A resource or subresource with its methods by place: one object, the collection, all namespaces."""

    scope: Scope
    verbs: set[str] = field(default_factory=set)
    methods: Mapping[str, Methods] = field(default_factory=dict)

    @property
    def resource(self) -> Resource:
        return self.scope.resource

    @property
    def subresource(self) -> str:
        return self.scope.subresource

    @property
    def kind(self) -> GroupVersionKind:
        return self.scope.kind

    @property
    def path(self) -> str:
        """``pods`` or ``pods/status``."""
        return f"{self.resource.plural}/{self.subresource}" if self.subresource else self.resource.plural

    @property
    def stored(self) -> bool:
        """Whether objects of this resource are kept in the store."""
        return self.resource.storage is None


@functools.cache
def _members(protocol: type) -> frozenset[str]:
    names = (name for base in protocol.__mro__ for name in (*vars(base), *vars(base).get("__annotations__", ())))
    return frozenset(name for name in names if not name.startswith("_"))


def _implements(storage: object, protocol: type) -> bool:
    """``isinstance`` for protocols, which takes milliseconds when all resources are asked for all of them."""
    return all(getattr(storage, name, None) is not None for name in _members(protocol))


def make_endpoint(scope: Scope, verbs: Sequence[str] | None) -> Endpoint:
    """The endpoint of ``scope``.

    :param verbs: the only ones to serve, None = all that the storage can.
    """
    endpoint = Endpoint(scope)
    methods = {place: Methods() for place in (OBJECT, COLLECTION, EVERYWHERE)}
    for action in ACTIONS:
        allowed = verbs is None or action.verb in verbs
        if not allowed or not _implements(scope.storage, action.needs):
            continue
        if bool(scope.subresource) != (action.needs is rest.NamedCreater) and action.verb == "create":
            continue
        if scope.subresource and action.place != OBJECT:
            continue
        endpoint.verbs.add(action.verb)
        responder = _bound(scope, action)
        methods[action.place][action.method] = responder
        if action.verb == "list":
            methods[EVERYWHERE][action.method] = responder
    if _implements(scope.storage, rest.Watcher) and (verbs is None or "watch" in verbs) and not scope.subresource:
        endpoint.verbs.add("watch")
    if _implements(scope.storage, rest.Connecter):
        _connect(endpoint, scope, methods[OBJECT])
    if not scope.resource.namespaced:
        methods[EVERYWHERE] = methods[COLLECTION]
    endpoint.methods = methods
    return endpoint


_CONNECT_VERBS = {"GET": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}


def _connect(endpoint: Endpoint, scope: Scope, methods: Methods) -> None:
    for method in scope.storage.methods:
        if method in _CONNECT_VERBS:
            endpoint.verbs.add(_CONNECT_VERBS[method])
        methods[method] = lambda req, resp: connect(scope, req, resp)


def _bound(scope: Scope, action: Action) -> Responder:
    handler, deprecated = action.handler, scope.resource.deprecated
    streams = action.verb == "list"
    own = ("text/plain",) if action.needs is rest.Streamer else ()

    def respond(req: falcon.Request, resp: falcon.Response) -> None:
        if deprecated:
            Request.of(req.env).warn(deprecated)
        check_produces(req.env.get("HTTP_ACCEPT", ""), streams, own)
        handler(scope, req, resp)

    return respond


def describe(endpoint: Endpoint) -> list[Mapping[str, Any]]:
    """The endpoint's paths with their verbs, for people and for ``--json``."""
    resource = endpoint.resource
    base = f"/apis/{resource.group}/{resource.version}" if resource.group else f"/api/{resource.version}"
    scoped = f"{base}/namespaces/{{namespace}}" if resource.namespaced else base
    tail = f"/{endpoint.subresource}" if endpoint.subresource else ""
    paths = {OBJECT: f"{scoped}/{resource.plural}/{{name}}{tail}", COLLECTION: f"{scoped}/{resource.plural}"}
    if resource.namespaced:
        paths[EVERYWHERE] = f"{base}/{resource.plural}"
    return [
        {"path": path, "verbs": list(endpoint.methods[place]), "kind": str(endpoint.kind.kind)}
        for place, path in paths.items()
        if endpoint.methods[place]
    ]
