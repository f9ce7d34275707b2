"""Users by client certificate: the common name is the user, the organizations are the groups.

The TLS library has verified the certificate against the client CAs before any request is read.

COMPAT: authentication/request/x509 with CommonNameUserConversion
"""

from __future__ import annotations

import hashlib
import logging
import time
from typing import NamedTuple

from cryptography import x509
from cryptography.x509.oid import NameOID

from apiserver import hookimpl
from apiserver.api import logs
from apiserver.api.auth import Authenticator, User, authenticated
from apiserver.api.errors import Unauthorized
from apiserver.api.request import Request
from apiserver.api.serving import peer_certificate

LOG = logging.getLogger(__name__)
CREDENTIAL_ID = "authentication.kubernetes.io/credential-id"
UID = x509.ObjectIdentifier("1.3.6.1.4.1.57683.2")
"""The attribute of a subject that holds the user's uid."""
REMEMBERED = 1000
"""Certificates whose user is kept."""


class _Known(NamedTuple):
    """A certificate that was seen: its user, None when it names none, and when it ends (``time.time()``)."""

    user: User | None
    ends: float


def user_of(der: bytes) -> tuple[User | None, float]:
    """The user that a certificate names, None without a common name, and the time at which it ends.

    :raises ValueError: these bytes are no certificate.
    """
    certificate = x509.load_der_x509_certificate(der)
    ends = certificate.not_valid_after_utc.timestamp()

    def values(kind: x509.ObjectIdentifier) -> list[str]:
        return [str(attribute.value) for attribute in certificate.subject.get_attributes_for_oid(kind)]

    names, uids = values(NameOID.COMMON_NAME), values(UID)
    # COMPAT: Go's pkix.Name keeps the last common name
    if not names or not names[-1]:
        return None, ends
    if len(uids) > 1 or uids == [""]:
        raise ValueError("the uid of a certificate must be one text that is not empty")
    credential = (f"X509SHA256={hashlib.sha256(der).hexdigest()}",)
    groups = tuple(values(NameOID.ORGANIZATION_NAME))
    return authenticated(User(names[-1], uids[0] if uids else "", groups, {CREDENTIAL_ID: credential})), ends


class ClientCertificate:
    """The authenticator. Certificates are parsed once: a connection sends the same one with each request."""

    def __init__(self) -> None:
        self._known: dict[bytes, _Known] = {}

    def authenticate(self, request: Request) -> User | None:
        """The user of the connection's certificate. :raises Unauthorized: it has ended, or names nobody properly."""
        der = peer_certificate(request.environ)
        if not der:
            return None
        known = self._known.get(der) or self._learn(der)
        if known.ends < time.time():
            raise Unauthorized("x509: certificate has expired or is not yet valid")
        return known.user

    def _learn(self, der: bytes) -> _Known:
        try:
            known = _Known(*user_of(der))
        except ValueError as problem:
            logs.error(LOG, "Client certificate cannot be used", err=str(problem))
            raise Unauthorized(str(problem)) from problem
        if len(self._known) >= REMEMBERED:
            self._known.clear()
        self._known[der] = known
        return known


@hookimpl(priority=200)
def apiserver_authenticator() -> Authenticator:
    """Always on: without a verified certificate it knows nobody."""
    return ClientCertificate()
