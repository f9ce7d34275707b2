"""The certificates that a server makes for itself: a CA, a serving certificate and the administrator's.

Called at start by :mod:`apiserver.serving.preparation`. What is there and still good is used again: a certificate is
made anew when it ends within 30 days, does not hold the names asked for, or does not belong to its key or CA.
Several servers may start on one folder at once.
"""

from __future__ import annotations

import datetime
import ipaddress
import ssl
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from apiserver.api.files import locked, write_atomic

CA_LIFETIME = datetime.timedelta(days=3650)
LEAF_LIFETIME = datetime.timedelta(days=365)
RENEW_BEFORE = datetime.timedelta(days=30)
SKEW = datetime.timedelta(minutes=5)
"""Certificates begin this much in the past, for clients whose clocks are late."""

ADMIN_NAME, ADMIN_GROUP = "kubernetes-admin", "system:masters"


@dataclass(frozen=True, slots=True)
class Pair:
    """The PEM files of a certificate and its private key. The key file is readable by its owner only."""

    certificate: Path
    key: Path


@dataclass(frozen=True, slots=True)
class Certificates:
    """What :func:`ensure` made or found."""

    ca: Pair
    serving: Pair
    admin: Pair


@dataclass(frozen=True, slots=True)
class _Loaded:
    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey


def ensure(folder: Path, names: Iterable[str]) -> Certificates:
    """Make sure that ``folder`` holds a CA, a serving certificate for ``names`` and an administrator's certificate.

    Files: ``ca``, ``apiserver`` and ``admin``, each with ``.crt`` and ``.key``, PEM, ECDSA P-256.

    :param names: DNS names and IP addresses that clients use for the server.
    :raises OSError: the folder cannot be made or written.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    found = Certificates(
        *(Pair(folder / f"{name}.crt", folder / f"{name}.key") for name in ("ca", "apiserver", "admin"))
    )
    with locked(folder):
        ca = _read(found.ca)
        if ca is None or not _lasts(ca.certificate) or not _signed_by(ca.certificate, ca.certificate):
            ca = _store(found.ca, _make_ca("kubernetes-ca"))
        wanted = _general_names(names)
        serving = _read(found.serving)
        if serving is None or not _good(serving, ca) or not wanted <= _alternative_names(serving.certificate):
            subject = _name("kube-apiserver")
            _store(found.serving, _issue(ca, subject, ExtendedKeyUsageOID.SERVER_AUTH, sorted(wanted, key=repr)))
        admin = _read(found.admin)
        subject = _name(ADMIN_NAME, ADMIN_GROUP)
        if admin is None or not _good(admin, ca) or admin.certificate.subject != subject:
            _store(found.admin, _issue(ca, subject, ExtendedKeyUsageOID.CLIENT_AUTH))
    return found


def check(pair: Pair) -> None:
    """Make sure that a server can use a certificate and key that were given to it.

    :raises OSError: a file is missing, is none, or the key is of another certificate; the message names the files.
    """
    for path in (pair.certificate, pair.key):
        path.read_bytes()
    try:
        # with an empty password, nobody is asked for one
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(pair.certificate, pair.key, password="")
    except (ssl.SSLError, ValueError) as ex:
        raise OSError(f"{pair.certificate} and {pair.key} are no certificate and its private key: {ex}") from None


def check_authorities(path: Path) -> None:
    """Make sure that a file holds certificates.

    :raises OSError: it is missing or holds none. COMPAT: cert.ParseCertsPEM
    """
    try:
        x509.load_pem_x509_certificates(path.read_bytes())
    except ValueError:
        raise OSError(f"{path}: data does not contain any valid RSA or ECDSA certificates") from None


# -- what is there ---------------------------------------------------------------------------------------------------


def _read(pair: Pair) -> _Loaded | None:
    """The pair's contents; None when a file is missing, unreadable, or not of the other."""
    try:
        certificate = x509.load_pem_x509_certificate(pair.certificate.read_bytes())
        key = serialization.load_pem_private_key(pair.key.read_bytes(), password=None)
    except (OSError, ValueError, TypeError):
        return None
    if not isinstance(key, ec.EllipticCurvePrivateKey) or key.public_key() != certificate.public_key():
        return None
    pair.key.chmod(0o600)
    return _Loaded(certificate, key)


def _lasts(certificate: x509.Certificate) -> bool:
    now = datetime.datetime.now(datetime.UTC)
    return certificate.not_valid_before_utc <= now and now + RENEW_BEFORE < certificate.not_valid_after_utc


def _signed_by(certificate: x509.Certificate, ca: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(ca)
    except (InvalidSignature, ValueError, TypeError):
        return False
    return True


def _good(leaf: _Loaded, ca: _Loaded) -> bool:
    return _lasts(leaf.certificate) and _signed_by(leaf.certificate, ca.certificate)


def _alternative_names(certificate: x509.Certificate) -> set[x509.GeneralName]:
    try:
        return set(certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value)
    except x509.ExtensionNotFound:
        return set()


# -- making them -----------------------------------------------------------------------------------------------------


def _general_names(names: Iterable[str]) -> set[x509.GeneralName]:
    found: set[x509.GeneralName] = set()
    for name in filter(None, names):
        try:
            found.add(x509.IPAddress(ipaddress.ip_address(name)))
        except ValueError:
            found.add(x509.DNSName(name))
    return found


def _name(common_name: str, organization: str = "") -> x509.Name:
    parts = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization)] if organization else []
    return x509.Name([*parts, x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _builder(
    subject: x509.Name, key: ec.EllipticCurvePrivateKey, lifetime: datetime.timedelta
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - SKEW)
        .not_valid_after(now + lifetime)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _key_usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _make_ca(name: str) -> _Loaded:
    key = ec.generate_private_key(ec.SECP256R1())
    certificate = (
        _builder(_name(name), key, CA_LIFETIME)
        .issuer_name(_name(name))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(_key_usage(signs_certificates=True), critical=True)
        .sign(key, hashes.SHA256())
    )
    return _Loaded(certificate, key)


def _issue(
    ca: _Loaded, subject: x509.Name, usage: x509.ObjectIdentifier, names: Sequence[x509.GeneralName] = ()
) -> _Loaded:
    key = ec.generate_private_key(ec.SECP256R1())
    builder = (
        _builder(subject, key, LEAF_LIFETIME)
        .issuer_name(ca.certificate.subject)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_key_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(ca.key.public_key()), critical=False)
    )
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    return _Loaded(builder.sign(ca.key, hashes.SHA256()), key)


def _store(pair: Pair, loaded: _Loaded) -> _Loaded:
    """Write the key first: a certificate whose key is missing would be made anew for nothing."""
    write_atomic(
        pair.key,
        loaded.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        ),
    )
    write_atomic(pair.certificate, loaded.certificate.public_bytes(serialization.Encoding.PEM), mode=0o644)
    return loaded
