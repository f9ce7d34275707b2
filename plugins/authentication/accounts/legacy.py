"""Tokens without an end that are kept in Secrets of type ``kubernetes.io/service-account-token``.

COMPAT: pkg/serviceaccount legacy.go legacyValidator.Validate
"""

from __future__ import annotations

import base64
import binascii
import hmac

from apiserver.api.errors import NotFound
from apiserver.api.names import GroupResource
from apiserver.api.request import Request
from apiserver.api.tokens import Claims, TokenError, username
from apiserver_plugins.authentication.accounts.account import INVALIDATED, Account, Objects, text

SECRETS = GroupResource("", "secrets")
PREFIX = "kubernetes.io/serviceaccount/"
AUDIT = "authentication.k8s.io/legacy-token"
_NEEDED = {
    "namespace": "namespace",
    "secret.name": "secretName",
    "service-account.name": "serviceAccountName",
    "service-account.uid": "serviceAccountUID",
}


def account_of(token: str, claims: Claims, objects: Objects | None, request: Request) -> Account:
    """The account of a token whose signature is good.

    :param objects: None to take the claims' word for it (``--service-account-lookup=false``).
    :raises TokenError: claims are missing, or the Secret or the account is gone.
    """
    subject = text(claims, "sub")
    if not subject:
        raise TokenError("sub claim is missing")
    values = [text(claims, PREFIX + name) for name in _NEEDED]
    missing = next((name for name, value in zip(_NEEDED.values(), values, strict=True) if not value), "")
    if missing:
        raise TokenError(f"{missing} claim is missing")
    namespace, secret, name, uid = values
    if subject != username(namespace, name):
        raise TokenError("sub claim is invalid")
    if objects is not None:
        _check_secret(token, namespace, secret, objects)
        if objects.account(namespace, name, uid)["metadata"].get("deletionTimestamp"):
            raise TokenError("service account has been deleted")
    request.annotations.setdefault(AUDIT, subject)
    return Account(namespace, name, uid)


def _check_secret(token: str, namespace: str, name: str, objects: Objects) -> None:
    try:
        secret = objects.get(SECRETS, namespace, name)
        kept = base64.b64decode((secret.get("data") or {}).get("token", ""))
    except (NotFound, binascii.Error) as ex:
        raise TokenError(INVALIDATED) from ex
    if secret["metadata"].get("deletionTimestamp"):
        raise TokenError(INVALIDATED)
    if not hmac.compare_digest(kept, token.encode()):
        raise TokenError("service account token does not match server's copy")
