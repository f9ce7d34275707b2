"""What is particular to etcd: leases that are shared, threads, progress on old versions, TLS and users."""

from __future__ import annotations

import contextlib
import datetime
import ipaddress
import os
import ssl
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from etcd3 import etcdrpc

from apiserver.api.storage import UnavailableError
from apiserver.storage.etcd import EtcdStorage, client, leases, open_storage, watch
from apiserver.storage.etcd.client import RANGE, Client, Credentials
from apiserver.testing.storage_contract import WatchReader
from tests.etcd_server import EtcdServer


@pytest.fixture
def storage(etcd_server: EtcdServer) -> Iterator[EtcdStorage]:
    with contextlib.closing(open_storage(etcd_server.url, {})) as storage:
        yield storage


@pytest.fixture
def raw(etcd_server: EtcdServer) -> Iterator[Client]:
    """Calls to the same etcd past the driver."""
    with contextlib.closing(Client([etcd_server.endpoint], Credentials())) as raw:
        yield raw


@pytest.fixture
def prefix() -> str:
    return f"/etcd/{uuid.uuid4()}/"


def lease_of(raw: Client, key: str) -> int:
    return int(raw.call(RANGE, etcdrpc.RangeRequest(key=key.encode())).kvs[0].lease)


def test_keys_with_about_the_same_end_share_a_lease(storage: EtcdStorage, raw: Client, prefix: str) -> None:
    for number in range(5):
        storage.create(f"{prefix}{number}", b"", ttl=3600)
    storage.create(prefix + "other", b"", ttl=1800)
    shared = {lease_of(raw, f"{prefix}{number}") for number in range(5)}
    assert len(shared) == 1
    assert 0 not in shared
    assert lease_of(raw, prefix + "other") not in shared


def test_a_lease_has_a_limit_of_keys(
    storage: EtcdStorage, raw: Client, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (leases.KEYS_PER_LEASE, leases.REUSE_SECONDS, leases.REUSE_PART) == (1000, 60, 0.05)
    monkeypatch.setattr(leases, "KEYS_PER_LEASE", 2)
    for number in range(5):
        storage.create(f"{prefix}{number}", b"", ttl=3600)
    numbers = [lease_of(raw, f"{prefix}{number}") for number in range(5)]
    assert [numbers.count(number) for number in dict.fromkeys(numbers)] == [2, 2, 1]


def test_a_lease_that_etcd_has_lost_is_replaced(storage: EtcdStorage, raw: Client, prefix: str) -> None:
    storage.create(prefix + "a", b"", ttl=3600)
    lost = lease_of(raw, prefix + "a")
    raw.endpoint.lease.LeaseRevoke(etcdrpc.LeaseRevokeRequest(ID=lost), 5)
    assert storage.get(prefix + "a") is None
    storage.create(prefix + "a", b"", ttl=3600)
    assert lease_of(raw, prefix + "a") not in (0, lost)


@pytest.mark.parametrize(
    ("version", "ordered"),
    [
        ("3.4.30", False),
        ("3.4.31", True),
        ("3.5.0", False),
        ("3.5.12", False),
        ("3.5.13", True),
        ("3.6.0-rc.1", True),
        ("4.0.0", True),
        ("unknown", False),
    ],
)
def test_progress_is_believed_from_the_versions_that_order_it(version: str, ordered: bool) -> None:
    assert watch.progress_is_ordered(version) is ordered


def test_the_key_that_learns_progress_is_not_shown(storage: EtcdStorage, raw: Client, prefix: str) -> None:
    storage.create(prefix + "a", b"")
    raw.call(client.PUT, etcdrpc.PutRequest(key=f"{prefix}{watch.MARKER}".encode()))
    assert [item.key for item in storage.list(prefix).items] == [prefix + "a"]
    page = storage.list(prefix, limit=1)
    assert (list(page.items), page.more, page.remaining) == ([], True, 1)


def test_a_version_that_orders_progress_is_believed_without_a_write(
    storage: EtcdStorage, raw: Client, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "progress_is_ordered", lambda version: True)
    reader = WatchReader(storage.watch(prefix, storage.current_revision()))
    outside = storage.create(f"/elsewhere/{uuid.uuid4()}", b"")
    reader.wait_for_revision(outside)
    assert storage.current_revision() == outside
    assert reader.events == []
    reader.stop()


def test_a_long_list_is_read_in_parts_of_one_revision(
    storage: EtcdStorage, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apiserver.storage.etcd.driver._PAGE", 3)
    keys = [f"{prefix}{number:02}" for number in range(10)]
    for key in keys:
        storage.create(key, b"")
    page = storage.list(prefix)
    assert [item.key for item in page.items] == keys
    assert (page.more, page.remaining, page.revision) == (False, 0, storage.current_revision())


def test_threads_stay_few_with_watches_and_writers(storage: EtcdStorage, prefix: str) -> None:
    readers = [WatchReader(storage.watch(prefix, storage.current_revision())) for _ in range(2)]
    writers = [threading.Thread(target=storage.create, args=(f"{prefix}{number}", b"")) for number in range(8)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    for reader in readers:
        reader.wait_for_events(8)
    # Without the two readers and whatever other tests have left.
    assert len(os.listdir("/proc/self/task")) - 2 < 30
    for reader in readers:
        reader.stop()


class Certificates:
    """A certificate authority, a server's and a client's certificate, as files."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._authority = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test authority")])
        certificate = self._builder(self._name, self._authority, authority=True)
        self.ca = self._write("ca.crt", certificate.public_bytes(serialization.Encoding.PEM))
        self.server = self.issue("server")
        self.client = self.issue("client")

    def issue(self, name: str) -> tuple[str, str]:
        """Paths of a new certificate and its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        certificate = self._builder(subject, key, authority=False)
        pem = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        public = certificate.public_bytes(serialization.Encoding.PEM)
        return self._write(f"{name}.crt", public), self._write(f"{name}.key", pem)

    def _builder(self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, *, authority: bool) -> x509.Certificate:
        now = datetime.datetime.now(datetime.UTC)
        address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(hours=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
            .add_extension(x509.SubjectAlternativeName([address]), critical=False)
            .sign(self._authority, hashes.SHA256())
        )

    def _write(self, name: str, content: bytes) -> str:
        path = self.directory / name
        path.write_bytes(content)
        return str(path)


def test_tls_with_a_client_certificate(tmp_path: Path, prefix: str) -> None:
    certificates = Certificates(tmp_path)
    context = ssl.create_default_context(cafile=certificates.ca)
    context.load_cert_chain(*certificates.client)
    flags = dict(zip(("cert-file", "key-file"), certificates.server, strict=True))
    flags["trusted-ca-file"] = certificates.ca
    arguments = [f"--{name}={value}" for name, value in flags.items()]
    with EtcdServer(tmp_path, *arguments, "--client-cert-auth", tls=context) as server:
        certfile, keyfile = certificates.client
        options = {"servers": [server.endpoint], "cafile": certificates.ca}
        with contextlib.closing(
            open_storage("etcd:", {**options, "certfile": certfile, "keyfile": keyfile})
        ) as storage:
            reader = WatchReader(storage.watch(prefix, storage.current_revision()))
            revision = storage.create(prefix + "a", b"")
            assert reader.wait_for_events(1)[0].revision == revision
            reader.stop()
        with contextlib.closing(open_storage("etcd:", options)) as stranger, pytest.raises(UnavailableError):
            stranger.current_revision()


def test_a_user_stays_logged_in_when_the_token_expires(tmp_path: Path, prefix: str) -> None:
    with EtcdServer(tmp_path, "--auth-token-ttl=1") as server:
        with contextlib.closing(Client([server.endpoint], Credentials())) as raw:
            auth = raw.endpoint.auth
            auth.UserAdd(etcdrpc.AuthUserAddRequest(name="root", password="secret"), 5)
            auth.RoleAdd(etcdrpc.AuthRoleAddRequest(name="root"), 5)
            auth.UserGrantRole(etcdrpc.AuthUserGrantRoleRequest(user="root", role="root"), 5)
            auth.AuthEnable(etcdrpc.AuthEnableRequest(), 5)
        user = {"username": "root", "password": "secret"}
        with pytest.raises(UnavailableError, match="authentication failed"):
            open_storage(server.url, {**user, "password": "wrong"})
        with contextlib.closing(open_storage(server.url, {})) as stranger, pytest.raises(UnavailableError):
            stranger.current_revision()
        with contextlib.closing(open_storage(server.url, user)) as storage:
            reader = WatchReader(storage.watch(prefix, storage.current_revision()))
            revisions = [storage.create(prefix + "a", b"")]
            time.sleep(2.5)
            revisions.append(storage.create(prefix + "b", b""))
            assert [event.revision for event in reader.wait_for_events(2)] == revisions
            reader.stop()
