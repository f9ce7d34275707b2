"""TLS: client certificates, resumption, clients that speak something else."""

from __future__ import annotations

import json
import socket
import ssl
from pathlib import Path
from typing import Any

import pytest

from apiserver.serving import certs
from tests.serving.conftest import Start


def shown(answer: bytes) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(answer)
    return found


def with_certificate(pki: certs.Certificates, pair: certs.Pair) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=pki.ca.certificate)
    context.load_cert_chain(pair.certificate, pair.key)
    return context


def test_the_client_certificate_is_in_the_environ(start: Start, tls: dict[str, Any], pki: certs.Certificates) -> None:
    server = start(**tls)
    with server.connect_tls(with_certificate(pki, pki.admin)) as client:
        found = shown(client.get("/state").body)["certificate"]
    assert found == ssl.PEM_cert_to_DER_cert(pki.admin.certificate.read_text()).hex()


def test_without_a_client_certificate_there_is_none(
    start: Start, tls: dict[str, Any], client_context: ssl.SSLContext
) -> None:
    with start(**tls).connect_tls(client_context) as client:
        assert shown(client.get("/state").body)["certificate"] is None
        assert shown(client.get("/echo").body)["wsgi.url_scheme"] == "https"


def test_a_certificate_of_another_authority_fails_the_handshake(
    start: Start, tls: dict[str, Any], pki: certs.Certificates, tmp_path: Path
) -> None:
    stranger = certs.ensure(tmp_path / "other", [])
    server = start(**tls)
    context = with_certificate(pki, stranger.admin)
    context.maximum_version = ssl.TLSVersion.TLSv1_2  # TLS 1.3 tells it on first use
    with pytest.raises((ssl.SSLError, ConnectionError)):
        server.connect_tls(context)


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_sessions_are_resumed_and_keep_the_client_certificate(
    start: Start, tls: dict[str, Any], pki: certs.Certificates, version: ssl.TLSVersion
) -> None:
    server = start(**tls)
    context = with_certificate(pki, pki.admin)
    context.maximum_version = version
    with server.connect_tls(context) as client:
        first = shown(client.get("/state").body)
        assert isinstance(client.sock, ssl.SSLSocket)
        session = client.sock.session
    with server.connect_tls(context, session) as client:
        second = shown(client.get("/state").body)
    assert (first["resumed"], second["resumed"]) == (False, True)
    assert second["certificate"] == first["certificate"] is not None


def test_plain_http_to_the_tls_port_is_told_so(start: Start, tls: dict[str, Any]) -> None:
    with start(**tls).connect() as client:
        client.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert client.rest() == b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"


def test_garbage_to_the_tls_port_is_dropped(start: Start, tls: dict[str, Any], client_context: ssl.SSLContext) -> None:
    server = start(**tls)
    with server.connect() as client:
        client.send(b"\x00" * 300)
        client.rest()
    with server.connect_tls(client_context) as client:
        assert client.get("/echo").status == 200


def test_large_bodies_go_both_ways(start: Start, tls: dict[str, Any], client_context: ssl.SSLContext) -> None:
    with start(**tls).connect_tls(client_context) as client:
        for _ in range(2):
            client.send(b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n" + b"x" * 3_000_000)
            assert shown(client.answer().body)["CONTENT_LENGTH"] == "3000000"
            assert len(client.get("/big?size=13107200&length=yes").body) == 13107200


def test_pipelined_requests_in_one_record_are_all_served(
    start: Start, tls: dict[str, Any], client_context: ssl.SSLContext
) -> None:
    with start(**tls).connect_tls(client_context) as client:
        client.send(b"GET /echo HTTP/1.1\r\nHost: x\r\n\r\n" * 400)
        for _ in range(400):
            assert client.answer().status == 200


def test_the_end_of_a_connection_is_told_by_tls(
    start: Start, tls: dict[str, Any], client_context: ssl.SSLContext
) -> None:
    sock = socket.create_connection(("127.0.0.1", start(**tls).port), timeout=10)
    with client_context.wrap_socket(sock, server_hostname="localhost", suppress_ragged_eofs=False) as client:
        client.sendall(b"GET /pieces HTTP/1.0\r\n\r\n")
        data = b""
        while more := client.recv(65536):  # raises SSLEOFError if the end is not announced
            data += more
    assert data.endswith(b"one two three")
