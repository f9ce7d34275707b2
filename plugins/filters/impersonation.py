"""A user who may acts as somebody else: the Impersonate-* headers.

Whether they may is asked of the authorizers: first with the old verb ``impersonate``, then with the constrained verbs,
which name how (a service account, a node, a user) and what for. A refusal speaks of the constrained verb.

COMPAT: endpoints/filters WithConstrainedImpersonation, WithImpersonation
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from apiserver import hookimpl
from apiserver.api.auth import ANONYMOUS, UNAUTHENTICATED, Attributes, Decision, User, authenticated
from apiserver.api.errors import BadRequest
from apiserver.api.logs import quote
from apiserver.api.request import ENVIRON_KEY, Request
from apiserver.api.server import Filter, Server, WsgiApp
from apiserver_plugins.filters.authorization import UNAUTHORIZED, attributes_of, refusal

PREFIX = "HTTP_IMPERSONATE_"
EXTRA = f"{PREFIX}EXTRA_"
AUTHENTICATION = "authentication.k8s.io"
ACCOUNT = "system:serviceaccount:"
NODE = "system:node:"


@hookimpl(priority=2200, after="authentication", before="authorization", requires=["audit-init", "request-info"])
def apiserver_filter(server: Server) -> Filter:
    """The filter; requests without the headers pass at the cost of one look."""

    def wrap(inner: WsgiApp) -> WsgiApp:
        def app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
            if not any(name.startswith(PREFIX) for name in environ):
                return inner(environ, start_response)
            request: Request = environ[ENVIRON_KEY]
            if request.user is None:
                return UNAUTHORIZED(environ, start_response)
            wanted = wanted_user(environ)
            if not wanted.name:
                return BadRequest(nameless(wanted))(environ, start_response)
            refused = refused_verb(server, request, request.user, wanted)
            if refused is not None:
                return refusal(refused, "")(environ, start_response)
            request.annotations["authentication.k8s.io/impersonated-user"] = wanted.name
            request.user = with_groups(wanted)
            for name in [name for name in environ if name.startswith(PREFIX)]:
                del environ[name]
            return inner(environ, start_response)

        return app

    return wrap


def wanted_user(environ: Mapping[str, Any]) -> User:
    """Who the headers name. Several headers of one name come from the server as one, joined with commas."""
    extra: dict[str, tuple[str, ...]] = {}
    for name, value in environ.items():
        if name.startswith(EXTRA):
            key = unquote(name[len(EXTRA) :].replace("_", "-")).lower()
            extra[key] = _values(value)
    return User(
        environ.get(f"{PREFIX}USER", ""),
        environ.get(f"{PREFIX}UID", ""),
        _values(environ.get(f"{PREFIX}GROUP", "")),
        extra,
    )


def _values(header: str) -> tuple[str, ...]:
    return tuple(value for part in header.split(",") if (value := part.strip()))


def nameless(user: User) -> str:
    """The text for headers without a user name. COMPAT: Go's %#v of user.DefaultInfo"""
    groups = f"[]string{{{', '.join(map(quote, user.groups))}}}" if user.groups else "[]string(nil)"
    extra = "map[string][]string(nil)"
    if user.extra:
        pairs = (f"{quote(k)}:[]string{{{', '.join(map(quote, v))}}}" for k, v in sorted(user.extra.items()))
        extra = f"map[string][]string{{{', '.join(pairs)}}}"
    info = f'&user.DefaultInfo{{Name:"", UID:{quote(user.uid)}, Groups:{groups}, Extra:{extra}}}'
    return f"requested {info} without impersonating a user name"


def with_groups(user: User) -> User:
    """The impersonated user in the groups that authentication would have put it in."""
    if user.name == ANONYMOUS:
        groups = user.groups if UNAUTHENTICATED in user.groups else (*user.groups, UNAUTHENTICATED)
        return User(user.name, user.uid, groups, user.extra)
    account = _account(user.name)
    if account is not None and not user.groups:
        namespace, _ = account
        groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}")
        user = User(user.name, user.uid, groups, user.extra)
    return authenticated(user)


def _account(name: str) -> tuple[str, str] | None:
    """(namespace, name) of a service account's user name."""
    namespace, colon, account = name.removeprefix(ACCOUNT).partition(":")
    return (namespace, account) if name.startswith(ACCOUNT) and colon and namespace and account else None


def refused_verb(server: Server, request: Request, user: User, wanted: User) -> Attributes | None:
    """What ``user`` lacks to act as ``wanted``; None when nothing."""

    def may(attributes: Attributes) -> bool:
        return server.authorize(attributes)[0] is Decision.ALLOW

    assert request.info is not None
    if all(map(may, _asked(user, wanted, "impersonate", "", request.info.path))):
        return None
    mode = _mode(wanted)
    action = attributes_of(user, request.info)
    action = action._replace(verb=f"impersonate-on:{mode}:{action.verb}")
    if not may(action):
        return action
    asked = _asked(user, wanted, f"impersonate:{mode}", AUTHENTICATION, request.info.path)
    return next((attributes for attributes in asked if not may(attributes)), None)


def _mode(wanted: User) -> str:
    if _account(wanted.name) is not None:
        return "serviceaccount"
    return "arbitrary-node" if wanted.name.startswith(NODE) else "user-info"


def _asked(user: User, wanted: User, verb: str, group: str, path: str) -> Iterator[Attributes]:
    """What the authorizers are asked about each part of the identity.

    :param group: of users, groups and service accounts; uids and extras are in ``authentication.k8s.io`` always.
    """
    account = _account(wanted.name)
    if account is not None:
        namespace, name = account
        yield Attributes(user, verb, path, True, group, "v1", "serviceaccounts", "", namespace, name)
    else:
        yield Attributes(user, verb, path, True, group, "v1", "users", "", "", wanted.name)
    for name in wanted.groups:
        yield Attributes(user, verb, path, True, group, "v1", "groups", "", "", name)
    if wanted.uid:
        yield Attributes(user, verb, path, True, AUTHENTICATION, "v1", "uids", "", "", wanted.uid)
    for key, values in wanted.extra.items():
        for value in values:
            yield Attributes(user, verb, path, True, AUTHENTICATION, "v1", "userextras", key, "", value)
