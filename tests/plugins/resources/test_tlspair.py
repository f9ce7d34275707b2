"""Certificates and keys that make a pair, and others."""

from __future__ import annotations

import datetime

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID

from apiserver_plugins.resources.common.tlspair import explain_pair


def _key_pem(key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey) -> bytes:
    form = serialization.PrivateFormat.PKCS8
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())


@pytest.fixture(scope="module")
def pair() -> tuple[bytes, bytes]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test")])
    begin = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(1).not_valid_before(begin).not_valid_after(begin + datetime.timedelta(days=1))
    certificate = builder.sign(key, hashes.SHA256())
    return certificate.public_bytes(serialization.Encoding.PEM), _key_pem(key)


def test_a_pair_is_fine(pair: tuple[bytes, bytes]) -> None:
    assert explain_pair(*pair) is None


def test_switched_inputs_are_noticed(pair: tuple[bytes, bytes]) -> None:
    assert explain_pair(pair[1], pair[0]) == (
        "tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may "
        "have been switched"
    )


def test_a_certificate_in_the_place_of_the_key_is_noticed(pair: tuple[bytes, bytes]) -> None:
    assert explain_pair(pair[0], pair[0]) == (
        "tls: found a certificate rather than a key in the PEM for the private key"
    )


def test_a_missing_key_is_noticed(pair: tuple[bytes, bytes]) -> None:
    assert explain_pair(pair[0], b"") == "tls: failed to find any PEM data in key input"


def test_somebody_elses_key_is_noticed(pair: tuple[bytes, bytes]) -> None:
    other = _key_pem(ec.generate_private_key(ec.SECP256R1()))
    assert explain_pair(pair[0], other) == "tls: private key does not match public key"


def test_a_key_of_another_kind_is_noticed(pair: tuple[bytes, bytes]) -> None:
    other = _key_pem(rsa.generate_private_key(65537, 2048))
    assert explain_pair(pair[0], other) == "tls: private key type does not match public key type"
