"""May they? One decision for each request; no is 403, and so is nobody's opinion.

COMPAT: endpoints/filters WithAuthorization, handlers/responsewriters Forbidden
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

from apiserver import hookimpl
from apiserver.api import logs
from apiserver.api.auth import Attributes, Decision, User
from apiserver.api.errors import ApiError, Forbidden, PlainError, Unauthorized
from apiserver.api.names import GroupResource
from apiserver.api.request import ENVIRON_KEY, RequestInfo
from apiserver.api.server import Filter, Server, WsgiApp
from apiserver.api.settings import Setting

LOG = logging.getLogger(__name__)
DECISION_ANNOTATION = "authorization.k8s.io/decision"
REASON_ANNOTATION = "authorization.k8s.io/reason"
MODES = ("AlwaysAllow", "AlwaysDeny", "Node", "RBAC")
UNAUTHORIZED = Unauthorized()
_HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def attributes_of(user: User, info: RequestInfo) -> Attributes:
    """What an authorizer is asked about a request. COMPAT: endpoints/filters GetAuthorizerAttributes"""
    return Attributes(
        user, info.verb, info.path, info.is_resource, info.group, info.version, info.resource, info.subresource,
        info.namespace, info.name, info.field_selector, info.label_selector,
    )  # fmt: skip


def message(attributes: Attributes) -> str:
    """What the user can't do. COMPAT: responsewriters forbiddenMessage"""
    user, verb = logs.quote(attributes.user.name), attributes.verb
    if not attributes.is_resource:
        return f"User {user} cannot {verb} path {logs.quote(attributes.path)}"
    resource = attributes.resource
    if attributes.subresource:
        resource += f"/{attributes.subresource}"
    where = f"in the namespace {logs.quote(attributes.namespace)}" if attributes.namespace else "at the cluster scope"
    group = logs.quote(attributes.group)
    return f"User {user} cannot {verb} resource {logs.quote(resource)} in API group {group} {where}"


def refusal(attributes: Attributes, reason: str) -> ApiError:
    """The 403 for a decision that is not to allow."""
    text = message(attributes).translate(_HTML)
    error = Forbidden.for_object(
        GroupResource(attributes.group, attributes.resource), attributes.name, f"{text}: {reason}" if reason else text
    )
    error.headers = (("X-Content-Type-Options", "nosniff"),)
    return error


@hookimpl
def apiserver_settings() -> Iterable[Setting]:
    """Which authorizers are asked."""
    yield Setting(
        "authorization-mode", "list", "AlwaysAllow", group="Authorization", choices=MODES, metavar="mode,...",
        help="Authorizers to ask: AlwaysAllow, AlwaysDeny, RBAC. Group system:masters may do everything in any mode. "
        "Node is known and has no opinion.",
    )  # fmt: skip


@hookimpl(priority=2400, after="authentication", requires=["audit-init", "request-info", "authentication"])
def apiserver_filter(server: Server) -> Filter:
    """The filter."""

    def wrap(inner: WsgiApp) -> WsgiApp:
        ask = server.authorize

        def app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
            request = environ[ENVIRON_KEY]
            if request.user is None:
                return UNAUTHORIZED(environ, start_response)
            attributes = attributes_of(request.user, request.info)
            try:
                decision, reason = ask(attributes)
            except Exception as problem:
                logs.error(LOG, "Authorization error", exc_info=True, URI=request.uri)
                return PlainError.internal(request.uri, problem)(environ, start_response)
            annotations = request.annotations
            annotations[REASON_ANNOTATION] = reason
            if decision is Decision.ALLOW:
                annotations[DECISION_ANNOTATION] = "allow"
                return inner(environ, start_response)
            annotations[DECISION_ANNOTATION] = "forbid"
            logs.info(LOG, "Forbidden", v=4, URI=request.uri, reason=reason)
            return refusal(attributes, reason)(environ, start_response)

        return app

    return wrap
