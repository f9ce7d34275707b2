"""Servers for the tests of this folder."""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from apiserver.serving import certs
from tests.serving.running import Running

Start = Callable[..., Running]


@pytest.fixture(scope="session")
def pki(tmp_path_factory: pytest.TempPathFactory) -> certs.Certificates:
    """A CA with a serving and a client certificate."""
    return certs.ensure(tmp_path_factory.mktemp("pki"), ["localhost", "127.0.0.1"])


@pytest.fixture(scope="session")
def tls(pki: certs.Certificates) -> dict[str, Any]:
    """gunicorn's settings for TLS that asks for client certificates."""
    return {
        "certfile": pki.serving.certificate,
        "keyfile": pki.serving.key,
        "ca_certs": pki.ca.certificate,
        "cert_reqs": int(ssl.CERT_OPTIONAL),
    }


@pytest.fixture
def client_context(pki: certs.Certificates) -> ssl.SSLContext:
    """A client's TLS settings, without a client certificate."""
    return ssl.create_default_context(cafile=pki.ca.certificate)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts servers that are stopped at the end."""
    with ExitStack() as stack:

        def begin(*args: Any, **kwargs: Any) -> Running:
            return stack.enter_context(Running(tmp_path, *args, **kwargs))

        yield begin


@pytest.fixture
def state() -> Callable[[Running], dict[str, Any]]:
    """What a worker process says of itself."""

    def ask(server: Running) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(server.get("/state").body)
        return found

    return ask
