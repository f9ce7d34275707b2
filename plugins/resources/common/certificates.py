"""Bundles of certificates in PEM, as clients of webhooks trust them.

COMPAT: client-go transport createErrorParsingCAData
"""

from __future__ import annotations

import re

from cryptography import x509

_BLOCK = re.compile(rb"-----BEGIN ([^\n-]*)-----\r?\n(.*?)-----END \1-----[^\n]*\n?", re.DOTALL)


def bundle_problem(pem: bytes) -> str:
    """What is wrong with a bundle; "" when one certificate in it can be read."""
    problem, end = "", 0
    for block in _BLOCK.finditer(pem):
        end = block.end()
        if block[1] != b"CERTIFICATE" or b":" in block[2]:
            continue
        try:
            x509.load_pem_x509_certificate(block[0])
        except ValueError:
            problem = "failed to parse certificate: x509: malformed certificate"
            continue
        return ""
    if problem:
        return problem
    return "unable to parse bytes as PEM block" if end < len(pem) else "no valid certificate authority data seen"
