"""``apiserver serve`` and gunicorn on its own, with a toy application in the place of ours."""

from __future__ import annotations

import os
import re
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from cryptography.hazmat.primitives import serialization

from apiserver import flags
from apiserver.serving import certs, preparation
from apiserver.settings import CORE
from tests.serving.running import ROOT

SERVE = """
import sys
from apiserver import flags
from apiserver.serving import launcher
from apiserver.settings import CORE
config, problems = flags.resolve(CORE, sys.argv[1:], {})
sys.exit(launcher.serve(config, "tests.serving.apps:staged"))
"""
Launch = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def launch(tmp_path: Path) -> Iterator[Launch]:
    """Start a command in a folder of its own; it is killed at the end."""
    started = []

    def begin(*command: str, **environment: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT), "NOTES": str(tmp_path / "notes"), **environment},
        )  # fmt: skip
        started.append(process)
        return process

    yield begin
    for process in started:
        if process.poll() is None:
            process.send_signal(signal.SIGQUIT)
        process.communicate(timeout=20)


def first_line(process: subprocess.Popen[str]) -> tuple[str, Path]:
    """The URL and the kubeconfig that the line for people names."""
    assert process.stdout is not None
    line = process.stdout.readline()
    found = re.fullmatch(r"Serving the Kubernetes API on (https://\S+), .* export KUBECONFIG=(\S+)\n", line)
    assert found, (line, process.stderr and process.stderr.read())
    return found[1], Path(found[2])


def get(kubeconfig: Path, path: str) -> str:
    command = [str(Path(sys.executable).parent / "kubectl"), "--kubeconfig", str(kubeconfig), "get", "--raw", path]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=30).stdout


def serve(launch: Launch, *words: str) -> subprocess.Popen[str]:
    return launch(sys.executable, "-c", SERVE, "--secure-port=0", *words)


def test_serve_prints_one_line_and_kubectl_finds_the_server(launch: Launch, tmp_path: Path) -> None:
    process = serve(launch, "--data-dir=data")
    url, kubeconfig = first_line(process)
    assert kubeconfig == tmp_path / "data" / "admin.kubeconfig"
    assert stat.S_IMODE(kubeconfig.stat().st_mode) == 0o600
    assert yaml.safe_load(kubeconfig.read_text())["clusters"][0]["cluster"]["server"] == url
    assert '"PATH_INFO": "/echo"' in get(kubeconfig, "/echo")
    notes = (tmp_path / "notes").read_text().splitlines()
    assert (notes[0], notes[-2:]) == ("not ready", ["ready for True", "request /echo"])
    process.send_signal(signal.SIGTERM)
    rest, errors = process.communicate(timeout=20)
    assert (process.returncode, rest, errors) == (0, "", "")


def test_a_second_start_keeps_the_certificates(launch: Launch, tmp_path: Path) -> None:
    found = []
    for _ in range(2):
        process = serve(launch, "--data-dir=data")
        first_line(process)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
        found.append({path.name: path.read_bytes() for path in (tmp_path / "data" / "pki").iterdir()})
    assert found[0] == found[1]


def test_a_port_that_is_taken_is_said_at_once(launch: Launch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        process = launch(sys.executable, "-c", SERVE, f"--secure-port={port}")
        out, errors = process.communicate(timeout=20)
    assert (process.returncode, out) == (1, "")
    said = f"cannot listen on 127.0.0.1:{port}: Address already in use; --secure-port=0 takes any free port"
    assert errors == f"apiserver: {said}\n"


def test_a_data_folder_that_cannot_be_made_is_said(launch: Launch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    process = serve(launch, "--data-dir=file/data")
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 1
    assert errors.startswith("apiserver: ")
    assert errors.count("\n") == 1


def test_own_certificates_are_served_and_renewed_ones_after_a_reload(launch: Launch, tmp_path: Path) -> None:
    process = serve(launch, "--data-dir=data")
    _, kubeconfig = first_line(process)
    certificate = tmp_path / "data" / "pki" / "apiserver.crt"
    before = certificate.read_bytes()
    certificate.unlink()
    process.send_signal(signal.SIGHUP)
    deadline = time.monotonic() + 10
    while not certificate.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert certificate.read_bytes() != before
    assert "PATH_INFO" in get(kubeconfig, "/echo")


def test_gunicorn_on_its_own_serves_the_same(launch: Launch, tmp_path: Path) -> None:
    process = launch(
        sys.executable, "-m", "gunicorn", "-c", "python:apiserver.serving.gunicorn_conf", "tests.serving.apps:staged",
        APISERVER_SECURE_PORT="0", APISERVER_DATA_DIR=str(tmp_path / "data"),
    )  # fmt: skip
    url, kubeconfig = first_line(process)
    assert not url.endswith(":0")
    assert '"PATH_INFO": "/echo"' in get(kubeconfig, "/echo")


def test_the_certificate_names_all_ways_to_the_server() -> None:
    config, problems = flags.resolve(
        CORE,
        [
            "--bind-address=127.0.0.9",
            "--advertise-address=10.1.2.3",
            "--service-cluster-ip-range=10.96.0.0/16,fd00::/108",
        ],
        {},
    )
    assert not problems
    names = preparation.server_names(config)
    assert {"localhost", "127.0.0.1", "::1", "kubernetes", "kubernetes.default", "kubernetes.default.svc"} <= set(names)
    assert {"kubernetes.default.svc.cluster.local", "127.0.0.9", "10.1.2.3", "10.96.0.1", "fd00::1"} <= set(names)
    assert socket.gethostname() in names


@pytest.mark.parametrize(
    ("bind", "url"),
    [
        ("127.0.0.1", "https://127.0.0.1:1"),
        ("0.0.0.0", "https://127.0.0.1:1"),
        ("::", "https://[::1]:1"),
        ("fd00::7", "https://[fd00::7]:1"),
    ],
)
def test_the_url_is_one_that_this_machine_can_use(bind: str, url: str) -> None:
    assert preparation.url(flags.resolve(CORE, [f"--bind-address={bind}"], {})[0], 1) == url


def test_the_operators_client_authorities_are_beside_ours(tmp_path: Path) -> None:
    given = certs.ensure(tmp_path / "given", []).ca.certificate
    words = [f"--data-dir={tmp_path}/data", f"--client-ca-file={given}"]
    prepared = preparation.prepare(flags.resolve(CORE, words, {})[0])
    ours = (tmp_path / "data" / "pki" / "ca.crt").read_text()
    assert prepared.client_authorities.read_text() == f"{ours}\n{given.read_text()}"


@pytest.mark.parametrize("name", ["garbage", "another's key", "a password", "no file", "no authority"])
def test_certificates_that_cannot_be_used_are_said_at_once(launch: Launch, tmp_path: Path, name: str) -> None:
    one, other = (certs.ensure(tmp_path / folder, []) for folder in ("one", "other"))
    certificate, key = one.serving.certificate, one.serving.key
    garbage = tmp_path / "garbage"
    garbage.write_text("garbage\n")
    if name == "garbage":
        certificate = key = garbage
    elif name == "another's key":
        key = other.serving.key
    elif name == "a password":
        loaded = serialization.load_pem_private_key(key.read_bytes(), None)
        secret = serialization.BestAvailableEncryption(b"secret")
        pem = serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL
        key.write_bytes(loaded.private_bytes(*pem, secret))
    elif name == "no file":
        certificate = tmp_path / "none"
    words = [f"--tls-cert-file={certificate}", f"--tls-private-key-file={key}"]
    if name == "no authority":
        words = [f"--client-ca-file={garbage}"]
    _, errors = serve(launch, "--data-dir=data", *words).communicate(timeout=20)
    assert errors.startswith("apiserver: ")
    assert str(garbage if name in ("garbage", "no authority") else certificate) in errors
    assert errors.count("\n") == 1


def test_a_reload_with_certificates_that_cannot_be_used_does_not_end_the_server(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    given = certs.ensure(tmp_path / "given", []).serving
    words = [
        f"--data-dir={tmp_path}/data",
        f"--tls-cert-file={given.certificate}",
        f"--tls-private-key-file={given.key}",
    ]
    prepared = preparation.prepare(flags.resolve(CORE, words, {})[0])
    given.key.write_text("garbage")
    preparation.renew(prepared, [])
    assert "Certificates were not renewed" in caplog.text
