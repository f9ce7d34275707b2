"""The reviews of this group: who is this? Answered by the authenticators, never stored.

COMPAT: pkg/registry/authentication/tokenreview, selfsubjectreview
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from apiserver.api.auth import ANONYMOUS, MATCHED_AUDIENCES, WANTED_AUDIENCES, User, authenticated
from apiserver.api.durations import now
from apiserver.api.errors import BadRequest, Unauthorized
from apiserver.api.request import Request
from apiserver.api.rest import Context
from apiserver.api.server import Server

Object = dict[str, Any]
Admit = Callable[[Object], None]

UNKNOWN = "invalid bearer token"


def _user_info(user: User) -> Object:
    info: Object = {}
    for field, value in (("username", user.name), ("uid", user.uid), ("groups", list(user.groups))):
        if value:
            info[field] = value
    if user.extra:
        info["extra"] = {key: list(values) for key, values in user.extra.items()}
    return info


def token(server: Server, ctx: Context, obj: Object, admit: Admit) -> Object:
    """TokenReview: whose token is this? :raises BadRequest: there is none."""
    spec = obj.get("spec") or {}
    if not spec.get("token"):
        raise BadRequest("token is required for TokenReview in authentication")
    admit(obj)
    return {**obj, "status": _token_status(server, spec["token"], spec.get("audiences") or ())}


def _token_status(server: Server, text: str, audiences: Any) -> Object:
    own = server.config.strings("api-audiences") or server.config.strings("service-account-issuer")
    wanted = tuple(audiences) or own
    request = Request({"REQUEST_METHOD": "GET", "PATH_INFO": "/", "HTTP_AUTHORIZATION": f"Bearer {text}"})
    request.state[WANTED_AUDIENCES] = wanted
    try:
        user = server.authenticate(request)
    except Unauthorized as ex:
        return {"user": {}, "error": ex.message}
    # COMPAT: who does not know about audiences is good for the server's own
    matched = request.state.get(MATCHED_AUDIENCES) or tuple(a for a in own if a in wanted)
    if user is None or user.name == ANONYMOUS or not matched:
        return {"user": {}, "error": UNKNOWN}
    return {"authenticated": True, "user": _user_info(authenticated(user)), "audiences": list(matched)}


def own(server: Server, ctx: Context, obj: Object, admit: Admit) -> Object:
    """SelfSubjectReview: who am I?"""
    admit(obj)
    user = ctx.request.user
    assert user is not None
    return {
        "kind": obj["kind"],
        "apiVersion": obj["apiVersion"],
        "metadata": {"creationTimestamp": now()},
        "status": {"userInfo": _user_info(user)},
    }
