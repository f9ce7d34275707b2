"""Service account tokens: who issues them, how they are signed and read. Shared by what makes and what checks them.

Signatures and times are judged here; whether the account still exists is for the authenticator.

COMPAT: pkg/serviceaccount jwt.go, claims.go
"""

from __future__ import annotations

import base64
import binascii
import functools
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from apiserver.api.keys import SigningKey, TokenKeys
from apiserver.api.settings import Config

Claims = dict[str, Any]

LEGACY_ISSUER = "kubernetes/serviceaccount"
"""Of tokens in Secrets, which have no end."""
LEEWAY = 60
"""Seconds that clocks may differ. COMPAT: go-jose jwt.DefaultLeeway"""
PRIVATE = "kubernetes.io"
"""The claim that says for which account and which object a token is."""
CREDENTIAL_ID = "authentication.kubernetes.io/credential-id"
ISSUED_CREDENTIAL_ID = "authentication.kubernetes.io/issued-credential-id"

USER_PREFIX = "system:serviceaccount:"
ALL_ACCOUNTS = "system:serviceaccounts"


class TokenError(Exception):
    """A token that was meant for us and is bad. The text is for logs and TokenReviews."""


class TokenSettings:
    """What the settings say about service account tokens.

    ``issuers``: the first one issues, all are accepted. ``audiences`` are this server's own.
    """

    def __init__(self, config: Config) -> None:
        self.issuers = config.strings("service-account-issuer")
        self.audiences = config.strings("api-audiences") or self.issuers
        folder = Path(config.text("cert-dir") or Path(config.text("data-dir")) / "pki")
        signing = config.text("service-account-signing-key-file")
        self.keys = _keys(signing, config.strings("service-account-key-file"), folder.absolute() / "sa.key")


@functools.lru_cache(maxsize=8)
def _keys(signing: str, public: tuple[str, ...], own: Path) -> TokenKeys:
    """The same keys for everybody in this process: those who sign, those who verify, those who show them."""
    return TokenKeys(signing, public, own)


def username(namespace: str, name: str) -> str:
    """The user that a service account is. COMPAT: serviceaccount.MakeUsername"""
    return f"{USER_PREFIX}{namespace}:{name}"


def groups(namespace: str) -> tuple[str, ...]:
    """The groups of the service accounts of a namespace. COMPAT: serviceaccount.MakeGroupNames"""
    return (ALL_ACCOUNTS, f"{ALL_ACCOUNTS}:{namespace}")


def credential_id(jti: str) -> str:
    """How a token is called in a user's extra data and in audit. COMPAT: CredentialIDForJTI"""
    return f"JTI={jti}" if jti else ""


def sign(claims: Mapping[str, Any], key: SigningKey) -> str:
    """A signed token."""
    import jwt

    # COMPAT: upstream's tokens have no type in their head
    return jwt.encode(dict(claims), key.key, key.algorithm, headers={"kid": key.id, "typ": ""})


def peek(token: str) -> tuple[Claims, Claims] | None:
    """Header and claims of what looks like a signed token, without believing a word of it; None for anything else."""
    parts = token.split(".")
    if len(parts) != 3:
        return None
    try:
        head, claims = (orjson.loads(_decoded(part)) for part in parts[:2])
    except (ValueError, binascii.Error):
        return None
    return (head, claims) if isinstance(head, dict) and isinstance(claims, dict) else None


def _decoded(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def verify(token: str, key_id: str, keys: TokenKeys) -> Claims:
    """The claims of a token whose signature is good; times are not looked at.

    :raises TokenError: none of our keys has signed it.
    """
    import jwt

    options: Any = {"verify_signature": True}
    options |= {f"verify_{name}": False for name in ("aud", "exp", "iat", "iss", "jti", "nbf", "sub")}
    for key in keys.candidates(key_id):
        try:
            claims: Claims = jwt.decode(token, key.key, algorithms=[key.algorithm], options=options)
        except jwt.PyJWTError:
            continue
        return claims
    raise TokenError("go-jose/go-jose: error in cryptographic primitive")


def check_times(claims: Claims, now: float | None = None) -> None:
    """:raises TokenError: it has ended, or not begun.

    :param now: as ``time.time()``, the default.
    """
    now = time.time() if now is None else now
    if _number(claims, "nbf") > now + LEEWAY:
        raise TokenError("service account token is not valid yet")
    if "exp" in claims and _number(claims, "exp") < now - LEEWAY:
        raise TokenError("service account token has expired")
    if _number(claims, "iat") > now + LEEWAY:
        raise TokenError("service account token is issued in the future")


def _number(claims: Claims, name: str) -> float:
    value = claims.get(name, 0)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TokenError(
            "service account token claims could not be validated due to unexpected validation error: "
            f"{name} is not a number"
        )
    return value


def audiences_of(claims: Claims) -> tuple[str, ...]:
    """Whom a token is meant for."""
    audience = claims.get("aud")
    if isinstance(audience, str):
        return (audience,)
    return tuple(filter(lambda a: isinstance(a, str), audience)) if isinstance(audience, list) else ()
