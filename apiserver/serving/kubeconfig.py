"""The administrator's kubeconfig: everything a client needs, in one file. Written when the port is known."""

from __future__ import annotations

import base64
from pathlib import Path

import yaml

from apiserver.api.files import write_atomic
from apiserver.serving.certs import ADMIN_NAME, Pair

CLUSTER = "apiserver"


def _data(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()


def write(path: Path, url: str, authority: Path, client: Pair) -> None:
    """Write a kubeconfig with embedded certificates, readable by its owner only.

    :param url: of the server, such as ``https://127.0.0.1:6443``.
    :param authority: PEM file with the certificates that the server's is verified with.
    :param client: the client's certificate and key.
    :raises OSError: a file cannot be read or written.
    """
    context = f"{ADMIN_NAME}@{CLUSTER}"
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "preferences": {},
        "clusters": [{"name": CLUSTER, "cluster": {"server": url, "certificate-authority-data": _data(authority)}}],
        "users": [
            {
                "name": ADMIN_NAME,
                "user": {
                    "client-certificate-data": _data(client.certificate),
                    "client-key-data": _data(client.key),
                },
            }
        ],
        "contexts": [{"name": context, "context": {"cluster": CLUSTER, "user": ADMIN_NAME}}],
        "current-context": context,
    }
    write_atomic(path, yaml.safe_dump(config, sort_keys=False).encode())
