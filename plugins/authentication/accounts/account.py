"""The service account that a token stands for, and the objects that must exist for it to be good.

COMPAT: pkg/controller/serviceaccount tokengetter.go; k8s.io/apiserver/pkg/authentication/serviceaccount
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from apiserver.api.auth import User
from apiserver.api.errors import NotFound
from apiserver.api.names import GroupResource
from apiserver.api.rest import GetOptions
from apiserver.api.server import Server
from apiserver.api.tokens import CREDENTIAL_ID, TokenError, credential_id, groups, username

ACCOUNTS = GroupResource("", "serviceaccounts")
EXTRA_PREFIX = "authentication.kubernetes.io/"
INVALIDATED = "service account token has been invalidated"


_NOTHING = ("", "")


class Account:
    """A service account, and what its token is bound to: names and uids, "" for none."""

    def __init__(
        self,
        namespace: str,
        name: str,
        uid: str,
        jti: str = "",
        pod: tuple[str, str] = _NOTHING,
        node: tuple[str, str] = _NOTHING,
    ) -> None:
        self.namespace = namespace
        self.name = name
        self.uid = uid
        self.jti = jti
        self.pod = pod
        self.node = node

    def user(self) -> User:
        """Who that is. COMPAT: ServiceAccountInfo.UserInfo"""
        extra: dict[str, tuple[str, ...]] = {}
        if all(self.pod):
            extra |= _named("pod", self.pod)
        if self.node[0]:
            extra |= _named("node", self.node)
        if self.jti:
            extra[CREDENTIAL_ID] = (credential_id(self.jti),)
        return User(username(self.namespace, self.name), self.uid, groups(self.namespace), extra)


def _named(kind: str, what: tuple[str, str]) -> dict[str, tuple[str, ...]]:
    pairs = zip((f"{kind}-name", f"{kind}-uid"), what, strict=True)
    return {EXTRA_PREFIX + key: (value,) for key, value in pairs if value}


class Objects:
    """Looks objects up: in the watch cache, and what is not there yet in the store."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def get(self, resource: GroupResource, namespace: str, name: str) -> dict[str, Any]:
        """:raises NotFound: there is none."""
        try:
            cached = self._server.lister(resource).get(namespace, name)
            if cached is not None:
                return cached.decode()
            context = self._server.system_context(namespace)
            found: dict[str, Any] = self._server.store(resource).get(context, name, GetOptions()).decode()
        except KeyError:
            raise NotFound.for_object(resource, name) from None
        return found

    def account(self, namespace: str, name: str, uid: str) -> dict[str, Any]:
        """A service account. :raises TokenError: it does not exist, or is another one of that name."""
        try:
            found = self.get(ACCOUNTS, namespace, name)
        except NotFound as ex:
            raise TokenError(ex.message) from ex
        actual = found["metadata"].get("uid", "")
        if actual != uid:
            raise TokenError(f"service account UID ({actual}) does not match claim ({uid})")
        return found


def text(claims: Mapping[str, Any], name: str) -> str:
    """A claim that is a text, "" when it is missing or something else."""
    value = claims.get(name)
    return value if isinstance(value, str) else ""
