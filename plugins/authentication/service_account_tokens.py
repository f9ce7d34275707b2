"""Users by service account token: JSON Web Tokens that this server, or one with the same key, has signed.

COMPAT: pkg/serviceaccount JWTTokenAuthenticator, k8s.io/kubernetes/pkg/kubeapiserver/authenticator
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from apiserver import hookimpl
from apiserver.api.auth import (
    MATCHED_AUDIENCES,
    WANTED_AUDIENCES,
    Authenticator,
    User,
    authenticated,
    bearer_token,
)
from apiserver.api.errors import Unauthorized
from apiserver.api.keys import read_private, read_public
from apiserver.api.request import Request
from apiserver.api.server import Server
from apiserver.api.settings import Config, ConfigError
from apiserver.api.tokens import (
    LEGACY_ISSUER,
    Claims,
    TokenError,
    TokenSettings,
    audiences_of,
    peek,
    verify,
)
from apiserver_plugins.authentication.accounts import bound, legacy
from apiserver_plugins.authentication.accounts.account import Account, Objects

SIGNING, VERIFYING = "service-account-signing-key-file", "service-account-key-file"
SPACES = "the provided Authorization header contains extra space before the bearer token, and is ignored"
REMEMBERED = 1000
"""Tokens whose good signature is remembered; all else is looked at each time."""


class ServiceAccount:
    """The authenticator. What is no token, or one of another issuer, may be somebody else's: it has no opinion then.

    :param lookup: whether tokens in Secrets are good only as long as the Secret is there.
    """

    def __init__(self, settings: TokenSettings, objects: Objects, *, lookup: bool) -> None:
        self._settings = settings
        self._objects = objects
        self._lookup = lookup
        self._signed: dict[str, Claims] = {}

    def authenticate(self, request: Request) -> User | None:
        """The account of the bearer token.

        :raises Unauthorized: it is a token of ours and no good. COMPAT: the text of the union of bearer tokens.
        """
        token = bearer_token(request.environ)
        if not token:
            _warn_of_spaces(request)
        looked_at = peek(token) if token else None
        if looked_at is None:
            return None
        head, claims = looked_at
        issuer = claims.get("iss")
        if issuer not in self._settings.issuers and issuer != LEGACY_ISSUER:
            return None
        try:
            claims = self._signed.get(token) or self._verify(token, head)
            matched = self._match(audiences_of(claims), request.state.get(WANTED_AUDIENCES))
            account = self._account(token, claims, request)
        except TokenError as ex:
            raise Unauthorized(f"[invalid bearer token, {ex}]") from ex
        request.state[MATCHED_AUDIENCES] = matched
        return authenticated(account.user())

    def _verify(self, token: str, head: Claims) -> Claims:
        key_id = head.get("kid")
        claims = verify(token, key_id if isinstance(key_id, str) else "", self._settings.keys)
        if len(self._signed) >= REMEMBERED:
            self._signed.clear()
        self._signed[token] = claims
        return claims

    def _match(self, given: Sequence[str], wanted: Sequence[str] | None) -> tuple[str, ...]:
        """Which of the token's audiences were asked for."""
        given = given or self._settings.audiences
        wanted = self._settings.audiences if wanted is None else wanted
        matched = tuple(audience for audience in given if audience in wanted)
        if not matched:
            raise TokenError(f"token audiences {_quoted(given)} is invalid for the target audiences {_quoted(wanted)}")
        return matched

    def _account(self, token: str, claims: Claims, request: Request) -> Account:
        if claims.get("iss") == LEGACY_ISSUER:
            return legacy.account_of(token, claims, self._objects if self._lookup else None, request)
        return bound.account_of(claims, self._objects, request)


def _warn_of_spaces(request: Request) -> None:
    """COMPAT: authentication/request/bearertoken: a token after two spaces counts as none."""
    if request.environ.get("HTTP_AUTHORIZATION", "").lstrip()[:8].lower() == "bearer  ":
        request.warn(SPACES)


def _quoted(texts: Sequence[str]) -> str:
    """A list of texts as Go's %q shows it."""
    return f"[{' '.join(json.dumps(text, ensure_ascii=False) for text in texts)}]"


@hookimpl
def apiserver_configure(config: Config) -> None:
    """Refuse keys that can't be used before anything is built."""
    given: list[tuple[str, Callable[[Path], object], str]]
    given = [(SIGNING, read_private, path) for path in (config.text(SIGNING),) if path]
    given += [(VERIFYING, read_public, path) for path in config.strings(VERIFYING)]
    problems = []
    for setting, read, path in given:
        try:
            read(Path(path))
        except (OSError, ValueError) as problem:
            problems.append(f"--{setting}: {problem}")
    if problems:
        raise ConfigError(*problems)


@hookimpl(priority=400, after="token-file")
def apiserver_authenticator(server: Server) -> Authenticator:
    """Always on."""
    settings = TokenSettings(server.config)
    return ServiceAccount(settings, Objects(server), lookup=server.config.boolean("service-account-lookup"))
