"""Static tokens, client certificates, anonymous."""

from __future__ import annotations

import datetime
import hashlib
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from apiserver.api.auth import User, bearer_token
from apiserver.api.errors import Unauthorized
from apiserver.api.request import Request
from apiserver.api.serving import PEER_CERTIFICATE
from apiserver.api.settings import ConfigError
from apiserver_plugins.authentication import anonymous, client_certificate, token_file
from apiserver_plugins.filters import authorization
from tests.wsgi import environ, server

KEY = ec.generate_private_key(ec.SECP256R1())
UTC = datetime.UTC


def certificate(*names: tuple[x509.ObjectIdentifier, str], ends: datetime.timedelta = datetime.timedelta(1)) -> bytes:
    """A certificate for these names, DER."""
    subject = x509.Name([x509.NameAttribute(kind, value) for kind, value in names])
    now = datetime.datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "ca")]))
        .public_key(KEY.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(2))
        .not_valid_after(now + ends)
        .sign(KEY, hashes.SHA256())
    )
    return made.public_bytes(serialization.Encoding.DER)


def _with_certificate(der: bytes | None) -> Request:
    return Request(environ("/", **{PEER_CERTIFICATE: der}))


def _with_token(token: str) -> Request:
    return Request(environ("/", headers={"Authorization": f"Bearer {token}"}))


def test_the_common_name_is_the_user_and_the_organizations_are_the_groups() -> None:
    der = certificate(
        (NameOID.ORGANIZATION_NAME, "system:masters"), (NameOID.ORGANIZATION_NAME, "b"), (NameOID.COMMON_NAME, "admin")
    )
    authenticator = client_certificate.ClientCertificate()
    expected = User(
        "admin", "", ("system:masters", "b", "system:authenticated"),
        {"authentication.kubernetes.io/credential-id": (f"X509SHA256={hashlib.sha256(der).hexdigest()}",)},
    )  # fmt: skip
    user = authenticator.authenticate(_with_certificate(der))
    assert user == expected
    assert authenticator.authenticate(_with_certificate(bytes(bytearray(der)))) is user, "parsed once"


def test_a_uid_may_stand_in_the_certificate() -> None:
    der = certificate((NameOID.COMMON_NAME, "a"), (client_certificate.UID, "u-1"))
    user = client_certificate.ClientCertificate().authenticate(_with_certificate(der))
    assert user
    assert user.uid == "u-1"


def test_no_certificate_or_one_without_a_name_is_nobody() -> None:
    authenticator = client_certificate.ClientCertificate()
    assert authenticator.authenticate(Request(environ("/"))) is None
    assert authenticator.authenticate(_with_certificate(None)) is None
    nameless = certificate((NameOID.ORGANIZATION_NAME, "system:masters"))
    assert authenticator.authenticate(_with_certificate(nameless)) is None


def test_a_certificate_that_ended_while_the_connection_was_open_is_refused() -> None:
    der = certificate((NameOID.COMMON_NAME, "a"), ends=datetime.timedelta(-1))
    with pytest.raises(Unauthorized, match="expired"):
        client_certificate.ClientCertificate().authenticate(_with_certificate(der))


def test_bytes_that_are_no_certificate_are_refused() -> None:
    with pytest.raises(Unauthorized):
        client_certificate.ClientCertificate().authenticate(_with_certificate(b"nonsense"))


def test_certificates_that_are_kept_do_not_grow_without_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_certificate, "REMEMBERED", 3)
    authenticator = client_certificate.ClientCertificate()
    for number in range(8):
        user = authenticator.authenticate(_with_certificate(certificate((NameOID.COMMON_NAME, f"u{number}"))))
        assert user
        assert user.name == f"u{number}"
    assert len(authenticator._known) <= 3


def test_a_token_file_names_users_with_uid_and_groups(tmp_path: Path) -> None:
    path = tmp_path / "tokens.csv"
    path.write_text('t1,alice,a-uid,"team-a,team-b"\n\nt2,bob,b-uid\n"t3","c,d",x,\n')
    on = server(token_file, token_auth_file=str(path))
    token_file.apiserver_configure(on.config)
    authenticator = token_file.apiserver_authenticator(on)
    assert authenticator is not None
    groups = ("team-a", "team-b", "system:authenticated")
    assert authenticator.authenticate(_with_token("t1")) == User("alice", "a-uid", groups)
    assert authenticator.authenticate(_with_token("t2")) == User("bob", "b-uid", ("system:authenticated",))
    assert authenticator.authenticate(_with_token("t3")) == User("c,d", "x", ("system:authenticated",))
    assert authenticator.authenticate(_with_token("other")) is None
    assert authenticator.authenticate(Request(environ("/"))) is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("t,alice\n", "must have at least 3 columns (token, user name, user uid), found 2"),
        ("t,a,b\n,alice,uid\n", "empty token has been found in token file"),
        ('t,"alice,uid\n', "token-auth-file"),
    ],
)
def test_a_wrong_token_file_stops_the_start(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "tokens.csv"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        token_file.apiserver_configure(server(token_file, token_auth_file=str(path)).config)
    assert problem in str(caught.value)


def test_without_a_token_file_there_is_no_such_authenticator() -> None:
    assert token_file.apiserver_authenticator(server(token_file)) is None


def test_a_token_file_that_is_not_there_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        token_file.apiserver_configure(server(token_file, token_auth_file=str(tmp_path / "none")).config)


@pytest.mark.parametrize(
    ("header", "token"),
    [
        ("Bearer abc", "abc"), ("bearer abc", "abc"), ("  Bearer abc  ", "abc"), ("Bearer abc def", "abc"),
        ("Bearer", ""), ("Bearer ", ""), ("Basic abc", ""), ("", ""), ("abc", ""),
    ],
)  # fmt: skip
def test_bearer_tokens_are_read_from_the_header(header: str, token: str) -> None:
    assert bearer_token({"HTTP_AUTHORIZATION": header} if header else {}) == token


def test_who_brings_nothing_is_anonymous() -> None:
    user = anonymous.Anonymous().authenticate(Request(environ("/", headers={"Authorization": "Basic eA=="})))
    assert user == User("system:anonymous", groups=("system:unauthenticated",))


def test_a_token_nobody_knew_is_not_anonymous() -> None:
    with pytest.raises(Unauthorized):
        anonymous.Anonymous().authenticate(_with_token("unknown"))


@pytest.mark.parametrize(
    ("values", "on"),
    [
        ({}, False),
        ({"anonymous_auth": True}, True),
        ({"authorization_mode": ("RBAC",)}, True),
        ({"authorization_mode": ("RBAC", "AlwaysAllow")}, False),
        ({"authorization_mode": ("RBAC",), "anonymous_auth": False}, False),
    ],
)
def test_anonymous_is_off_with_always_allow_unless_asked_for(values: dict[str, object], on: bool) -> None:
    made = anonymous.apiserver_authenticator(server(anonymous, authorization, **values))
    assert (made is not None) is on
