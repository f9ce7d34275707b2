"""Whether a certificate and a private key make a pair, told in the words of Go's ``tls.X509KeyPair``.

Called for the warnings that TLS Secrets get.
"""

from __future__ import annotations

import re
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import serialization

_BLOCK = re.compile(rb"-----BEGIN ([A-Z0-9 ]+)-----\s.*?-----END \1-----", re.DOTALL)


def explain_pair(certificate: bytes, key: bytes) -> str | None:
    """None for a pair, else the first problem."""
    return _certificate_problem(certificate) or _key_problem(key) or _mismatch(certificate, key)


def _labels(data: bytes) -> list[str]:
    return [match.group(1).decode() for match in _BLOCK.finditer(data)]


def _skipped(labels: list[str]) -> str:
    return f"[{' '.join(labels)}]"


def _certificate_problem(data: bytes) -> str | None:
    labels = _labels(data)
    if not labels:
        return "tls: failed to find any PEM data in certificate input"
    if "CERTIFICATE" in labels:
        return None
    if len(labels) == 1 and labels[0].endswith("PRIVATE KEY"):
        return (
            "tls: failed to find certificate PEM data in certificate input, but did find a private key; "
            "PEM inputs may have been switched"
        )
    return (
        'tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the '
        f"following types: {_skipped(labels)}"
    )


def _key_problem(data: bytes) -> str | None:
    labels = _labels(data)
    if not labels:
        return "tls: failed to find any PEM data in key input"
    if any(label == "PRIVATE KEY" or label.endswith(" PRIVATE KEY") for label in labels):
        return None
    if labels == ["CERTIFICATE"]:
        return "tls: found a certificate rather than a key in the PEM for the private key"
    return (
        'tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the '
        f"following types: {_skipped(labels)}"
    )


def _public(key: Any) -> bytes:
    info = serialization.PublicFormat.SubjectPublicKeyInfo
    encoded = key.public_bytes(serialization.Encoding.DER, info)
    return bytes(encoded)


def _mismatch(certificate: bytes, key: bytes) -> str | None:
    try:
        leaf = x509.load_pem_x509_certificate(certificate).public_key()
    except ValueError:
        return "x509: malformed certificate"
    try:
        private = serialization.load_pem_private_key(key, None)
    except (ValueError, TypeError):
        return "tls: failed to parse private key"
    if type(private.public_key()) is not type(leaf):
        return "tls: private key type does not match public key type"
    return None if _public(private.public_key()) == _public(leaf) else "tls: private key does not match public key"
