"""Who asks, and whether they may: the words that authenticators, authorizers, filters and admission share.

COMPAT: k8s.io/apiserver/pkg/authentication/user, .../authorization/authorizer
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from apiserver.api.request import Request

AUTHENTICATED = "system:authenticated"
UNAUTHENTICATED = "system:unauthenticated"
ANONYMOUS = "system:anonymous"
MASTERS = "system:masters"


@dataclass(frozen=True, slots=True)
class User:
    """Somebody who was authenticated. ``extra`` maps a key to its values."""

    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def authenticated(user: User) -> User:
    """``user`` in the group that everybody who was authenticated is in; unchanged when it is decided already.

    COMPAT: authentication/group AuthenticatedGroupAdder
    """
    if AUTHENTICATED in user.groups or UNAUTHENTICATED in user.groups:
        return user
    return replace(user, groups=(*user.groups, AUTHENTICATED))


def bearer_token(environ: Mapping[str, Any]) -> str:
    """The token of an ``Authorization: Bearer`` header; "" without one. COMPAT: authentication/request/bearertoken"""
    header = environ.get("HTTP_AUTHORIZATION", "").strip()
    if not header:
        return ""
    scheme, _, rest = header.partition(" ")
    return rest.partition(" ")[0] if scheme.lower() == "bearer" else ""


WANTED_AUDIENCES = "authentication.wanted-audiences"
"""Key of ``Request.state``: the audiences one of which a token must be for, when they are not the server's own."""
MATCHED_AUDIENCES = "authentication.matched-audiences"
"""Key of ``Request.state``: those that the token is for, left there by authenticators that know."""


class Authenticator(Protocol):
    """One way to tell who sent a request."""

    def authenticate(self, request: Request) -> User | None:
        """The user, or None when the request carries no credential of this kind.

        :raises Unauthorized: it does carry one, and it is bad. Nobody else is asked then.
        """


class Decision(enum.Enum):
    """What an authorizer says."""

    ALLOW = "allow"
    DENY = "deny"
    NO_OPINION = "no opinion"


class Attributes(NamedTuple):
    """What is to be done, by whom. For non-resource requests only ``user``, ``verb`` and ``path`` count."""

    user: User
    verb: str
    path: str
    is_resource: bool
    group: str = ""
    version: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    field_selector: str = ""
    label_selector: str = ""


class Authorizer(Protocol):
    """One opinion on whether a user may do something."""

    def authorize(self, attributes: Attributes) -> tuple[Decision, str]:
        """The decision and its reason ("" for none). An exception is an internal error (500), not a refusal."""


class Rules(NamedTuple):
    """What a user may do in a namespace, as far as it can be told: rules as in SubjectRulesReviewStatus.

    ``incomplete``: somebody was asked who decides without rules.
    """

    resources: Sequence[Mapping[str, Any]] = ()
    non_resources: Sequence[Mapping[str, Any]] = ()
    incomplete: bool = False
    problem: str = ""


@runtime_checkable
class RuleResolver(Protocol):
    """An authorizer that can tell its rules. COMPAT: authorizer.RuleResolver"""

    def rules_for(self, user: User, namespace: str) -> Rules:
        """The rules of ``user`` in ``namespace``, those of the cluster included."""
