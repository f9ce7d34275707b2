"""The router: Falcon asks it who answers a request, it asks the delegates in order.

A delegate is a callable ``(Request) -> DelegateMatch | None`` from the hook ``apiserver_delegate``; the lowest number
is asked first. :class:`ResourceDelegate` here is what the built-in ``resources`` delegate hands on: the declared
resources, the discovery documents and the other routes. What nobody claims is not found.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import falcon
from falcon.routing import CompiledRouterOptions

from apiserver.api.errors import ApiError, NotFound, PlainError, ServiceUnavailable
from apiserver.api.names import GroupResource, GroupVersion
from apiserver.api.request import Request, RequestInfo
from apiserver.api.server import DelegateMatch, Route
from apiserver.handlers.discovery import Discovery, write_legacy, write_root
from apiserver.handlers.endpoints import COLLECTION, EVERYWHERE, OBJECT, Endpoint, Methods
from apiserver.handlers.wsgi import respond_with

Delegate = Callable[[Request], DelegateMatch | None]
EARLY_TEXT = "the request has been made before all known HTTP paths have been installed, please try again"


class _Everything(dict[str, Any]):
    """The same responder for every HTTP method."""

    def __init__(self, responder: Any) -> None:
        super().__init__()
        self._responder = responder

    def __missing__(self, method: str) -> Any:
        return self._responder


class DelegatingRouter:
    """Falcon's router interface over the delegates."""

    def __init__(self, delegates: Sequence[Delegate]) -> None:
        self._delegates = tuple(delegates)
        self.options = CompiledRouterOptions()

    def add_route(self, uri_template: str, resource: Any, **kwargs: Any) -> None:
        """Not used: routes come from declarations."""
        raise TypeError("routes are declared with apiserver_resources and apiserver_routes")

    def find(self, uri: str, req: falcon.Request | None = None) -> tuple[Any, Any, dict[str, Any], str]:
        """Who answers: (object, responder by method, parameters, template)."""
        assert req is not None
        request = Request.of(req.env)
        for delegate in self._delegates:
            match = delegate(request)
            if match is not None:
                responders = match.responders if match.responders is not None else _Everything(_adapter(match.app))
                return match, responders, {}, uri
        return self, _Everything(_not_found), {}, uri


def _adapter(app: Any) -> Callable[..., None]:
    def respond(req: falcon.Request, resp: falcon.Response, **_params: Any) -> None:
        respond_with(app, req, resp)

    return respond


def _not_found(req: falcon.Request, resp: falcon.Response, **_params: Any) -> None:  # noqa: ARG001 - a responder
    # COMPAT: NotFoundHandler: before everything is installed nobody can say that a path does not exist
    if Request.of(req.env).early:
        raise ServiceUnavailable(EARLY_TEXT, retry_after=5)
    raise PlainError(404, "404 page not found")


def make_app(delegates: Sequence[Delegate]) -> falcon.App[falcon.Request, falcon.Response]:
    """The Falcon application over the delegates."""
    router: Any = DelegatingRouter(delegates)  # Falcon takes anything with its router's methods
    app: falcon.App[falcon.Request, falcon.Response] = falcon.App(router=router, media_type="application/json")
    app.add_error_handler(ApiError, _answer_error)
    # Anything else is for the filters outside: panic recovery answers, and logs what happened.
    app.add_error_handler(Exception, _pass_on)
    # Every answer says itself what it is, and one without a body says nothing.
    app.resp_options.default_media_type = None  # type: ignore[assignment]  # Falcon means it so, its types do not say
    return app


def _answer_error(req: falcon.Request, resp: falcon.Response, ex: ApiError, params: Mapping[str, Any]) -> None:  # noqa: ARG001
    resp.data = None
    resp.stream = None
    respond_with(ex, req, resp)


def _pass_on(req: falcon.Request, resp: falcon.Response, ex: Exception, params: Mapping[str, Any]) -> None:  # noqa: ARG001
    raise ex


class ResourceDelegate:
    """Claims resources, their discovery documents and routes.

    :param endpoints: of its resources and subresources.
    :param discovery: makes the documents of all that the server serves, this delegate's resources or not.
    :param routes: paths that are no resources.
    :param name: what it is called where people see who answers a path.
    :param declared: whether plugins have declared its resources, so that they never change: it then answers for the
        lists of all groups, too.
    """

    def __init__(
        self,
        endpoints: Sequence[Endpoint],
        discovery: Callable[[], Discovery],
        routes: Sequence[Route] = (),
        *,
        name: str = "resources",
        declared: bool = True,
    ) -> None:
        self.name = name
        self.endpoints = tuple(endpoints)
        self.discovery = discovery
        self.routes = tuple(routes)
        self._declared = declared
        self._by_name = {(e.resource.group, e.resource.version, e.resource.plural, e.subresource): e for e in endpoints}
        self._exact = {r.path: self._of_route(r) for r in routes if not r.prefix}
        self._prefixes = sorted(((r.path, self._of_route(r)) for r in routes if r.prefix), reverse=True)
        self._listed = {r.path for r in routes if r.listed}
        self._groups = {e.resource.group for e in endpoints}
        self._missing = DelegateMatch(responders=_Everything(_missing if declared else _unknown), delegate=name)
        self._documents: tuple[Discovery | None, dict[str, DelegateMatch]] = None, {}

    def _of_route(self, route: Route) -> DelegateMatch:
        responders: Any = _Everything(_adapter(route.app))
        if route.methods:
            responders = Methods({m: _adapter(route.app) for m in route.methods})
        return DelegateMatch(responders=responders, delegate=self.name)

    def paths(self) -> list[str]:
        """Every path that ``GET /`` lists of what this delegate serves."""
        found = {"/api", "/apis", "/apis/", *self._listed} if self._declared else set()
        for group, version in {e.resource.group_version for e in self.endpoints}:
            found |= {f"/apis/{group}", f"/apis/{group}/{version}"} if group else {f"/api/{version}"}
        return sorted(found)

    def __call__(self, request: Request) -> DelegateMatch | None:
        info = request.info
        if info is None:
            return None
        if info.is_resource:
            return self._resource(info)
        found = self._exact.get(info.path) or self._document(info.path)
        if found is None:
            found = next((match for path, match in self._prefixes if info.path.startswith(path)), None)
        return found

    def _resource(self, info: RequestInfo) -> DelegateMatch | None:
        endpoint = self._by_name.get((info.group, info.version, info.resource, info.subresource))
        if endpoint is None or not self._fits(endpoint, info):
            return self._refusal(info)
        if len(info.parts) > 1 and info.verb != "watch":
            place = OBJECT
        else:
            place = COLLECTION if info.namespace or not endpoint.resource.namespaced else EVERYWHERE
        return DelegateMatch(responders=endpoint.methods[place], delegate=self.name)

    def _refusal(self, info: RequestInfo) -> DelegateMatch | None:
        """The answer for a resource that is not here, None if it may be elsewhere."""
        if self._declared:
            return self._missing if info.group in self._groups else None
        # COMPAT: crdHandler.ServeHTTP: only a subresource is refused by name, everything else is for the next delegate
        parent = (info.group, info.version, info.resource, "")
        return self._missing if info.subresource and parent in self._by_name else None

    @staticmethod
    def _fits(endpoint: Endpoint, info: RequestInfo) -> bool:
        """Whether scope and length of the path are the resource's."""
        if len(info.parts) > 3 and not hasattr(endpoint.scope.storage, "connect"):
            return False
        namespaced = endpoint.resource.namespaced
        if not namespaced and info.namespace and endpoint.resource.plural != "namespaces":
            return False
        return not (namespaced and len(info.parts) > 1 and not info.namespace)

    def _document(self, path: str) -> DelegateMatch | None:
        path = path.rstrip("/")
        if not path.startswith(("/api/", "/apis/")) and not (self._declared and path in ("/api", "/apis")):
            return None
        discovery = self.discovery()
        made_of, documents = self._documents
        if made_of is not discovery:
            documents = {}
            self._documents = discovery, documents
        found = documents.get(path)
        if found is None:
            responders = self._make_document(path, discovery)
            if responders is None:
                return self._missing if self._declared and self._below_known_group(path) else None
            found = documents[path] = DelegateMatch(responders=responders, delegate=self.name)
        return found

    def _below_known_group(self, path: str) -> bool:
        parts = path.split("/")[1:]
        if len(parts) < 2 or parts[0] not in ("api", "apis"):
            return False
        return "" in self._groups if parts[0] == "api" else len(parts) > 2 and parts[1] in self._groups

    def _make_document(self, path: str, discovery: Discovery) -> Any:
        if path == "/api":
            return _Everything(lambda q, s: write_root(q, s, discovery.core_versions, discovery.aggregated_core))
        if path == "/apis":
            return _Everything(lambda q, s: write_root(q, s, discovery.group_list, discovery.aggregated_groups))
        _, prefix, *rest = path.split("/")
        if (rest[0] if prefix == "apis" else "") not in self._groups:
            return None
        if prefix == "apis" and len(rest) == 1 and (group := discovery.group(rest[0])):
            return _Everything(lambda q, s: write_legacy(q, s, group))
        version = GroupVersion(*rest) if prefix == "apis" and len(rest) == 2 else None
        if prefix == "api" and len(rest) == 1:
            version = GroupVersion("", rest[0])
        listed = discovery.resource_list(version) if version is not None else None
        if listed is None:
            return None
        return Methods({"GET": lambda q, s, **_: write_legacy(q, s, listed)})


def _missing(req: falcon.Request, resp: falcon.Response, **_params: Any) -> None:  # noqa: ARG001 - a responder
    raise NotFound.for_route()


def _unknown(req: falcon.Request, resp: falcon.Response, **_params: Any) -> None:  # noqa: ARG001 - a responder
    info = Request.of(req.env).info
    assert info is not None
    raise NotFound.for_object(GroupResource(info.group, info.resource), info.name)
