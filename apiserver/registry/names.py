"""Names made from ``metadata.generateName``.

COMPAT: k8s.io/apiserver/pkg/storage/names SimpleNameGenerator
"""

from __future__ import annotations

import random

ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
SUFFIX_LENGTH = 5
MAX_BASE = 63 - SUFFIX_LENGTH
ATTEMPTS = 8
"""COMPAT: RetryGenerateName: so many names are tried before the client gets AlreadyExists."""

_random = random.SystemRandom()


def generate_name(base: str) -> str:
    """``base``, cut to 58 characters, with a random suffix of five."""
    return base[:MAX_BASE] + "".join(_random.choices(ALPHABET, k=SUFFIX_LENGTH))
