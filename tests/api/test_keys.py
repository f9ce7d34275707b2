"""Keys of tokens: files, algorithms, and servers that start at once."""

from __future__ import annotations

import multiprocessing
import stat
from pathlib import Path

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from apiserver.api.keys import TokenKeys, ensure_private, read_private, read_public, signing, verifying
from apiserver.serving.certs import ensure

CURVES = {"ES256": ec.SECP256R1(), "ES384": ec.SECP384R1(), "ES512": ec.SECP521R1()}


def public_pem(key) -> bytes:
    encoding, form = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    return key.public_key().public_bytes(encoding, form)


def private_pem(key, form=serialization.PrivateFormat.TraditionalOpenSSL) -> bytes:
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())


@pytest.fixture(scope="module")
def rsa_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def test_a_key_is_made_once_and_only_its_owner_reads_it(tmp_path: Path):
    path = tmp_path / "pki" / "sa.key"
    made = ensure_private(path)
    assert made.algorithm == "RS256"
    assert ensure_private(path).id == made.id
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def key_id(path: Path) -> str:
    return ensure_private(path).id


def test_processes_that_start_at_once_agree_on_one_key(tmp_path: Path):
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        found = pool.map(key_id, [tmp_path / "pki" / "sa.key"] * 8)
    assert len(set(found)) == 1


@pytest.mark.parametrize("algorithm", CURVES)
def test_the_curve_of_a_key_decides_the_algorithm(algorithm: str):
    assert signing(ec.generate_private_key(CURVES[algorithm])).algorithm == algorithm


def test_a_key_of_another_kind_is_refused():
    with pytest.raises(ValueError, match="unknown kind of key"):
        verifying(ed25519.Ed25519PrivateKey.generate().public_key())  # type: ignore[arg-type]


def test_one_file_may_hold_several_public_keys_of_every_form(tmp_path: Path, rsa_key):
    elliptic = ec.generate_private_key(ec.SECP256R1())
    certificate = ensure(tmp_path / "pki", ["localhost"]).serving.certificate.read_bytes()
    path = tmp_path / "keys.pem"
    path.write_bytes(b"words before\n" + public_pem(rsa_key) + private_pem(elliptic) + certificate)
    assert [key.algorithm for key in read_public(path)] == ["RS256", "ES256", "ES256"]
    assert read_private(path).key.private_numbers() == elliptic.private_numbers()


def test_a_file_without_a_key_is_refused_by_name(tmp_path: Path):
    path = tmp_path / "empty.pem"
    path.write_text("nothing\n")
    for read in (read_private, read_public):
        with pytest.raises(ValueError, match=r"empty\.pem"):
            read(path)


def test_the_shown_keys_verify_what_the_signing_key_signed(tmp_path: Path, rsa_key):
    elliptic = tmp_path / "ec.pem"
    elliptic.write_bytes(private_pem(ec.generate_private_key(ec.SECP256R1())))
    more = tmp_path / "more.pem"
    more.write_bytes(public_pem(rsa_key))
    keys = TokenKeys(str(elliptic), (str(more), str(elliptic)), tmp_path / "never.key")
    shown = [key.jwk() for key in keys.verifying]
    assert [(key["kty"], key["alg"], key["use"]) for key in shown] == [("EC", "ES256", "sig"), ("RSA", "RS256", "sig")]
    token = jwt.encode({"sub": "x"}, keys.signing.key, keys.signing.algorithm)
    assert jwt.decode(token, jwt.PyJWK(shown[0]).key, algorithms=["ES256"]) == {"sub": "x"}
    assert not (tmp_path / "never.key").exists()


def test_a_token_that_names_its_key_is_tried_with_that_one_alone(tmp_path: Path, rsa_key):
    more = tmp_path / "more.pem"
    more.write_bytes(public_pem(rsa_key))
    keys = TokenKeys("", (str(more),), tmp_path / "sa.key")
    second = keys.verifying[1]
    assert keys.candidates(second.id) == (second,)
    assert keys.candidates("unknown") == keys.candidates("") == keys.verifying
