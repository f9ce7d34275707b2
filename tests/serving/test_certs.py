"""The certificates that a server makes for itself."""

from __future__ import annotations

import concurrent.futures
import datetime
import os
import ssl
import stat
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.x509.oid import NameOID

from apiserver.serving import certs

NAMES = ["localhost", "127.0.0.1", "::1", "kubernetes.default.svc"]


def load(path: Path) -> x509.Certificate:
    return x509.load_pem_x509_certificate(path.read_bytes())


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_serving_certificate_holds_the_names(tmp_path: Path) -> None:
    made = certs.ensure(tmp_path / "pki", NAMES)
    certificate = load(made.serving.certificate)
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert set(names.get_values_for_type(x509.DNSName)) == {"localhost", "kubernetes.default.svc"}
    assert {str(address) for address in names.get_values_for_type(x509.IPAddress)} == {"127.0.0.1", "::1"}
    certificate.verify_directly_issued_by(load(made.ca.certificate))


def test_the_administrator_is_in_the_group_of_masters(tmp_path: Path) -> None:
    subject = load(certs.ensure(tmp_path, NAMES).admin.certificate).subject
    values = {part.oid: part.value for part in subject}
    assert values == {NameOID.COMMON_NAME: "kubernetes-admin", NameOID.ORGANIZATION_NAME: "system:masters"}


def test_keys_are_their_owners_alone(tmp_path: Path) -> None:
    certs.ensure(tmp_path / "pki", NAMES)
    assert stat.S_IMODE(os.stat(tmp_path / "pki").st_mode) == 0o700
    for name in ("ca.key", "apiserver.key", "admin.key"):
        assert stat.S_IMODE(os.stat(tmp_path / "pki" / name).st_mode) == 0o600


def test_what_is_good_is_used_again(tmp_path: Path) -> None:
    certs.ensure(tmp_path, NAMES)
    before = contents(tmp_path)
    certs.ensure(tmp_path, NAMES[:2])
    assert contents(tmp_path) == before


def test_another_name_makes_another_serving_certificate_only(tmp_path: Path) -> None:
    certs.ensure(tmp_path, NAMES)
    before = contents(tmp_path)
    certs.ensure(tmp_path, [*NAMES, "10.0.0.7"])
    after = contents(tmp_path)
    assert {name for name in after if after[name] != before[name]} == {"apiserver.crt", "apiserver.key"}


@pytest.mark.parametrize(
    ("broken", "renewed"),
    [("apiserver.crt", {"apiserver"}), ("admin.key", {"admin"}), ("ca.crt", {"ca", "apiserver", "admin"})],
)
@pytest.mark.parametrize("content", [None, b"", b"nonsense"])
def test_what_is_broken_is_made_anew(tmp_path: Path, broken: str, renewed: set[str], content: bytes | None) -> None:
    certs.ensure(tmp_path, NAMES)
    before = contents(tmp_path)
    (tmp_path / broken).unlink() if content is None else (tmp_path / broken).write_bytes(content)
    made = certs.ensure(tmp_path, NAMES)
    after = contents(tmp_path)
    assert {name.partition(".")[0] for name in after if after[name] != before[name]} == renewed
    load(made.serving.certificate).verify_directly_issued_by(load(made.ca.certificate))


def test_a_certificate_and_the_key_of_another_do_not_go_together(tmp_path: Path) -> None:
    made = certs.ensure(tmp_path, NAMES)
    made.serving.key.write_bytes(made.admin.key.read_bytes())
    certs.ensure(tmp_path, NAMES)
    ssl.create_default_context().load_cert_chain(made.serving.certificate, made.serving.key)


@pytest.mark.parametrize(("days", "kept"), [(31, True), (29, False), (-1, False)])
def test_certificates_are_renewed_a_month_before_they_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, days: int, kept: bool
) -> None:
    monkeypatch.setattr(certs, "LEAF_LIFETIME", datetime.timedelta(days=days))
    if days < 0:
        monkeypatch.setattr(certs, "SKEW", datetime.timedelta(days=2))
    certs.ensure(tmp_path, NAMES)
    before = contents(tmp_path)
    certs.ensure(tmp_path, NAMES)
    assert (contents(tmp_path) == before) is kept


def test_servers_that_start_at_once_agree(tmp_path: Path) -> None:
    with concurrent.futures.ProcessPoolExecutor(4) as pool:
        list(pool.map(certs.ensure, [tmp_path] * 8, [NAMES] * 8))
    before = contents(tmp_path)
    made = certs.ensure(tmp_path, NAMES)
    assert contents(tmp_path) == before
    ssl.create_default_context().load_cert_chain(made.serving.certificate, made.serving.key)
    assert not [name for name in before if name.startswith(".") and name != ".lock"]


def test_strict_verification_accepts_them(tmp_path: Path) -> None:
    made = certs.ensure(tmp_path, NAMES)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(made.serving.certificate, made.serving.key)
    client = ssl.create_default_context(cafile=made.ca.certificate)
    client.verify_flags |= ssl.VERIFY_X509_STRICT | ssl.VERIFY_X509_PARTIAL_CHAIN
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = (
        client.wrap_bio(to_client, to_server, server_hostname="localhost"),
        server.wrap_bio(to_server, to_client, server_side=True),
    )
    for _ in range(4):
        for end in ends:
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue
    assert ends[0].getpeercert() is not None
