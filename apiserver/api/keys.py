"""Keys of tokens: read from PEM files, or made once for all servers that share a data folder.

Whoever signs tokens and whoever verifies them use these; the libraries are imported when the first key is needed.

COMPAT: k8s.io/client-go/util/keyutil, pkg/serviceaccount keyIDFromPublicKey, openidmetadata.go
"""

from __future__ import annotations

import base64
import functools
import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from apiserver.api.files import locked, write_atomic

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric import ec, rsa

    Private: TypeAlias = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey
    Public: TypeAlias = rsa.RSAPublicKey | ec.EllipticCurvePublicKey

BITS = 2048
"""Of an RSA key that is made here."""

_BLOCK = re.compile(rb"-----BEGIN ([A-Z0-9 ]+)-----.*?-----END \1-----", re.DOTALL)
_CURVES = {"secp256r1": "ES256", "secp384r1": "ES384", "secp521r1": "ES512"}


class SigningKey:
    """A private key; ``id`` is that of its public half, ``algorithm`` a JWS name such as RS256."""

    __slots__ = ("algorithm", "id", "key")

    def __init__(self, key_id: str, algorithm: str, key: Private) -> None:
        self.id = key_id
        self.algorithm = algorithm
        self.key = key


class VerifyingKey:
    """A public key."""

    __slots__ = ("algorithm", "id", "key")

    def __init__(self, key_id: str, algorithm: str, key: Public) -> None:
        self.id = key_id
        self.algorithm = algorithm
        self.key = key

    def jwk(self) -> dict[str, Any]:
        """The key as an entry of a JSON Web Key Set."""
        from jwt.algorithms import ECAlgorithm, RSAAlgorithm

        algorithm: Any = RSAAlgorithm if self.algorithm.startswith("RS") else ECAlgorithm
        shown: dict[str, Any] = algorithm.to_jwk(self.key, as_dict=True)
        named = {"use": "sig", "kty": shown["kty"], "kid": self.id, "alg": self.algorithm}
        return {**named, **{name: shown[name] for name in ("crv", "x", "y", "n", "e") if name in shown}}


def verifying(key: Public) -> VerifyingKey:
    """:raises ValueError: tokens can't be signed with a key of this kind."""
    from cryptography.hazmat.primitives import serialization

    encoded = key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    digest = hashlib.sha256(encoded).digest()
    return VerifyingKey(base64.urlsafe_b64encode(digest).rstrip(b"=").decode(), _algorithm(key), key)


def _algorithm(key: object) -> str:
    from cryptography.hazmat.primitives.asymmetric import ec, rsa

    if isinstance(key, rsa.RSAPublicKey):
        return "RS256"
    if isinstance(key, ec.EllipticCurvePublicKey) and key.curve.name in _CURVES:
        return _CURVES[key.curve.name]
    raise ValueError(f"unknown kind of key {type(key).__name__}, must be RSA, or ECDSA on P-256, P-384 or P-521")


def signing(key: Private) -> SigningKey:
    """:raises ValueError: tokens can't be signed with a key of this kind."""
    public = verifying(key.public_key())
    return SigningKey(public.id, public.algorithm, key)


def read_private(path: Path) -> SigningKey:
    """The first private key of a PEM file.

    :raises OSError: it can't be read.
    :raises ValueError: there is none, or one of another kind.
    """
    from cryptography.hazmat.primitives import serialization

    for match in _BLOCK.finditer(path.read_bytes()):
        if match[1].endswith(b"PRIVATE KEY"):
            key: Any = serialization.load_pem_private_key(match[0], password=None)
            return signing(key)
    raise ValueError(f"data does not contain a valid RSA or ECDSA private key: {path}")


def read_public(path: Path) -> list[VerifyingKey]:
    """Every key of a PEM file: public keys, and the public halves of certificates and of private keys.

    :raises OSError: it can't be read.
    :raises ValueError: there is none, or one of another kind.
    """
    found = [verifying(_public_half(match[1], match[0])) for match in _BLOCK.finditer(path.read_bytes())]
    if not found:
        raise ValueError(f"data does not contain any valid RSA or ECDSA public keys: {path}")
    return found


def _public_half(kind: bytes, block: bytes) -> Any:
    from cryptography import x509
    from cryptography.hazmat.primitives import serialization

    if kind == b"CERTIFICATE":
        return x509.load_pem_x509_certificate(block).public_key()
    if kind.endswith(b"PRIVATE KEY"):
        return serialization.load_pem_private_key(block, password=None).public_key()
    return serialization.load_pem_public_key(block)


def ensure_private(path: Path) -> SigningKey:
    """The key in ``path``, made (RSA) when there is none. Several processes may ask at once: one of them makes it.

    :raises OSError: the folder can't be made or written.
    :raises ValueError: there is a file, but no usable key in it.
    """
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with locked(path.parent):
        if not path.exists():
            made = rsa.generate_private_key(public_exponent=65537, key_size=BITS)
            encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
            write_atomic(path, made.private_bytes(encoding, form, serialization.NoEncryption()))
    return read_private(path)


class TokenKeys:
    """The keys of one server: one that signs, and those that verify. Read, or made, when they are first needed.

    :param signing_file: the private key; "" for the one in ``own_file``, which is made when it is missing.
    :param public_files: further keys to verify with.
    """

    def __init__(self, signing_file: str, public_files: Sequence[str], own_file: Path) -> None:
        self._signing_file = signing_file
        self._public_files = tuple(public_files)
        self._own_file = own_file

    @functools.cached_property
    def signing(self) -> SigningKey:
        """The key that signs new tokens."""
        return read_private(Path(self._signing_file)) if self._signing_file else ensure_private(self._own_file)

    @functools.cached_property
    def verifying(self) -> tuple[VerifyingKey, ...]:
        """Every key that a good token may be signed with; the signing key's public half is the first."""
        found = [verifying(self.signing.key.public_key())]
        for path in self._public_files:
            found += read_public(Path(path))
        return tuple({key.id: key for key in found}.values())

    def candidates(self, key_id: str) -> tuple[VerifyingKey, ...]:
        """The keys to try for a token that names ``key_id`` ("" for none)."""
        named = tuple(key for key in self.verifying if key.id == key_id)
        return named or self.verifying
